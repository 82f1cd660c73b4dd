/** Reads deliveries: those of one event, and lists of them for the operator. */
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, fragment, nothing, type Query, sql, timestamp } from '../../db/sql.ts'

/**
 * Where one user's events are to arrive in order, makes those due that stood behind deliveries that have just `ended`, a part of the
 * statement before. One that a process is attempting stays its own: it was sent before an earlier event was replayed.
 */
export function letFollow(): Fragment {
  return fragment`
    update deliveries d set due_at = d.held_from, held_from = null, is_behind = false
    from ended
    cross join lateral (
      select n.event_id from deliveries n
      where n.partner_id = ended.partner_id and n.endpoint_id = ended.endpoint_id
        and n.service_id = ended.service_id and n.position > ended.position and n.ordered
      order by n.position limit 1
    ) next
    where ended.ordered and d.is_behind and d.partner_id = ended.partner_id and d.event_id = next.event_id
      and d.endpoint_id = ended.endpoint_id`
}

/** One delivery as an operator sees it. */
export type ListedDelivery = {
  endpoint_id: string
  event_id: string
  /** Of its event: empty, and no time, if that has been removed from the log. */
  eventname: string
  userid: string
  service_id: string
  created_at: Instant
  status: 'waiting' | 'dead' | 'delivered'
  attempts: number
  /** When its next attempt is due, when it was given up, or when it arrived. */
  at: Instant
}

/**
 * Why an attempt is due: the first attempt of an event, a later one, or one that a partner or operator asked to
 * repeat.
 */
export type QueueKind = (typeof QUEUE_KINDS)[number]

/** The queues of what waits at an endpoint. */
export const QUEUE_KINDS = ['fresh', 'retry', 'replay'] as const

/** Which deliveries are wanted; `events` are those of one user or the one that was asked for. */
type DeliveryInput = {
  readonly partnerId: string
  readonly status?: ListedDelivery['status'] | undefined
  readonly endpointId?: string | undefined
  readonly events?: readonly string[] | undefined
  /** Of what waits, only what is in these queues. */
  readonly queues?: readonly QueueKind[]
  /** Of what waits or was given up: the order turned round, and only what comes after this row. */
  readonly isDown?: boolean
  readonly after?: { readonly at: Instant; readonly id: string } | undefined
  readonly limit: number
}

/**
 * Lists a partner's deliveries: those that wait (the next due first), then those that were given up (oldest event
 * first), then those that arrived (newest event first).
 */
export async function listDeliveries(db: Executor, input: DeliveryInput): Promise<ListedDelivery[]> {
  const { partnerId, limit } = input
  const statuses = input.status === undefined ? (['waiting', 'dead', 'delivered'] as const) : [input.status]
  const found: FoundDelivery[] = []
  for (const status of statuses) {
    const missing = limit - found.length
    if (missing === 0) break
    const rows = await db.query<Omit<FoundDelivery, 'status'>>(reads[status]({ ...input, limit: missing }))
    found.push(...rows.map(row => ({ ...row, status })))
  }
  type Named = Pick<ListedDelivery, 'event_id' | 'eventname' | 'userid' | 'service_id' | 'created_at'>
  const events = await db.query<Named>(sql`
    select event_id, eventname, userid, service_id, created_at from events
    where partner_id = ${partnerId} and event_id = any(${found.map(row => row.event_id)}::uuid[])`)
  const known = new Map(events.map(event => [event.event_id, event]))
  // Attempts are kept for 30 days from their own time, so those to deliver an event can outlive it.
  return found.map(row => {
    const { eventname = '', userid = '', service_id = '', created_at = 0 } = known.get(row.event_id) ?? {}
    return { ...row, eventname, userid, service_id, created_at }
  })
}

/** A delivery of one event that has not succeeded. */
export type OpenDelivery = {
  endpoint_id: string
  status: 'waiting' | 'dead'
  attempts: number
  due_at: Instant | null
}

