import { type Instant, YEAR_MS } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment, nothing, type Query, sql, timestamp } from '../../db/sql.ts'
import type { DisabledReason } from '../../webhooks/endpoint/endpoint.ts'
import type { RowPosition } from '../position.ts'

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
  const oldestOf = (work: Work) => fragment`(
        select d.queued_at from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id
          and d.work = ${work} and not d.parked and d.due_at <= ${timestamp(now + YEAR_MS)}
        order by d.due_at limit 1)`
  return db.query<EndpointLine>(sql`
    select w.partner_id, w.endpoint_id, w.url, w.disabled_at, w.disabled_reason, h.failing_since, h.paused_until,
      (h.breaker -> 'open' ->> 'until')::double precision as held_until, w.created_at,
      (select count(*) from (
        select from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and not d.parked
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
          and d.work = 'retry' and not d.parked
        order by d.due_at limit 1) failed
      join delivery_attempts a on a.partner_id = w.partner_id
        and a.event_id = failed.event_id and a.endpoint_id = w.endpoint_id
      order by a.started_at desc limit 1) last on true
    where w.partner_id = any(${partners}::uuid[]) and w.deleted_at is null
      and (${endpointId}::uuid is null or w.endpoint_id = ${endpointId}::uuid)
    order by w.partner_id, w.endpoint_id limit 2000`)
}

/** The kinds of deliveries that wait. */
type Work = 'retry' | 'fresh' | 'replay'

/** A delivery that waits at an endpoint or was given up there. */
export type OpenLine = {
  event_id: string
  service_id: string
  eventname: string
  state: 'waiting' | 'given up'
  attempts: number
  created_at: Instant
  /** When its next attempt is due, or when it was given up. */
  at: Instant
}

/** Which deliveries to find: in the order of their next attempt, or those that were given up in the order of their events. */
type OpenQuery = {
  readonly partnerId: string
  readonly endpointId: string
  readonly state: OpenLine['state']
  /** Of what waits, only deliveries of these kinds. */
  readonly work?: readonly Work[]
  readonly isDown: boolean
  readonly after: RowPosition | undefined
  readonly limit: number
}

/** The position of a delivery in that order; events' ids grow with their time. */
export function positionOfLine({ state, at, created_at, event_id }: OpenLine): RowPosition {
  return { at: state === 'waiting' ? at : created_at, id: event_id }
}

/** The next deliveries that wait or were given up. */
export function findOpenLines(db: Executor, query: OpenQuery): Promise<OpenLine[]> {
  return db.query<OpenLine>(query.state === 'waiting' ? waitingLines(query) : givenUpLines(query))
}

function waitingLines(query: OpenQuery): Query {
  const { partnerId, endpointId, work = ['retry', 'fresh', 'replay'], isDown, after, limit } = query
  const order = isDown ? fragment`desc` : fragment`asc`
  const position =
    after &&
    (isDown
      ? fragment`and (d.due_at, d.event_id) < (${timestamp(after.at)}::timestamptz, ${after.id}::uuid)`
      : fragment`and (d.due_at, d.event_id) > (${timestamp(after.at)}::timestamptz, ${after.id}::uuid)`)
  // The index has the kind of work before the time, so each kind is searched for itself.
  return sql`
    select open.event_id, e.service_id, e.eventname, 'waiting' as state, open.attempts, e.created_at, open.due_at as at
    from (
      select d.event_id, d.attempts, d.due_at
      from unnest(${work}::text[]) as kind (work)
      cross join lateral (
        select d.event_id, d.attempts, d.due_at from deliveries d
        where d.partner_id = ${partnerId} and d.endpoint_id = ${endpointId} and d.work = kind.work and not d.parked
          ${position ?? nothing}
        order by d.due_at ${order}, d.event_id ${order} limit ${limit}) d
      order by d.due_at ${order}, d.event_id ${order} limit ${limit}) open
    join events e on e.partner_id = ${partnerId} and e.event_id = open.event_id
    order by open.due_at ${order}, open.event_id ${order}`
}

function givenUpLines({ partnerId, endpointId, isDown, after, limit }: OpenQuery): Query {
  const order = isDown ? fragment`desc` : fragment`asc`
  const position =
    after &&
    (isDown ? fragment`and d.event_id < ${after.id}::uuid` : fragment`and d.event_id > ${after.id}::uuid`)
  return sql`
    select open.event_id, e.service_id, e.eventname, 'given up' as state, open.attempts, e.created_at, open.died_at as at
    from (
      select d.event_id, d.attempts, d.died_at from dead_deliveries d
      where d.partner_id = ${partnerId} and d.endpoint_id = ${endpointId} ${position ?? nothing}
      order by d.event_id ${order} limit ${limit}) open
    join events e on e.partner_id = ${partnerId} and e.event_id = open.event_id
    order by open.event_id ${order}`
}
