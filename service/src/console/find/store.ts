import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment, sql, timestamp } from '../../db/sql.ts'
import type { SearchKind } from '../../membership/records/sealed.ts'

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
export async function findById(db: Executor, partners: readonly string[], id: string): Promise<FoundUser[]> {
  const users = await db.query<Row>(sql`
    select partner_id, service_id from users where partner_id = any(${partners}::uuid[]) and service_id = ${id}`)
  if (users.length > 0) return users.map(row => foundOf(row, 'serviceid'))
  const events = await db.query<Row>(sql`
    select partner_id, service_id from events where partner_id = any(${partners}::uuid[]) and event_id = ${id}`)
  if (events.length > 0) return events.map(row => ({ ...foundOf(row, 'event'), eventId: id }))
  return findRequest(db, partners, id)
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
  readonly status: string
  /** When the person was last on the page, or else when the user last changed. */
  readonly lastSeenAt: Instant
}

/** The same users with what tells them apart. */
export async function namedUsers(db: Executor, found: readonly FoundUser[]): Promise<NamedUser[]> {
  const partnerIds = [...new Set(found.map(one => one.partnerId))]
  const rows = await db.query<Row & { userid: string; status: string; seen_at: Instant }>(sql`
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