/** The deliveries of an event that still wait or were given up. */
export function findOpenDeliveries(
  db: Executor,
  partnerId: string,
  eventId: string,
): Promise<OpenDelivery[]> {
  return db.query<OpenDelivery>(sql`
    select open.* from (
      select endpoint_id, 'waiting' as status, attempts, due_at from deliveries
      where partner_id = ${partnerId} and event_id = ${eventId}
      union all
      select endpoint_id, 'dead', attempts, null from dead_deliveries
      where partner_id = ${partnerId} and event_id = ${eventId}
    ) open
    join webhook_endpoints w on w.partner_id = ${partnerId} and w.endpoint_id = open.endpoint_id
    where w.deleted_at is null
    order by open.endpoint_id`)
}

type FoundDelivery = Omit<ListedDelivery, 'eventname' | 'userid' | 'service_id' | 'created_at'>

const reads: Readonly<Record<ListedDelivery['status'], (input: DeliveryInput) => Query>> = {
  waiting: input => (input.events === undefined ? allWaiting(input) : waitingOfEvents(input)),
  dead: ({ partnerId, limit, isDown = false, after, ...chosen }) => sql`
    select d.endpoint_id, d.event_id, d.attempts, d.died_at as at
    from dead_deliveries d
    join webhook_endpoints w using (partner_id, endpoint_id)
    where d.partner_id = ${partnerId} and w.deleted_at is null ${only(chosen)}
      ${after ? fragment`and d.event_id ${beyond(isDown)} ${after.id}::uuid` : nothing}
    order by d.event_id ${orderOf(isDown)} limit ${limit}`,
  delivered: ({ partnerId, limit, ...chosen }) => sql`
    select d.endpoint_id, d.event_id, d.attempt as attempts, d.started_at as at
    from delivery_attempts d
    where d.partner_id = ${partnerId} and d.status between 200 and 299 ${only(chosen)}
    order by d.event_id desc, d.started_at desc, d.attempt_id desc limit ${limit}`,
}

// Reads the head of each endpoint's queues by index, because a partner may have a million waiting deliveries.
function allWaiting(input: DeliveryInput): Query {
  const { partnerId, endpointId, limit, queues, isDown = false, after } = input
  const order = orderOf(isDown)
  const position = after
    ? fragment`and (due_at, event_id) ${beyond(isDown)} (${timestamp(after.at)}::timestamptz, ${after.id}::uuid)`
    : nothing
  return sql`
      select d.endpoint_id, d.event_id, d.attempts, d.due_at as at
      from webhook_endpoints w
      cross join lateral (
        select head.* from unnest(${queues ?? QUEUE_KINDS}::text[]) as queue (work)
        cross join lateral (
          select endpoint_id, event_id, attempts, due_at from deliveries
          where partner_id = ${partnerId} and endpoint_id = w.endpoint_id and work = queue.work ${position}
          order by due_at ${order}, event_id ${order} limit ${limit}) head
      ) d
      where w.partner_id = ${partnerId} and w.deleted_at is null
        ${endpointId === undefined ? nothing : fragment`and w.endpoint_id = ${endpointId}`}
      order by d.due_at ${order}, d.event_id ${order} limit ${limit}`
}

function orderOf(isDown: boolean): Fragment {
  return isDown ? fragment`desc` : fragment`asc`
}

function beyond(isDown: boolean): Fragment {
  return isDown ? fragment`<` : fragment`>`
}

// Uses the primary key, which begins with partner and event.
function waitingOfEvents({ partnerId, limit, ...chosen }: DeliveryInput): Query {
  return sql`
    select d.endpoint_id, d.event_id, d.attempts, d.due_at as at
    from deliveries d
    join webhook_endpoints w using (partner_id, endpoint_id)
    where d.partner_id = ${partnerId} and w.deleted_at is null ${only(chosen)}
    order by d.due_at, d.event_id limit ${limit}`
}

/** Conditions on the endpoint and on the events, where they are given. */
function only({ endpointId, events }: Pick<DeliveryInput, 'endpointId' | 'events'>): Fragment {
  const ofEndpoint = endpointId === undefined ? nothing : fragment`and d.endpoint_id = ${endpointId}`
  return events === undefined ? ofEndpoint : fragment`${ofEndpoint} and d.event_id = any(${events}::uuid[])`
}
