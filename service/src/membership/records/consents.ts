import type { Locale } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import { bytes, texts, timestamps } from '../../db/binary-array.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { seal, unseal } from '../../vault/seal.ts'
import type { Consent, ConsentChannel, User } from '../rules/state.ts'
import { openDataKey } from './documents.ts'
import { ids, type UserIds } from './user-ids.ts'

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

/** Writes consents. */
export function saveConsents(entries: readonly ConsentWrite[]): Query {
  const { partners, services } = ids(entries.map(entry => entry.user))
  return sql`
    insert into consents (partner_id, service_id, name, version, text_hash, locale, agreed_at, channel, recorded_by,
      sealed_evidence)
    select * from unnest(${partners}::uuid[], ${services}::uuid[], ${texts(entries.map(entry => entry.consent.name))}::text[],
      ${texts(entries.map(entry => entry.consent.version))}::text[], ${bytes(entries.map(entry => entry.textHash ?? null))}::bytea[],
      ${texts(entries.map(entry => entry.consent.locale))}::text[],
      ${timestamps(entries.map(entry => entry.consent.agreedAt))}::timestamptz[],
      ${texts(entries.map(entry => entry.channel))}::text[], ${texts(entries.map(entry => entry.recordedBy ?? null))}::text[],
      ${bytes(entries.map(entry => entry.sealedEvidence ?? null))}::bytea[])
    on conflict (partner_id, service_id, name, version) do update
      set locale = excluded.locale, agreed_at = excluded.agreed_at, text_hash = excluded.text_hash,
        channel = excluded.channel, recorded_by = excluded.recorded_by, sealed_evidence = excluded.sealed_evidence`
}

/** A consent and how it was given, opened. */
export type ConsentRecord = {
  readonly name: string
  readonly version: string
  readonly agreedAt: Instant
  readonly locale: Locale
  readonly channel: ConsentChannel
  readonly recordedBy: string | undefined
  readonly evidence: string | undefined
}

type ConsentRow = {
  name: string
  version: string
  agreed_at: Instant
  locale: Locale
  channel: ConsentChannel
  recorded_by: string | null
  sealed_evidence: Buffer | null
  wrapped_key: Buffer
}

/** A user's consents and how they were given, opened, oldest first. */
export async function readConsentRecords(
  db: Executor,
  { partner, user }: { readonly partner: Partner; readonly user: UserIds },
): Promise<readonly ConsentRecord[]> {
  const rows = await db.query<ConsentRow>(sql`
    select c.name, c.version, c.agreed_at, c.locale, c.channel, c.recorded_by, c.sealed_evidence, k.wrapped_key
    from consents c join data_keys k using (partner_id, service_id)
    where c.partner_id = ${user.partnerId} and c.service_id = ${user.serviceId}
    order by c.agreed_at, c.name, c.version`)
  return rows.map(row => ({
    name: row.name,
    version: row.version,
    agreedAt: row.agreed_at,
    locale: row.locale,
    channel: row.channel,
    recordedBy: row.recorded_by ?? undefined,
    evidence:
      row.sealed_evidence === null
        ? undefined
        : openEvidence(openDataKey(partner, user.serviceId, row.wrapped_key), row.sealed_evidence, user),
  }))
}
