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
 * (the last first).
 */
export const listDeliveries = async (
  db: Executor,
  wish: { partnerId: string; status?: 'waiting' | 'dead' | 'delivered'; limit: number },
): Promise<ListedDelivery[]> => {
  const statuses = wish.status === undefined ? (['waiting', 'dead', 'delivered'] as const) : [wish.status]
  const lists: ListedDelivery[][] = []
  for (const status of statuses) lists.push(await readers[status](db, wish.partnerId, wish.limit))
  return lists.flat().slice(0, wish.limit)
}

type List = (db: Executor, partnerId: string, limit: number) => Promise<ListedDelivery[]>

const readers: Record<ListedDelivery['status'], List> = {
  // By the heads of each endpoint's queues: a partner may have a million waiting.
  waiting: (db, partnerId, limit) =>
    db.query<ListedDelivery>(sql`
      select d.endpoint_id, d.event_id, e.eventname, 'waiting' as status, d.attempts, d.due_at as at
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
      join events e on e.partner_id = w.partner_id and e.event_id = d.event_id
      where w.partner_id = ${partnerId} and w.deleted_at is null
      order by d.due_at, d.event_id limit ${limit}`),
  dead: (db, partnerId, limit) =>
    db.query<ListedDelivery>(sql`
      select d.endpoint_id, d.event_id, e.eventname, 'dead' as status, d.attempts, d.died_at as at
      from dead_deliveries d
      join events e using (partner_id, event_id)
      join webhook_endpoints w on w.partner_id = d.partner_id and w.endpoint_id = d.endpoint_id and w.deleted_at is null
      where d.partner_id = ${partnerId}
      order by d.event_id limit ${limit}`),
  delivered: (db, partnerId, limit) =>
    db.query<ListedDelivery>(sql`
      select a.endpoint_id, a.event_id, coalesce(e.eventname, '') as eventname, 'delivered' as status,
        a.attempt as attempts, a.started_at as at
      from delivery_attempts a
      left join events e using (partner_id, event_id)
      where a.partner_id = ${partnerId} and a.status between 200 and 299
      order by a.attempt_id desc limit ${limit}`),
}
