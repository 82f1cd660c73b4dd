import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import { dropOldAttempts, ensureAttemptDays } from './attempt-days.ts'
import { firstEventId } from './event-time.ts'

const DAY_MS = 86_400_000
/** How long a delivery may wait, and how long events are kept. */
export const KEPT_MS = 30 * DAY_MS
/** How far the time in an event's id may be ahead of that at which it was queued. */
const AHEAD_MS = 3_600_000
/** How many rows a statement changes. It finds them, locks them and takes them by their place: whatever the planner thinks. */
const AT_ONCE = 1000
/** How long a run goes on while there is more: what falls due for users waits for it. */
const RUN_MS = 2000

/** What a run removed. */
export type CleanedUp = { died: number; deliveries: number; events: number; days: number }

/**
 * Gives up what could not be delivered for 30 days, removes what belongs to deleted endpoints, events that are past
 * keeping, and the log of tries of past days. Bounded: a run does a thousand of each for every partner and deleted
 * endpoint, and more of them while `withinMs` is not over; what is left is for the next.
 */
export const cleanUpWebhooks = async (
  database: Database,
  now: Instant,
  withinMs = RUN_MS,
): Promise<CleanedUp> => {
  const endsAt = performance.now() + withinMs
  await ensureAttemptDays(database, now)
  const cleaned = { died: 0, deliveries: 0, events: 0, days: 0 }
  for (const endpoint of await findLeftovers(database))
    cleaned.deliveries += await whileFull(endsAt, () => removeAll(database, endpoint))
  const partners = await database.query<{ partner_id: string }>(sql`select partner_id from partners`)
  for (const { partner_id } of partners) {
    cleaned.died += await whileFull(endsAt, () => buryOld(database, partner_id, now))
    await whileFull(endsAt, () => freeHeads(database, partner_id))
    cleaned.events += await whileFull(endsAt, () => removeEvents(database, partner_id, now))
  }
  cleaned.days = await dropOldAttempts(database, now)
  return cleaned
}

/** Takes a step, and more of them while each finds as much as it may and there is time; gives how much they did. */
const whileFull = async (endsAt: number, step: () => Promise<number>): Promise<number> => {
  let total = 0
  for (;;) {
    const count = await step()
    total += count
    if (count < AT_ONCE || performance.now() >= endsAt) return total
  }
}

type Named = { partner_id: string; endpoint_id: string }

/** Deleted endpoints of which something is left. */
const findLeftovers = (db: Executor): Promise<Named[]> =>
  db.query<Named>(sql`
    select partner_id, endpoint_id from webhook_endpoints w
    where deleted_at is not null and (
      exists (select from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and not d.parked)
      or exists (select from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and d.parked)
      or exists (select from dead_deliveries d where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id))`)

/**
 * What waits for 30 days becomes dead and stays listed, whatever it waits for. Found by the ids of the events, which
 * are made of time: when a row is due says nothing of how long it has waited.
 */
const buryOld = async (db: Executor, partnerId: string, now: Instant): Promise<number> => {
  const rows = await db.query(sql`
    with ended as (
      delete from deliveries where ctid = any (array(
      select d.ctid from deliveries d
      join webhook_endpoints w on w.partner_id = d.partner_id and w.endpoint_id = d.endpoint_id
        and w.deleted_at is null
      where d.partner_id = ${partnerId} and d.event_id < ${firstEventId(now - KEPT_MS + AHEAD_MS)}::uuid
        and d.queued_at < ${timestamp(now - KEPT_MS)}
      limit ${AT_ONCE} for update of d skip locked))
      returning partner_id, event_id, endpoint_id, attempts
    )
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, endpoint_id, attempts, 'age', ${timestamp(now)} from ended
    on conflict (partner_id, event_id, endpoint_id) do update
      set attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at
    returning 1`)
  return rows.length
}

/**
 * Frees parked deliveries that nothing stands before any more: those behind what was just given up, by this run or by
 * one that ended between the two. Nothing else leaves any, so none is parked for longer than from one run to the next.
 */
const freeHeads = async (db: Executor, partnerId: string): Promise<number> => {
  const rows = await db.query(sql`
    update deliveries set parked = false where ctid = any (array(
      select d.ctid from deliveries d
      cross join lateral (
        select first.event_id from deliveries first
        where first.partner_id = d.partner_id and first.endpoint_id = d.endpoint_id and first.service_id = d.service_id
          and first.ordered
        order by first.sequence_number limit 1
      ) first
      where d.partner_id = ${partnerId} and d.parked and first.event_id = d.event_id
      limit ${AT_ONCE} for update of d skip locked))
    returning 1`)
  return rows.length
}

const removeAll = async (
  db: Executor,
  { partner_id: partnerId, endpoint_id: endpointId }: Named,
): Promise<number> => {
  const waiting = await db.query(sql`
    delete from deliveries where ctid = any (array(
      select ctid from deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} and not parked limit ${AT_ONCE} for update skip locked
    ) || array(
      select ctid from deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} and parked limit ${AT_ONCE} for update skip locked))
    returning 1`)
  const dead = await db.query(sql`
    delete from dead_deliveries where ctid = any (array(
      select ctid from dead_deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} limit ${AT_ONCE} for update skip locked))
    returning 1`)
  return waiting.length + dead.length
}

/** Events that nothing waits for any more; their ids are in the order of time. */
const removeEvents = async (db: Executor, partnerId: string, now: Instant): Promise<number> => {
  const rows = await db.query(sql`
    delete from events where ctid = any (array(
      select e.ctid from events e
      where e.partner_id = ${partnerId} and e.event_id < ${firstEventId(now - KEPT_MS)}::uuid
        and not exists (select from deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id)
        and not exists (select from dead_deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id)
      order by e.event_id limit ${AT_ONCE} for update of e skip locked))
    returning 1`)
  return rows.length
}
