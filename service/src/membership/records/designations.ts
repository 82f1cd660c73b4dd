import { formatTimestamp } from '../../calendar/calendar.ts'
import { type Columns, column, listOf, namesOf, within } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { NamedBeneficiary } from '../rules/beneficiaries.ts'
import type { Designation } from '../rules/state.ts'
import { openDataKey, openJson, sealJson } from './documents.ts'
import { designations } from './tables.ts'
import { type UserIds, userKey } from './user-ids.ts'

/** The beneficiaries of a new version; the version itself is part of the user's state. */
export type NewDesignation = Pick<Designation, 'benefit' | 'version'> & {
  readonly beneficiaries: readonly NamedBeneficiary[]
}

/** A version with its beneficiaries. */
export type OpenDesignation = Designation & { readonly beneficiaries: readonly NamedBeneficiary[] }

/** A version of a person's beneficiaries, in the form in which it is stored. */
export type DesignationWrite = {
  readonly user: UserIds
  readonly designation: Designation
  readonly sealed: Buffer
}

/** Seals beneficiaries with the user's data key. */
export function sealDesignation(
  dataKey: Buffer,
  beneficiaries: readonly NamedBeneficiary[],
  user: UserIds,
): Buffer {
  return sealJson(dataKey, beneficiaries, 'beneficiary_designations', user)
}

/** Opens what `sealDesignation` sealed. Throws for another key or another user. */
export function openDesignation(dataKey: Buffer, sealed: Buffer, user: UserIds): readonly NamedBeneficiary[] {
  return openJson(dataKey, sealed, 'beneficiary_designations', user) as readonly NamedBeneficiary[]
}

const columns: Columns<DesignationWrite> = {
  ...within(userKey, ({ user }: DesignationWrite) => user),
  ...within(designations.columns, ({ designation }: DesignationWrite) => designation),
  sealed: column.bytes(row => row.sealed),
}

/** Stores new versions in the transaction of the change that brings them. */
export function insertDesignations(rows: readonly DesignationWrite[]): Query {
  return sql`
    insert into beneficiary_designations (${namesOf(columns)})
    select * from ${listOf(columns, rows)}`
}

type DesignationRow = Readonly<Record<string, unknown>> & {
  readonly sealed: Buffer
  readonly wrapped_key: Buffer
}

const selected = designations.select('d')

const MOST_VERSIONS = 200

/**
 * A user's present and earlier beneficiaries, opened: the newest 200 versions of all benefits together, or all of them,
 * by benefit and version.
 */
export async function readDesignations(
  db: Executor,
  of: { readonly partner: Partner; readonly user: UserIds },
  which: 'newest' | 'all' = 'newest',
): Promise<readonly OpenDesignation[]> {
  const { partner, user } = of
  const most = which === 'newest' ? MOST_VERSIONS : null
  const rows = await db.query<DesignationRow>(sql`
    select ${selected}, d.sealed, k.wrapped_key
    from beneficiary_designations d join data_keys k using (partner_id, service_id)
    where d.partner_id = ${user.partnerId} and d.service_id = ${user.serviceId}
    order by d.written_at desc, d.version desc limit ${most}::integer`)
  const [first] = rows
  if (!first) return []
  const key = openDataKey(partner, user.serviceId, first.wrapped_key)
  return rows
    .map(row => ({ ...designations.ofRow(row), beneficiaries: openDesignation(key, row.sealed, user) }))
    .sort((a, b) => (a.benefit === b.benefit ? a.version - b.version : a.benefit < b.benefit ? -1 : 1))
}

/** A version in the form of exports and of the records that are kept after an erasure. */
export function designationRecord({ benefit, version, who, writtenAt, beneficiaries }: OpenDesignation) {
  return { benefit, version, who, writtenat: formatTimestamp(writtenAt), beneficiaries }
}
