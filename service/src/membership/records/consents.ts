import { type Columns, column, listOf, namesOf, settingsOf, within } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { seal, unseal } from '../../vault/seal.ts'
import type { Consent, ConsentChannel, User } from '../rules/state.ts'
import { openDataKey } from './documents.ts'
import { consents } from './tables.ts'
import { type UserIds, userKey } from './user-ids.ts'

/** A consent in the form in which it is stored. */
export type ConsentWrite = {
  readonly user: User
  readonly consent: Consent
  readonly textHash: Buffer | undefined
  readonly channel: ConsentChannel
  /** The operator who put the consent on record. */
  readonly recordedBy: string | undefined
  readonly sealedEvidence: Buffer | undefined
}

/** Seals the evidence of a consent with the user's data key. */
export function sealEvidence(dataKey: Buffer, evidence: string, { partnerId, serviceId }: UserIds): Buffer {
  return seal(dataKey, evidence, { purpose: 'consents.evidence', partnerId, serviceId })
}

/** Opens what `sealEvidence` sealed. Throws for another key or another user. */
export function openEvidence(dataKey: Buffer, sealed: Buffer, { partnerId, serviceId }: UserIds): string {
  return unseal(dataKey, sealed, { purpose: 'consents.evidence', partnerId, serviceId }).toString('utf8')
}

const columns: Columns<ConsentWrite> = {
  ...within(userKey, ({ user }: ConsentWrite) => user),
  ...within(consents.columns, ({ consent }: ConsentWrite) => consent),
  channel: column.text(entry => entry.channel),
  text_hash: column.bytes(entry => entry.textHash),
  recorded_by: column.text(entry => entry.recordedBy),
  sealed_evidence: column.bytes(entry => entry.sealedEvidence),
}
const { partner_id: _, service_id: __, name: ___, version: ____, ...given } = columns

/** Writes consents. */
export function saveConsents(entries: readonly ConsentWrite[]): Query {
  return sql`
    insert into consents (${namesOf(columns)})
    select * from ${listOf(columns, entries)}
    on conflict (partner_id, service_id, name, version) do update set ${settingsOf(given, 'excluded')}`
}

/** A consent and how it was given, opened. */
export type ConsentRecord = Omit<Consent, 'channel'> & {
  readonly channel: ConsentChannel
  readonly recordedBy: string | undefined
  readonly evidence: string | undefined
}

type ConsentRow = Readonly<Record<string, unknown>> & {
  readonly channel: ConsentChannel
  readonly recorded_by: string | null
  readonly sealed_evidence: Buffer | null
  readonly wrapped_key: Buffer
}

const selected = consents.select('c')

/** A user's consents and how they were given, opened, oldest first. */
export async function readConsentRecords(
  db: Executor,
  { partner, user }: { readonly partner: Partner; readonly user: UserIds },
): Promise<readonly ConsentRecord[]> {
  const rows = await db.query<ConsentRow>(sql`
    select ${selected}, c.recorded_by, c.sealed_evidence, k.wrapped_key
    from consents c join data_keys k using (partner_id, service_id)
    where c.partner_id = ${user.partnerId} and c.service_id = ${user.serviceId}
    order by c.agreed_at, c.name, c.version`)
  return rows.map(row => ({
    ...consents.ofRow(row),
    channel: row.channel,
    recordedBy: row.recorded_by ?? undefined,
    evidence:
      row.sealed_evidence === null
        ? undefined
        : openEvidence(openDataKey(partner, user.serviceId, row.wrapped_key), row.sealed_evidence, user),
  }))
}
