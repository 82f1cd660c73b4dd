import { type Instant, YEAR_MS } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment, sql, timestamp } from '../../db/sql.ts'
import type { DisabledReason } from '../../webhooks/endpoint/endpoint.ts'
import type { QueueKind } from '../../webhooks/log/deliveries.ts'

/** An endpoint in the list, with its last answer if it fails. */
export type EndpointLine = {
  partner_id: string
  endpoint_id: string
  url: string
  disabled_at: Instant | null
  disabled_reason: DisabledReason | null
  failing_since: Instant | null
  paused_until: Instant | null
  /** After many failures: until then nothing is sent to it, and from then on one event at a time. */
  held_until: Instant | null
  /** When the certificate ends that it showed last; null: it has shown none. */
  certificate_ends_at: Instant | null
  created_at: Instant
  waiting: number
  dead: number
  oldest_due_at: Instant | null
  last_at: Instant | null
  last_status: number | null
  last_error: string | null
  /** The event that it said this to. */
  last_event: string | null
}

/** Waiting deliveries are counted up to this number. */
export const MOST_COUNTED = 1000

/** The endpoints of these partners, or one of them. The last answer is that to the oldest delivery that failed. */
export function findEndpointLines(
  db: Executor,
  partners: readonly string[],
  now: Instant,
  endpointId: string | null = null,
): Promise<EndpointLine[]> {
  const oldestOf = (queue: QueueKind) => fragment`(
        select d.queued_at from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id
          and d.work = ${queue} and d.due_at <= ${timestamp(now + YEAR_MS)}
        order by d.due_at limit 1)`
  return db.query<EndpointLine>(sql`
    select w.partner_id, w.endpoint_id, w.url, w.disabled_at, w.disabled_reason, h.failing_since, h.paused_until,
      (h.breaker -> 'open' ->> 'until')::double precision as held_until, h.certificate_ends_at, w.created_at,
      (select count(*) from (
        select from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id
        limit ${MOST_COUNTED}) counted) as waiting,
      (select count(*) from (
        select from dead_deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id
        limit ${MOST_COUNTED}) counted) as dead,
      least(${oldestOf('fresh')}, ${oldestOf('retry')}, ${oldestOf('replay')}) as oldest_due_at,
      last.started_at as last_at, last.status as last_status, last.error_class as last_error,
      last.event_id as last_event
    from webhook_endpoints w
    join endpoint_health h on h.partner_id = w.partner_id and h.endpoint_id = w.endpoint_id
    left join lateral (
      select a.started_at, a.status, a.error_class, a.event_id from (
        select d.event_id from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id
          and d.work = 'retry'
        order by d.due_at limit 1) failed
      join delivery_attempts a on a.partner_id = w.partner_id
        and a.event_id = failed.event_id and a.endpoint_id = w.endpoint_id
      order by a.started_at desc limit 1) last on true
    where w.partner_id = any(${partners}::uuid[]) and w.deleted_at is null
      and (${endpointId}::uuid is null or w.endpoint_id = ${endpointId}::uuid)
    order by w.partner_id, w.endpoint_id limit 2000`)
}

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
