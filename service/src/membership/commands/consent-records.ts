import type { Instant } from '../../calendar/calendar.ts'
import { bytes, texts, timestamps } from '../../db/binary-array.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { seal, unseal } from '../../vault/seal.ts'
import type { ConsentChannel, User } from '../rules/state.ts'
import type { ConsentWrite } from './batch-writes.ts'
import type { Change, Command, ExecutorContext } from './command.ts'
import { openDataKey } from './documents.ts'
import { dataKeyOf, type LoadedUser } from './loaded-user.ts'
import { ids } from './save-users.ts'

type Place = { readonly partnerId: string; readonly serviceId: string }

/** Seals the evidence of a consent with the user's data key. */
function sealEvidence(dataKey: Buffer, evidence: string, { partnerId, serviceId }: Place): Buffer {
  return seal(dataKey, evidence, { purpose: 'consents.evidence', partnerId, serviceId })
}

/** Opens what `sealEvidence` sealed. Throws for another key or another user. */
export function openEvidence(dataKey: Buffer, sealed: Buffer, { partnerId, serviceId }: Place): string {
  return unseal(dataKey, sealed, { purpose: 'consents.evidence', partnerId, serviceId }).toString('utf8')
}

/**
 * The consents of a change in the form in which they are stored. Throws when a consent that an operator puts on record
 * has no evidence, because it must not be stored without.
 */
export function freshConsents(
  mine: LoadedUser,
  before: User,
  by: {
    command: Pick<Command<unknown>, 'partner' | 'who' | 'actor'>
    change: Pick<Change, 'evidence'>
    hashOf: ExecutorContext['consentHash']
  },
): ConsentWrite[] {
  const { command, change, hashOf } = by
  const { user } = mine
  return user.consents
    .filter(consent => !before.consents.includes(consent))
    .map(consent => {
      const written = { user, consent, textHash: hashOf(consent) }
      if (consent.channel === undefined) {
        const channel = command.who === 'user' ? 'page' : 'partner'
        return { ...written, channel, recordedBy: undefined, sealedEvidence: undefined }
      }
      const key = dataKeyOf(mine, command.partner)
      if (!key || change.evidence === undefined) throw new Error('a consent without its evidence')
      return {
        ...written,
        channel: consent.channel,
        recordedBy: command.actor,
        sealedEvidence: sealEvidence(key, change.evidence, user),
      }
    })
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

/** The stored, sealed evidence of a user's consents; an erasure opens it with the key that it has. */
export async function readEvidence(
  db: Executor,
  { partnerId, serviceId }: Place,
): Promise<readonly { name: string; version: string; sealedEvidence: Buffer }[]> {
  const rows = await db.query<{ name: string; version: string; sealed_evidence: Buffer }>(sql`
    select name, version, sealed_evidence from consents
    where partner_id = ${partnerId} and service_id = ${serviceId} and sealed_evidence is not null`)
  return rows.map(row => ({ name: row.name, version: row.version, sealedEvidence: row.sealed_evidence }))
}

/** A consent and how it was given, opened. */
export type ConsentRecord = {
  readonly name: string
  readonly version: string
  readonly agreedAt: Instant
  readonly locale: 'en' | 'es'
  readonly channel: ConsentChannel
  readonly recordedBy: string | undefined
  readonly evidence: string | undefined
}

type ConsentRow = {
  name: string
  version: string
  agreed_at: Instant
  locale: 'en' | 'es'
  channel: ConsentChannel
  recorded_by: string | null
  sealed_evidence: Buffer | null
  wrapped_key: Buffer
}

/** A user's consents and how they were given, opened, oldest first. */
export async function readConsentRecords(
  db: Executor,
  { partner, user }: { readonly partner: Partner; readonly user: Pick<User, 'partnerId' | 'serviceId'> },
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
