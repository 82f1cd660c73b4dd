import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** One delivery for the operator's eyes. */
export type ListedDelivery = {
  endpoint_id: string
  event_id: string
  eventname: string
  status: 'waiting' | 'dead' | 'delivered'
  attempts: number
  /** When the next try is due, when it was given up, or when it arrived. */
  at: Instant
}

/**
 * Deliveries of a partner: those that wait (the next due first), that were given up (oldest event first), or that arrived
 * (newest event first).
 */
export const listDeliveries = async (
  db: Executor,
  wish: { partnerId: string; status?: ListedDelivery['status']; limit: number },
): Promise<ListedDelivery[]> => {
  const { partnerId, limit } = wish
  const statuses = wish.status === undefined ? (['waiting', 'dead', 'delivered'] as const) : [wish.status]
  const found: Found[] = []
  for (const status of statuses) {
    const missing = limit - found.length
    if (missing === 0) break
    const rows = await reads[status](db, { partnerId, limit: missing })
    found.push(...rows.map(row => ({ ...row, status })))
  }
  const events = await db.query<{ event_id: string; eventname: string }>(sql`
    select event_id, eventname from events
    where partner_id = ${partnerId} and event_id = any(${found.map(row => row.event_id)}::uuid[])`)
  const names = new Map(events.map(event => [event.event_id, event.eventname]))
  // A late try is kept for longer than its event.
  return found.map(row => ({ ...row, eventname: names.get(row.event_id) ?? '' }))
}

type Found = Omit<ListedDelivery, 'eventname'>

type Read = (db: Executor, wish: { partnerId: string; limit: number }) => Promise<Omit<Found, 'status'>[]>

const reads: Record<ListedDelivery['status'], Read> = {
  // By the heads of each endpoint's queues: a partner may have a million waiting.
  waiting: (db, { partnerId, limit }) =>
    db.query(sql`
      select d.endpoint_id, d.event_id, d.attempts, d.due_at as at
      from webhook_endpoints w
      cross join lateral (
        (select head.* from unnest(array['fresh', 'retry', 'replay']) as kind (work)
        cross join lateral (
          select endpoint_id, event_id, attempts, due_at from deliveries
          where partner_id = w.partner_id and endpoint_id = w.endpoint_id and work = kind.work and not parked
          order by due_at, event_id limit ${limit}) head)
        union all
        (select endpoint_id, event_id, attempts, due_at from deliveries
        where partner_id = w.partner_id and endpoint_id = w.endpoint_id and ordered and parked
        limit ${limit})
      ) d
      where w.partner_id = ${partnerId} and w.deleted_at is null
      order by d.due_at, d.event_id limit ${limit}`),
  dead: (db, { partnerId, limit }) =>
    db.query(sql`
      select d.endpoint_id, d.event_id, d.attempts, d.died_at as at
      from dead_deliveries d
      join webhook_endpoints w using (partner_id, endpoint_id)
      where d.partner_id = ${partnerId} and w.deleted_at is null
      order by d.event_id limit ${limit}`),
  delivered: (db, { partnerId, limit }) =>
    db.query(sql`
      select endpoint_id, event_id, attempt as attempts, started_at as at
      from delivery_attempts
      where partner_id = ${partnerId} and status between 200 and 299
      order by event_id desc, started_at desc, attempt_id desc limit ${limit}`),
}
