/** Sends past events again: chooses them, counts them for a dry run, and queues their deliveries. */
import { type Instant, MINUTE_MS } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment, sql, timestamp } from '../../db/sql.ts'
import { firstUuidAt } from '../../vault/uuid.ts'

/** The events to send to an endpoint again. */
export type Selection =
  /** Events of the types that the endpoint subscribes to, raised in this time. */
  | { readonly kind: 'range'; readonly from: Instant; readonly to: Instant }
  | { readonly kind: 'status'; readonly status: 'dead' | 'waiting' }
  | { readonly kind: 'ids'; readonly ids: readonly string[] }

/**
 * How many events were queued, and where a range continues when they were not all. A request for a status is simply
 * repeated.
 */
export type ReplayOutcome = {
  readonly count: number
  /** How many events were found, those among them that are due already and stay as they are. */
  readonly known: number
  readonly continueFrom: Instant | null
  readonly isComplete: boolean
}

/** The most events that one request queues. */
const MOST_REPLAYED = 10_000

/** How far the time in an event's id may be from its creation. */
const SPREAD_MS = MINUTE_MS

type Target = { readonly partnerId: string; readonly endpointId: string }

/**
 * Queues past events for an endpoint again, with their keys and bytes unchanged, the oldest first. Deliveries that wait
 * for a later attempt become due at once. With `dryRun`, only counts.
 */
export async function replayTo(
  tx: Executor,
  target: Target,
  input: { selection: Selection; now: Instant; dryRun: boolean },
): Promise<ReplayOutcome> {
  const chosen = await choose(tx, target, input)
  const taken = chosen.slice(0, MOST_REPLAYED).map(row => ({ ...target, eventId: row.event_id }))
  const count = await (input.dryRun ? countAgain : queueAgain)(tx, taken, input.now)
  const next = chosen[MOST_REPLAYED]
  const continueFrom = input.selection.kind === 'range' ? (next?.created_at ?? null) : null
  return { count, known: taken.length, isComplete: !next, continueFrom }
}

type Chosen = { event_id: string; created_at: Instant }

function choose(
  tx: Executor,
  { partnerId, endpointId }: Target,
  { selection, now }: { selection: Selection; now: Instant },
): Promise<Chosen[]> {
  if (selection.kind === 'range') {
    return tx.query<Chosen>(sql`
      select e.event_id, e.created_at from events e
      join webhook_endpoints w on w.partner_id = e.partner_id and w.endpoint_id = ${endpointId}
      where e.partner_id = ${partnerId} and e.event_id >= ${firstUuidAt(selection.from - SPREAD_MS)}::uuid
        and e.event_id < ${firstUuidAt(selection.to + SPREAD_MS)}::uuid
        and e.created_at >= ${timestamp(selection.from)}
        and e.created_at < ${timestamp(selection.to)} and e.eventname <> 'webhook_test'
        and (w.all_events or e.eventname = any(w.events))
        and e.data ->> 'webhookid' is distinct from w.endpoint_id::text
      order by e.created_at, e.event_id limit ${MOST_REPLAYED + 1}`)
  }
  if (selection.kind === 'ids') {
    return tx.query<Chosen>(sql`
      select event_id, created_at from events
      where partner_id = ${partnerId} and event_id = any(${selection.ids}::uuid[])
      order by created_at, event_id`)
  }
  if (selection.status === 'dead') {
    // The rows are chosen before the join, so that the join looks up events by the deliveries' key, as in `claimDue`.
    return tx.query<Chosen>(sql`
      select d.event_id, e.created_at
      from (
        select partner_id, event_id from dead_deliveries
        where partner_id = ${partnerId} and endpoint_id = ${endpointId}
        order by event_id limit ${MOST_REPLAYED + 1}
      ) d
      join events e on e.partner_id = d.partner_id and e.event_id = d.event_id
      order by d.event_id`)
  }
  // Skips deliveries that are due already, also those that are being attempted or stand behind another: a continued replay
  // would select them again and never advance.
  return tx.query<Chosen>(sql`
    select d.event_id, e.created_at
    from (
      (select d.partner_id, d.event_id, d.due_at from deliveries d
      where d.partner_id = ${partnerId} and d.endpoint_id = ${endpointId} and d.work = 'retry' and d.held_from is null
        and d.due_at > ${timestamp(now)}
      order by d.due_at, d.event_id limit ${MOST_REPLAYED + 1})
      union all
      (select d.partner_id, d.event_id, d.due_at from deliveries d
      where d.partner_id = ${partnerId} and d.endpoint_id = ${endpointId} and d.work = 'replay' and d.held_from is null
        and d.due_at > ${timestamp(now)}
      order by d.due_at, d.event_id limit ${MOST_REPLAYED + 1})
    ) d
    join events e on e.partner_id = d.partner_id and e.event_id = d.event_id
    order by d.due_at, d.event_id limit ${MOST_REPLAYED + 1}`)
}

