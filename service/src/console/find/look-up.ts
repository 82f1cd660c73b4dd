import type { Instant } from '../../calendar/calendar.ts'
import { inOneCell } from '../../db/by-cell.ts'
import type { Database, Executor } from '../../db/database.ts'
import { fragment, sql, timestamp } from '../../db/sql.ts'
import { erasedName } from '../../membership/reading/load.ts'
import {
  findRefusedCreatesAt,
  findRefusedRequest,
  type RefusedAt,
} from '../../membership/records/refused-creates.ts'
import { type SearchKind, searchHash } from '../../membership/records/sealed.ts'
import type { UserStatus } from '../../membership/rules/state.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'

/** What is looked for, and at which partners; by email and phone only if `seesPersons`. */
export type LookUp = {
  readonly database: Database
  readonly partner: (partnerId: string) => Promise<Partner | undefined>
  readonly partnerIds: readonly string[]
  readonly what: string
  readonly seesPersons: boolean
}

/** What a text leads to. */
export type LookedUp = {
  readonly found: readonly FoundUser[]
  /** If no user was found: the refused creates that named this userid, or the same userid as this request. */
  readonly refused: readonly RefusedAt[]
  /** By what the refused creates were found; absent if there are none. */
  readonly refusedBy?: 'userid' | 'request'
  /** Whether nobody who came after the refused request can be the one whom it named. */
  readonly isSure: boolean
}

/**
 * Looks for a userid, a serviceid, the id of an event or a request, a reference, an email or a phone, each of them exactly,
 * but for spaces around it, which only a userid may contain. A request that was refused leads to the user whom it named or, if
 * there is none, to what was refused.
 */
export async function lookUp(asked: LookUp): Promise<LookedUp> {
  const { database, partnerIds } = asked
  const what = asked.what.trim()
  const byId = isUuid(what) ? await findById(database, partnerIds, what.toLowerCase()) : []
  if (byId.length > 0) return users(byId)
  if (what === '' || what.length > MOST_CHARACTERS) return users([])
  // A UUID may still be a userid: a partner is free to name its users by UUIDs.
  const byText = await findByText(asked)
  if (byText.length > 0) return users(byText)
  const request = isUuid(what) ? await findRefusedRequest(asked, partnerIds, what.toLowerCase()) : undefined
  if (request?.serviceId !== undefined) {
    const { partnerId, serviceId } = request
    return users([{ partnerId, serviceId, by: 'request', refusedRequestId: what.toLowerCase() }])
  }
  if (request) return { found: [], refused: request.attempts, refusedBy: 'request', isSure: request.isSure }
  const refused = await findRefusedCreatesAt(database, await partnersOf(asked), what)
  if (refused.length === 0) return users(await findErased(asked))
  return { found: [], refused, refusedBy: 'userid', isSure: true }
}

/** No userid, reference or email is longer. */
const MOST_CHARACTERS = 400

function users(found: readonly FoundUser[]): LookedUp {
  return { found, refused: [], isSure: true }
}

/** By a userid or reference; for those who may see personal data also by email or phone. */
async function findByText(asked: LookUp): Promise<FoundUser[]> {
  const { database, partnerIds, seesPersons } = asked
  const what = asked.what.trim()
  const named = await findByName(database, partnerIds, [...new Set([asked.what, what])])
  const kind = /^\S+@\S+$/.test(what) ? 'email' : /^[-+().\s\d]{10,24}$/.test(what) ? 'phone' : undefined
  if (kind === undefined || !seesPersons) return named
  const reached = await findByHash(
    database,
    kind,
    (await partnersOf(asked)).map(partner => ({
      partnerId: partner.partnerId,
      hash: searchHash(partner, kind, what),
    })),
  )
  // One person's userid may look like the phone or the email of another: both are found, so that nobody is taken for the other.
  const known = new Set(named.map(one => one.serviceId))
  return [...named, ...reached.filter(one => !known.has(one.serviceId))].slice(0, MOST_FOUND)
}

/** Those who were erased under a userid, which is kept as a keyed hash alone. */
async function findErased(asked: LookUp): Promise<FoundUser[]> {
  const partners = await partnersOf(asked)
  const names = partners.map(partner => erasedName(partner, asked.what.trim()))
  return findErasedByName(asked.database, asked.partnerIds, names)
}

async function partnersOf({ partnerIds, partner }: LookUp): Promise<Partner[]> {
  const all = await Promise.all(partnerIds.map(id => partner(id)))
  return all.filter(one => one !== undefined)
}

/** A user that was found, and what to show of them first. */
export type FoundUser = {
  readonly partnerId: string
  readonly serviceId: string
  readonly by: 'serviceid' | 'userid' | 'event' | 'request' | 'reference' | 'email or phone'
  readonly eventId?: string
  /** The request that was refused, if it was found by that. */
  readonly refusedRequestId?: string
}

type Row = { partner_id: string; service_id: string }

/** The users of these partners with a serviceid, an event or a request of this id. */
async function findById(
  database: Database,
  partners: readonly string[],
  id: string,
): Promise<readonly FoundUser[]> {
  const found = await inOneCell<FoundUser>(database, partners, async cell => {
    const users = await cell.query<Row>(sql`
      select partner_id, service_id from users where partner_id = any(${partners}::uuid[]) and service_id = ${id}`)
    if (users.length > 0) return users.map(row => foundOf(row, 'serviceid'))
    const events = await cell.query<Row>(sql`
      select partner_id, service_id from events where partner_id = any(${partners}::uuid[]) and event_id = ${id}`)
    return events.map(row => ({ ...foundOf(row, 'event'), eventId: id }))
  })
  return found.length > 0 ? found : findRequest(database, partners, id)
}

