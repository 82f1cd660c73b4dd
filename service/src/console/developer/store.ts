import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** One attempt to deliver an event of a partner; it names no user. */
export type NewestAttempt = {
  event_id: string
  eventname: string
  attempt: number
  started_at: Instant
  status: number | null
  error_class: string | null
  total_ms: number
}

/** The newest events of a partner that are looked through for attempts. */
const EVENTS_LOOKED_THROUGH = 100
const MOST_ATTEMPTS = 50

/** The attempts at an endpoint to deliver the partner's newest events, the newest first. */
export function findNewestAttempts(
  db: Executor,
  { partnerId, endpointId }: { readonly partnerId: string; readonly endpointId: string },
): Promise<NewestAttempt[]> {
  return db.query<NewestAttempt>(sql`
    select newest.event_id, newest.eventname, a.attempt, a.started_at, a.status, a.error_class, a.total_ms
    from (
      select event_id, eventname from events
      where partner_id = ${partnerId} order by event_id desc limit ${EVENTS_LOOKED_THROUGH}) newest
    join delivery_attempts a on a.partner_id = ${partnerId} and a.event_id = newest.event_id
      and a.endpoint_id = ${endpointId}
    order by a.started_at desc, a.attempt_id desc limit ${MOST_ATTEMPTS}`)
}
