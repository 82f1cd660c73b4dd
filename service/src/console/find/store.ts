import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { namingPartners, part, sql, timestamp } from '../../db/sql.ts'

/** A user that was found, and what to show of them first. */
export type Found = {
  readonly partnerId: string
  readonly serviceId: string
  readonly by: 'serviceid' | 'userid' | 'event' | 'request' | 'reference' | 'email or phone'
  readonly eventId?: string
  /** The request that was refused, if it was found by that. */
  readonly refusedRequestId?: string
}

type Row = { partner_id: string; service_id: string }

/** The users of these partners with a serviceid, an event or a request of this id. */
export async function findById(db: Executor, partners: readonly string[], id: string): Promise<Found[]> {
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
async function findRequest(db: Executor, partners: readonly string[], id: string): Promise<Found[]> {
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
): Promise<Found[]> {
  const users = await db.query<Row>(sql`
    select partner_id, service_id from users
    where partner_id = any(${partners}::uuid[]) and userid = any(${names}::text[]) and is_current and status <> 'erased'`)
  if (users.length > 0) return users.map(row => foundOf(row, 'userid'))
  const references = await db.query<Row>(sql`
    select distinct partner_id, service_id from confirmations
    where partner_id = any(${partners}::uuid[]) and reference = any(${names.map(name => name.toUpperCase())}::text[])`)
  return references.map(row => foundOf(row, 'reference'))
}

/** The users of these partners with an email or a phone of these hashes. */
export async function findByHash(
  db: Executor,
  hashes: readonly { partnerId: string; hash: Buffer }[],
): Promise<Found[]> {
  const partnerIds = hashes.map(({ partnerId }) => partnerId)
  const naming = namingPartners(db.layout.isSpread, partnerIds)
  const rows = await db.query<Row>(sql`
    select distinct s.partner_id, s.service_id
    from unnest(${partnerIds}::uuid[], ${hashes.map(({ hash }) => hash)}::bytea[])
      as wanted (partner_id, hash)
    join search_hashes s on s.partner_id = wanted.partner_id and s.hash = wanted.hash
      ${naming(part`s.partner_id`)}
    limit ${MOST_FOUND}`)
  return rows.map(row => foundOf(row, 'email or phone'))
}

function foundOf(row: Row, by: Found['by']): Found {
  return { partnerId: row.partner_id, serviceId: row.service_id, by }
}

/** How many processes of the service say that they live, and since when this copy is quiet. */
export type RunningInstallation = { processes: number; quiet_since: Instant | null }

/** Asks the database whether anything runs. */
export async function readInstallation(db: Executor): Promise<RunningInstallation> {
  // By the database's clock, which set `until`.
  const [row] = await db.query<RunningInstallation>(sql`
    select (select count(*) from dispatchers where until > clock_timestamp())::integer as processes, quiet_since
    from installation`)
  return row ?? { processes: 0, quiet_since: null }
}
