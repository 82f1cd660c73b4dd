/** Lists deliveries for the operator. */
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** One delivery as an operator sees it. */
export type ListedDelivery = {
  endpoint_id: string
  event_id: string
  eventname: string
  /** Empty where the event has left the log. */
  userid: string
  status: 'waiting' | 'dead' | 'delivered'
  attempts: number
  /** When its next attempt is due, when it was given up, or when it arrived. */
  at: Instant
}

/** Which deliveries are wanted; `events` are those of one user or the one that was asked for. */
export type DeliveryInput = {
  readonly partnerId: string
  readonly status?: ListedDelivery['status']
  readonly endpointId?: string
  readonly events?: readonly string[]
  readonly limit: number
}

/**
 * Lists a partner's deliveries: those that wait (the next due first), then those that were given up (oldest event
 * first), then those that arrived (newest event first).
 */
export async function listDeliveries(db: Executor, input: DeliveryInput): Promise<ListedDelivery[]> {
  const { partnerId, limit } = input
  const statuses = input.status === undefined ? (['waiting', 'dead', 'delivered'] as const) : [input.status]
  const found: Found[] = []
  for (const status of statuses) {
    const missing = limit - found.length
    if (missing === 0) break
    const read = input.events === undefined ? reads[status] : readsOfEvents[status]
    const rows = await read(db, {
      ...{ partnerId, limit: missing, endpointId: input.endpointId ?? null, events: input.events ?? [] },
    })
    found.push(...rows.map(row => ({ ...row, status })))
  }
  const events = await db.query<{ event_id: string; eventname: string; userid: string }>(sql`
    select event_id, eventname, userid from events
    where partner_id = ${partnerId} and event_id = any(${found.map(row => row.event_id)}::uuid[])`)
  const known = new Map(events.map(event => [event.event_id, event]))
  // A late attempt is kept for longer than its event.
  return found.map(row => {
    const { eventname = '', userid = '' } = known.get(row.event_id) ?? {}
    return { ...row, eventname, userid }
  })
}

/** The events of a user that are still in the log, found by the user's history. */
export async function findEventsOfUser(db: Executor, partnerId: string, userid: string): Promise<string[]> {
  const rows = await db.query<{ event_id: string }>(sql`
    select e.event_id from users u
    join history h on h.partner_id = u.partner_id and h.service_id = u.service_id
    cross join lateral unnest(h.event_ids) as raised (event_id)
    join events e on e.partner_id = u.partner_id and e.event_id = raised.event_id
    where u.partner_id = ${partnerId} and u.userid = ${userid} and u.is_current`)
  return rows.map(row => row.event_id)
}

type Found = Omit<ListedDelivery, 'eventname' | 'userid'>

type Read = (
  db: Executor,
  input: { partnerId: string; limit: number; endpointId: string | null; events: readonly string[] },
) => Promise<Omit<Found, 'status'>[]>

const reads: Record<ListedDelivery['status'], Read> = {
  // Found through the heads of each endpoint's queues: a partner may have a million waiting deliveries.
  waiting: (db, { partnerId, limit, endpointId }) =>
    db.query(sql`
      select d.endpoint_id, d.event_id, d.attempts, d.due_at as at
      from webhook_endpoints w
      cross join lateral (
        (select endpoint_id, event_id, attempts, due_at from deliveries
        where partner_id = w.partner_id and endpoint_id = w.endpoint_id and work = 'fresh' and not parked
        order by due_at, event_id limit ${limit})
        union all
        (select endpoint_id, event_id, attempts, due_at from deliveries
        where partner_id = w.partner_id and endpoint_id = w.endpoint_id and work = 'retry' and not parked
        order by due_at, event_id limit ${limit})
        union all
        (select endpoint_id, event_id, attempts, due_at from deliveries
        where partner_id = w.partner_id and endpoint_id = w.endpoint_id and work = 'replay' and not parked
        order by due_at, event_id limit ${limit})
        union all
        (select endpoint_id, event_id, attempts, due_at from deliveries
        where partner_id = w.partner_id and endpoint_id = w.endpoint_id and ordered and parked
        limit ${limit})
      ) d
      where w.partner_id = ${partnerId} and w.deleted_at is null
        and (${endpointId}::uuid is null or w.endpoint_id = ${endpointId}::uuid)
      order by d.due_at, d.event_id limit ${limit}`),
  dead: (db, { partnerId, limit, endpointId }) =>
    db.query(sql`
      select d.endpoint_id, d.event_id, d.attempts, d.died_at as at
      from dead_deliveries d
      join webhook_endpoints w using (partner_id, endpoint_id)
      where d.partner_id = ${partnerId} and w.deleted_at is null
        and (${endpointId}::uuid is null or d.endpoint_id = ${endpointId}::uuid)
      order by d.event_id limit ${limit}`),
  delivered: (db, { partnerId, limit, endpointId }) =>
    db.query(sql`
      select endpoint_id, event_id, attempt as attempts, started_at as at
      from delivery_attempts
      where partner_id = ${partnerId} and status between 200 and 299
        and (${endpointId}::uuid is null or endpoint_id = ${endpointId}::uuid)
      order by event_id desc, started_at desc, attempt_id desc limit ${limit}`),
}

// For chosen events: found by the keys of the tables, which begin with partner and event.
const readsOfEvents: Record<ListedDelivery['status'], Read> = {
  waiting: (db, { partnerId, limit, endpointId, events }) =>
    db.query(sql`
      select d.endpoint_id, d.event_id, d.attempts, d.due_at as at
      from deliveries d
      join webhook_endpoints w using (partner_id, endpoint_id)
      where d.partner_id = ${partnerId} and d.event_id = any(${[...events]}::uuid[]) and w.deleted_at is null
        and (${endpointId}::uuid is null or d.endpoint_id = ${endpointId}::uuid)
      order by d.due_at, d.event_id limit ${limit}`),
  dead: (db, { partnerId, limit, endpointId, events }) =>
    db.query(sql`
      select d.endpoint_id, d.event_id, d.attempts, d.died_at as at
      from dead_deliveries d
      join webhook_endpoints w using (partner_id, endpoint_id)
      where d.partner_id = ${partnerId} and d.event_id = any(${[...events]}::uuid[]) and w.deleted_at is null
        and (${endpointId}::uuid is null or d.endpoint_id = ${endpointId}::uuid)
      order by d.event_id limit ${limit}`),
  delivered: (db, { partnerId, limit, endpointId, events }) =>
    db.query(sql`
      select endpoint_id, event_id, attempt as attempts, started_at as at
      from delivery_attempts
      where partner_id = ${partnerId} and event_id = any(${[...events]}::uuid[]) and status between 200 and 299
        and (${endpointId}::uuid is null or endpoint_id = ${endpointId}::uuid)
      order by event_id desc, started_at desc, attempt_id desc limit ${limit}`),
}
