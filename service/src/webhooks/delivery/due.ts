import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import type { QueueKind } from '../log/deliveries.ts'

/** How many deliveries to read from one queue of one endpoint. */
export type Ask = {
  readonly partnerId: string
  readonly endpointId: string
  readonly queue: QueueKind
  readonly quota: number
}

/** A delivery that is due, with the event it carries. */
export type DueRow = {
  event_id: string
  attempts: number
  due_at: Instant
  /** Null, like the time of its creation, when the event has left the log. */
  body: Buffer | null
  created_at: Instant | null
  /** The trace of the request that raised the event, if its caller named one. */
  traceparent: string | null
  /** The version of the endpoint when it was read. */
  version: number
  /** The endpoint asks for order, and an earlier event of the same user is still to be delivered there. */
  behind: boolean
}

/**
 * Reads the oldest due deliveries for all asks in one statement, and returns them by ask. The statement walks the index
 * from the head of each queue and stops at the quota, so its cost grows with the number of asks and not with the
 * backlog. A disabled endpoint has none. Events are joined by the delivery's own columns: if they were joined by the
 * partner of the ask, PostgreSQL would read all events of that partner for each delivery while the table has no
 * statistics. A delivery without an event, as a replay leaves when the clean-up removes the event meanwhile, is
 * returned, too, so that it is removed: as one of the oldest it would count against the quota of each later read.
 */
export async function readDue(
  db: Pick<Database, 'query'>,
  asks: readonly Ask[],
  now: Instant,
): Promise<DueRow[][]> {
  const partnerIds = asks.map(ask => ask.partnerId)
  // A row names its ask by number, because two ids in each row would take longer to send and to parse.
  const rows = await db.query<DueRow & { number: number }>(sql`
    select ask.number, due.event_id, due.attempts, due.due_at, e.body, e.created_at,
      e.data ->> 'traceparent' as traceparent, w.version,
      due.ordered and exists (
        select from deliveries earlier
        where earlier.partner_id = ask.partner_id
          and earlier.endpoint_id = ask.endpoint_id and earlier.service_id = due.service_id
          and earlier.position < due.position and earlier.ordered
      ) as behind
    from unnest(${partnerIds}::uuid[], ${asks.map(ask => ask.endpointId)}::uuid[],
      ${asks.map(ask => ask.queue)}::text[], ${asks.map(ask => ask.quota)}::integer[])
      with ordinality as ask (partner_id, endpoint_id, work, quota, number)
    join webhook_endpoints w on w.partner_id = ask.partner_id
      and w.endpoint_id = ask.endpoint_id and w.deleted_at is null and w.disabled_at is null
    cross join lateral (
      select d.partner_id, d.event_id, d.service_id, d.position, d.attempts, d.due_at, d.ordered
      from deliveries d
      where d.partner_id = ask.partner_id
        and d.endpoint_id = ask.endpoint_id and d.work = ask.work
        and not d.parked and d.due_at <= ${timestamp(now)}
      order by d.due_at, d.event_id
      limit ask.quota
    ) due
    left join events e on e.partner_id = due.partner_id and e.event_id = due.event_id
    order by due.due_at, due.event_id`)
  const found: DueRow[][] = asks.map(() => [])
  for (const row of rows) found[row.number - 1]?.push(row)
  return found
}