type Wanted = { readonly partnerId: string; readonly endpointId: string; readonly eventId: string }

/** How many of these deliveries, all of one partner, `queueAgain` would queue. */
async function countAgain(tx: Executor, rows: readonly Wanted[], now: Instant): Promise<number> {
  const partnerId = rows[0]?.partnerId
  const [found] = await tx.query<{ count: number }>(sql`
    select count(*) as count
    from unnest(${rows.map(row => row.eventId)}::uuid[], ${rows.map(row => row.endpointId)}::uuid[])
      as wanted (event_id, endpoint_id)
    join webhook_endpoints w on w.partner_id = ${partnerId} and w.endpoint_id = wanted.endpoint_id
      and w.deleted_at is null
    left join deliveries d on d.partner_id = ${partnerId} and d.event_id = wanted.event_id
      and d.endpoint_id = wanted.endpoint_id
    where d.event_id is null or d.due_at > ${timestamp(now)} and d.held_from is null`)
  return found?.count ?? 0
}

/**
 * Queues deliveries again, and makes those due that wait for a later attempt; they start again with no attempt spent.
 * Returns how many. Deliveries that are due already stay as they are.
 */
export async function queueAgain(tx: Executor, rows: readonly Wanted[], now: Instant): Promise<number> {
  if (rows.length === 0) return 0
  const partnerIds = rows.map(row => row.partnerId)
  const wanted = fragment`unnest(${partnerIds}::uuid[], ${rows.map(row => row.eventId)}::uuid[],
      ${rows.map(row => row.endpointId)}::uuid[]) as wanted (partner_id, event_id, endpoint_id)`
  // Two statements, as Citus would take the rows of one with a `with` to the coordinator and then ask every node.
  await tx.query(sql`
    delete from dead_deliveries d using ${wanted}
    where d.partner_id = wanted.partner_id and d.event_id = wanted.event_id and d.endpoint_id = wanted.endpoint_id`)
  const queued = await tx.query(sql`
    insert into deliveries as d (partner_id, event_id, endpoint_id, service_id, position, work, due_at, queued_at,
      ordered)
    select e.partner_id, e.event_id, w.endpoint_id, e.service_id, e.position, 'replay', ${timestamp(now)}::timestamptz,
      ${timestamp(now)}::timestamptz, w.ordering = 'user'
    from ${wanted}
    join events e on e.partner_id = wanted.partner_id and e.event_id = wanted.event_id
    join webhook_endpoints w on w.partner_id = wanted.partner_id and w.endpoint_id = wanted.endpoint_id
      and w.deleted_at is null
    order by e.partner_id, e.event_id, w.endpoint_id
    on conflict (partner_id, event_id, endpoint_id) do update
      set due_at = excluded.due_at, work = 'replay', attempts = 0
      where d.due_at > excluded.due_at and d.held_from is null
    returning 1`)
  return queued.length
}

/**
 * The endpoints that subscribe to an event, or to which it was sent or queued; a notice is not for the endpoint that it is about. A test event concerns only the endpoint for which it was
 * raised, whatever others subscribe to.
 */
export function endpointsFor(
  tx: Executor,
  partnerId: string,
  eventId: string,
): Promise<{ endpoint_id: string }[]> {
  return tx.query<{ endpoint_id: string }>(sql`
    select w.endpoint_id from events e
    join webhook_endpoints w on w.partner_id = e.partner_id and w.deleted_at is null
    where e.partner_id = ${partnerId} and e.event_id = ${eventId}
      and (e.eventname <> 'webhook_test' and (w.all_events or e.eventname = any(w.events))
          and e.data ->> 'webhookid' is distinct from w.endpoint_id::text
        or exists (select from dead_deliveries d where d.partner_id = e.partner_id
          and d.event_id = e.event_id and d.endpoint_id = w.endpoint_id)
        or exists (select from deliveries d where d.partner_id = e.partner_id
          and d.event_id = e.event_id and d.endpoint_id = w.endpoint_id)
        or exists (select from delivery_attempts a where a.partner_id = e.partner_id
          and a.event_id = e.event_id and a.endpoint_id = w.endpoint_id))`)
}