/** At most this many users are found by one request. */
export const MOST_FOUND = 2000

/** A request's id contains the time of the request; its changes were recorded at about that time. */
async function findRequest(db: Executor, partners: readonly string[], id: string): Promise<FoundUser[]> {
  const at = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  if (id[14] !== '7' || at > LATEST_REQUEST) return []
  const from = timestamp(at - REQUEST_SPREAD_MS)
  const until = timestamp(at + REQUEST_SPREAD_MS)
  const changed = await db.query<Row>(sql`
    select distinct partner_id, service_id from history
    where recorded_at between ${from} and ${until} and request_id = ${id} and partner_id = any(${partners}::uuid[])
    limit ${MOST_FOUND}`)
  const seen = await db.query<Row>(sql`
    select distinct partner_id, service_id from audit_log
    where at between ${from} and ${until} and request_id = ${id} and service_id is not null
      and partner_id = any(${partners}::uuid[])
    limit ${MOST_FOUND}`)
  const found = new Map([...changed, ...seen].map(row => [row.service_id, foundOf(row, 'request')]))
  return [...found.values()].slice(0, MOST_FOUND)
}

/** An id can contain times that no timestamp is written for; the services' clocks stay long before. */
const LATEST_REQUEST = Date.UTC(9999)

/** Longer than a request may take, and than the clocks of two processes may differ. */
const REQUEST_SPREAD_MS = 120_000

/** The users of these partners with one of these userids, or with an agreement of such a reference. */
export async function findByName(
  db: Executor,
  partners: readonly string[],
  names: readonly string[],
): Promise<FoundUser[]> {
  const users = await db.query<Row>(sql`
    select partner_id, service_id from users
    where partner_id = any(${partners}::uuid[]) and userid = any(${names}::text[]) and is_current and status <> 'erased'`)
  if (users.length > 0) return users.map(row => foundOf(row, 'userid'))
  const references = await db.query<Row>(sql`
    select distinct partner_id, service_id from sealed_records
    where partner_id = any(${partners}::uuid[]) and kind = 'confirmation' and name = any(${names.map(name => name.toUpperCase())}::text[])`)
  return references.map(row => foundOf(row, 'reference'))
}

/** The erased users of these partners with one of these names, which are keyed hashes of their userids. */
export async function findErasedByName(
  db: Executor,
  partners: readonly string[],
  names: readonly string[],
): Promise<FoundUser[]> {
  const rows = await db.query<Row>(sql`
    select partner_id, service_id from users
    where partner_id = any(${partners}::uuid[]) and userid = any(${names}::text[]) and is_current
    union all
    select partner_id, service_id from users
    where partner_id = any(${partners}::uuid[]) and userid = any(${names}::text[]) and not is_current`)
  return rows.map(row => foundOf(row, 'userid'))
}

/** The users of these partners with an email or a phone of these hashes, of their account or prefilled. */
export async function findByHash(
  db: Executor,
  kind: SearchKind,
  hashes: readonly { partnerId: string; hash: Buffer }[],
): Promise<FoundUser[]> {
  const partnerIds = hashes.map(({ partnerId }) => partnerId)
  const column = kind === 'email' ? fragment`d.email_hash` : fragment`d.phone_hash`
  const rows = await db.query<Row>(sql`
    select distinct d.partner_id, d.service_id
    from unnest(${partnerIds}::uuid[], ${hashes.map(({ hash }) => hash)}::bytea[])
      as wanted (partner_id, hash)
    join sealed_records d on d.partner_id = wanted.partner_id and ${column} = wanted.hash
    limit ${MOST_FOUND}`)
  return rows.map(row => foundOf(row, 'email or phone'))
}

function foundOf(row: Row, by: FoundUser['by']): FoundUser {
  return { partnerId: row.partner_id, serviceId: row.service_id, by }
}

/** A found user as a list of several shows it. */
export type NamedUser = FoundUser & {
  readonly userid: string
  readonly status: UserStatus
  /** When the person was last on the page, or else when the user last changed. */
  readonly lastSeenAt: Instant
}

/** The same users with what tells them apart. */
export async function namedUsers(db: Executor, found: readonly FoundUser[]): Promise<NamedUser[]> {
  const partnerIds = [...new Set(found.map(one => one.partnerId))]
  const rows = await db.query<Row & { userid: string; status: UserStatus; seen_at: Instant }>(sql`
    select u.partner_id, u.service_id, u.userid, u.status, coalesce((
      select max(p.last_seen_at) from page_sessions p
      where p.partner_id = u.partner_id and p.userid = u.userid), u.updated_at) as seen_at
    from users u
    where u.partner_id = any(${partnerIds}::uuid[]) and u.service_id = any(${found.map(one => one.serviceId)}::uuid[])`)
  const byId = new Map(rows.map(row => [row.service_id, row]))
  return found.flatMap(one => {
    const row = byId.get(one.serviceId)
    return row ? [{ ...one, userid: row.userid, status: row.status, lastSeenAt: row.seen_at }] : []
  })
}
