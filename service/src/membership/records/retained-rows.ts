import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import { column } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { rowsInto } from '../../db/table.ts'
import type { Partner } from '../../partners/partner.ts'
import { newKey, seal, unseal, unwrapKey, wrapKey } from '../../vault/seal.ts'
import { userKey } from './sealed.ts'

/** The kinds of record that may outlive an erasure. */
export type RetainedKind = 'consents' | 'confirmations' | 'coverage' | 'beneficiaries'

/** One kind of record of one erased user, sealed under a key of its own. */
export type RetainedRow = {
  readonly partnerId: string
  readonly serviceId: string
  readonly kind: RetainedKind
  readonly wrappedKey: Buffer
  readonly sealed: Buffer
  readonly keepUntil: Instant
}

type RecordName = { readonly serviceId: string; readonly kind: RetainedKind }

/** Seals the records of one kind under a fresh key, which the partner's key wraps. */
export function sealRetained(
  partner: Partner,
  name: RecordName,
  content: unknown,
  keepUntil: Instant,
): RetainedRow {
  const key = newKey()
  const { partnerId } = partner
  return {
    partnerId,
    ...name,
    keepUntil,
    wrappedKey: wrapKey(partner.key, key, bindingOf(partnerId, name, 'key')),
    sealed: seal(key, JSON.stringify(content), bindingOf(partnerId, name, 'content')),
  }
}

/** Records that outlive an erasure. */
export const retainedRecords = rowsInto<RetainedRow, RetainedRow>(
  'retained_records',
  { ...userKey, kind: column.text(row => row.kind) },
  {
    wrapped_key: column.bytes(row => row.wrappedKey),
    sealed: column.bytes(row => row.sealed),
    keep_until: column.instant(row => row.keepUntil),
  },
)

/** The retained records of an erased user, as the operator reads them. */
export type Retained = {
  readonly kind: RetainedKind
  readonly keptuntil: string
  readonly records: readonly unknown[]
}

/** Opens the retained records of an erased user. Throws when a row was moved or altered. */
export async function openRetained(db: Executor, partner: Partner, serviceId: string): Promise<Retained[]> {
  const rows = await readRows(db, partner.partnerId, serviceId)
  return rows.map(row => {
    const name = { serviceId, kind: row.kind }
    const key = unwrapKey(
      id => (id === partner.key.id ? partner.key.key : undefined),
      row.wrapped_key,
      bindingOf(partner.partnerId, name, 'key'),
    )
    const content = unseal(key, row.sealed, bindingOf(partner.partnerId, name, 'content'))
    return { ...viewOf(row), records: JSON.parse(content.toString('utf8')) as unknown[] }
  })
}

/** Which kinds of record are retained of an erased user, and until when. */
export async function listRetained(
  db: Executor,
  partnerId: string,
  serviceId: string,
): Promise<Omit<Retained, 'records'>[]> {
  return (await readRows(db, partnerId, serviceId)).map(viewOf)
}

/** Deletes records whose time is over, with their keys; returns how many rows. */
export async function deleteLapsedRecords(
  db: Executor,
  partnerId: string,
  { now, atMost }: { now: Instant; atMost: number },
): Promise<number> {
  const rows = await db.query(sql`
    delete from retained_records r using (
      select service_id, kind from retained_records
      where partner_id = ${partnerId} and keep_until <= ${timestamp(now)} limit ${atMost}) as lapsed
    where r.partner_id = ${partnerId} and r.service_id = lapsed.service_id and r.kind = lapsed.kind
    returning 1`)
  return rows.length
}

type Row = { kind: RetainedKind; wrapped_key: Buffer; sealed: Buffer; keep_until: Instant }

function readRows(db: Executor, partnerId: string, serviceId: string): Promise<Row[]> {
  return db.query<Row>(sql`
    select kind, wrapped_key, sealed, keep_until from retained_records
    where partner_id = ${partnerId} and service_id = ${serviceId} order by kind`)
}

function viewOf(row: Row): Omit<Retained, 'records'> {
  return { kind: row.kind, keptuntil: formatTimestamp(row.keep_until) }
}

function bindingOf(partnerId: string, { serviceId, kind }: RecordName, part: 'key' | 'content') {
  return { purpose: `retained_records.${part} ${kind}`, partnerId, serviceId }
}
