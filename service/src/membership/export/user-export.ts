import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { findRefusedCreates } from '../commands/find-refused-creates.ts'
import type { Reader } from '../commands/reader.ts'
import { readConsentRecords } from '../records/consents.ts'
import { designationRecord, readDesignations } from '../records/designations.ts'
import { openDataKey, openJson } from '../records/documents.ts'
import type { User } from '../rules/state.ts'
import { viewTimeline, viewUser } from '../rules/view.ts'

/** Everything that is kept about one user, unsealed; parts that the user does not have are empty. */
export type UserExport = {
  readonly exportedat: string
  readonly partnerid: string
  readonly user: ReturnType<typeof viewUser>
  readonly timeline: ReturnType<typeof viewTimeline>
  /** Personal data: of the prefill, of the account, and of a draft. */
  readonly documents: Readonly<Record<string, unknown>>
  /** The consents, how each one reached us, and the evidence that an operator noted for it. */
  readonly consents: readonly unknown[]
  readonly confirmations: readonly unknown[]
  /** The beneficiaries, in all versions. */
  readonly beneficiaries: readonly unknown[]
  /** The events of the last 30 days, as the partner got them. */
  readonly events: readonly unknown[]
  /** Links, and visits to the page. */
  readonly visits: readonly unknown[]
  /** The newest creates that were refused under this userid. */
  readonly refusedcreates: readonly unknown[]
}

/** Gathers everything that is kept about a living user; `undefined` when the partner has no user with this userid. */
export async function exportUser(
  context: { readonly database: Database; readonly reader: Reader; readonly real: () => Instant },
  partner: Partner,
  userid: string,
): Promise<UserExport | undefined> {
  const { database, reader, real } = context
  const reading = await reader.read(partner, userid)
  if (!reading || reading.user.status === 'none' || reading.user.status === 'erased') return undefined
  const { user, terms } = reading
  return {
    exportedat: formatTimestamp(real()),
    partnerid: partner.partnerId,
    user: viewUser(user, terms, 'en'),
    timeline: viewTimeline(user, await reader.history(reading, 'all')),
    documents: Object.fromEntries(await reader.documents(partner, user)),
    consents: await consentsOf(database, partner, user),
    confirmations: await confirmationsOf(database, partner, user),
    beneficiaries: (await readDesignations(database, { partner, user }, 'all')).map(designationRecord),
    events: await eventsOf(database, user),
    visits: await visitsOf(database, user),
    refusedcreates: (await findRefusedCreates(database, partner, userid)).map(one => ({
      at: formatTimestamp(one.at),
      requestid: one.requestId,
      code: one.code,
      reasons: one.reasons,
    })),
  }
}

async function consentsOf(db: Executor, partner: Partner, user: User): Promise<unknown[]> {
  return (await readConsentRecords(db, { partner, user })).map(one => ({
    name: one.name,
    version: one.version,
    agreedat: formatTimestamp(one.agreedAt),
    locale: one.locale,
    channel: one.channel,
    evidence: one.evidence ?? null,
  }))
}

async function confirmationsOf(db: Executor, partner: Partner, user: User): Promise<unknown[]> {
  const { partnerId, serviceId } = user
  const rows = await db.query<{
    reference: string
    sealed: Buffer
    created_at: Instant
    wrapped_key: Buffer
  }>(sql`
    select c.reference, c.sealed, c.created_at, k.wrapped_key
    from confirmations c join data_keys k using (partner_id, service_id)
    where c.partner_id = ${partnerId} and c.service_id = ${serviceId} order by c.created_at, c.confirmation_id`)
  return rows.map(row => ({
    reference: row.reference,
    at: formatTimestamp(row.created_at),
    content: openJson(openDataKey(partner, serviceId, row.wrapped_key), row.sealed, 'confirmations', user),
  }))
}

async function eventsOf(db: Executor, { partnerId, serviceId }: User): Promise<unknown[]> {
  const rows = await db.query<{ event_id: string; body: Buffer; created_at: Instant }>(sql`
    select e.event_id, e.body, e.created_at
    from history h
    cross join lateral unnest(h.event_ids) as raised (event_id)
    join events e on e.partner_id = h.partner_id and e.event_id = raised.event_id
    where h.partner_id = ${partnerId} and h.service_id = ${serviceId} order by e.position`)
  return rows.map(row => ({
    eventid: row.event_id,
    at: formatTimestamp(row.created_at),
    body: JSON.parse(row.body.toString('utf8')) as unknown,
  }))
}

type VisitRow = {
  purpose: string
  delivery: string
  locale: string
  offername: string | null
  deeplinkdata: string | null
  redirecturl: string | null
  created_at: Instant
  spent_at: Instant | null
  last_seen_at: Instant | null
  last_view: string | null
  dead_link_at: Instant | null
  birthdate_tries: number
  birthdate_tried_at: Instant | null
  birthdate_again_tries: number
  outcome: string | null
  reference: string | null
  completed_at: Instant | null
}

async function visitsOf(db: Executor, { partnerId, userid }: User): Promise<unknown[]> {
  const rows = await db.query<VisitRow>(sql`
    select purpose, delivery, locale, offername, deeplinkdata, redirecturl, created_at, spent_at, last_seen_at, last_view,
      dead_link_at, birthdate_tries, birthdate_tried_at, birthdate_again_tries, outcome, reference, completed_at
    from page_sessions where partner_id = ${partnerId} and userid = ${userid} order by created_at`)
  const optional = (at: Instant | null) => (at === null ? null : formatTimestamp(at))
  return rows.map(row => ({
    purpose: row.purpose,
    delivery: row.delivery,
    locale: row.locale,
    offername: row.offername,
    deeplinkdata: row.deeplinkdata,
    redirecturl: row.redirecturl,
    outcome: row.outcome,
    reference: row.reference,
    createdat: formatTimestamp(row.created_at),
    openedat: optional(row.spent_at),
    lastseenat: optional(row.last_seen_at),
    lastview: row.last_view,
    deadlinkat: optional(row.dead_link_at),
    birthdatetries: row.birthdate_tries + row.birthdate_again_tries,
    birthdatetriedat: optional(row.birthdate_tried_at),
    completedat: optional(row.completed_at),
  }))
}
