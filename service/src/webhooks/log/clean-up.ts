/** Removes what the webhooks no longer need, in bounded portions, so that nothing grows without limit. */
import { DAY_MS, HOUR_MS, type Instant } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import { openTasks } from '../../db/each-task.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { firstUuidAt } from '../../vault/uuid.ts'
import { dropOldAttempts, ensureAttemptDays } from './attempt-days.ts'
import { letFollow } from './deliveries.ts'

/** How long a delivery may wait, and how long events are kept. */
export const KEPT_MS = 30 * DAY_MS
/** How far the time in an event's id may be ahead of the time at which it was queued. */
const AHEAD_MS = HOUR_MS
/**
 * How many rows a statement changes. Statements find rows first and then change them by their `ctid`, so that no plan
 * can scan whole tables for the change.
 */
const AT_ONCE = 1000
/** How many erased users one statement handles; each may have raised many events. */
const ERASED_AT_ONCE = 100
/** How long a run may take, because the schedule applies no due changes meanwhile. */
const RUN_MS = 2000

/** How much a run removed. */
type CleanedUp = { died: number; deliveries: number; events: number; days: number }

/**
 * Gives up deliveries that have waited for 30 days, and removes the deliveries of deleted endpoints, old events, and
 * old days of the log of attempts. For each partner and each deleted endpoint, a run handles a thousand rows of a kind,
 * and more while `withinMs` lasts; the next run continues. What fails hinders nothing else; its failure is thrown at the
 * end.
 */
export async function cleanUpWebhooks(
  database: Database,
  now: Instant,
  withinMs = RUN_MS,
): Promise<CleanedUp> {
  const endsAt = performance.now() + withinMs
  const cleaned = { died: 0, deliveries: 0, events: 0, days: 0 }
  const tasks = openTasks()
  const drain = (work: () => Promise<number>) => tasks.run(() => whileFull(endsAt, work))
  await tasks.run(() => ensureAttemptDays(database, now))
  await tasks.run(async () => {
    for (const endpoint of await findLeftovers(database))
      cleaned.deliveries += await drain(() => removeAll(database, endpoint))
  })
  const partners = await database.query<{ partner_id: string }>(
    sql`select partner_id from partners where cell = ${database.cell}`,
  )
  for (const { partner_id } of partners) {
    cleaned.died += await drain(() => giveUpOld(database, partner_id, now))
    cleaned.events += await drain(() => removeEvents(database, partner_id, now))
    await drain(() => removeErased(database, partner_id, now))
  }
  cleaned.days = await tasks.run(() => dropOldAttempts(database, now))
  tasks.end()
  return cleaned
}

/** Repeats `work` while it changes as many rows as it may and time remains; returns how many rows it changed in all. */
async function whileFull(endsAt: number, work: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const count = await work()
    total += count
    if (count < AT_ONCE || performance.now() >= endsAt) return total
  }
}

type Named = { partner_id: string; endpoint_id: string }

/** Deleted endpoints that still have deliveries. */
function findLeftovers(db: Executor): Promise<Named[]> {
  return db.query<Named>(sql`
    select partner_id, endpoint_id from webhook_endpoints w
    where deleted_at is not null and (
      exists (select from deliveries d where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id)
      or exists (select from dead_deliveries d where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id))`)
}

/**
 * Makes deliveries dead that have waited for 30 days for whatever reason; they stay listed, and what stood behind them is due. They are found by their
 * events' ids, which contain the time, because `due_at` does not show how long a delivery has waited.
 */
async function giveUpOld(db: Executor, partnerId: string, now: Instant): Promise<number> {
  const rows = await db.query(sql`
    with ended as (
      delete from deliveries where partner_id = ${partnerId} and ctid = any (array(
      select d.ctid from deliveries d
      join webhook_endpoints w on w.partner_id = d.partner_id and w.endpoint_id = d.endpoint_id
        and w.deleted_at is null
      where d.partner_id = ${partnerId} and d.event_id < ${firstUuidAt(now - KEPT_MS + AHEAD_MS)}::uuid
        and d.queued_at < ${timestamp(now - KEPT_MS)}
      limit ${AT_ONCE} for update of d skip locked))
      returning partner_id, event_id, endpoint_id, attempts, service_id, position, ordered
    ), followed as (${letFollow()})
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, endpoint_id, attempts, 'age', ${timestamp(now)} from ended
    on conflict (partner_id, event_id, endpoint_id) do update
      set attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at
    returning 1`)
  return rows.length
}

async function removeAll(
  db: Executor,
  { partner_id: partnerId, endpoint_id: endpointId }: Named,
): Promise<number> {
  const waiting = await db.query(sql`
    delete from deliveries where partner_id = ${partnerId} and ctid = any (array(
      select ctid from deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} limit ${AT_ONCE} for update skip locked))
    returning 1`)
  const dead = await db.query(sql`
    delete from dead_deliveries where partner_id = ${partnerId} and ctid = any (array(
      select ctid from dead_deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} limit ${AT_ONCE} for update skip locked))
    returning 1`)
  return waiting.length + dead.length
}

/** Removes old events without deliveries; their ids are in the order of time. */
async function removeEvents(db: Executor, partnerId: string, now: Instant): Promise<number> {
  const rows = await db.query(sql`
    delete from events where partner_id = ${partnerId} and ctid = any (array(
      select e.ctid from events e
      where e.partner_id = ${partnerId} and e.event_id < ${firstUuidAt(now - KEPT_MS)}::uuid
        and not exists (select from deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id)
        and not exists (select from dead_deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id)
      order by e.event_id limit ${AT_ONCE} for update of e skip locked))
    returning 1`)
  return rows.length
}

/**
 * Removes the events of erased users from log and replay, with the records of their deliveries. It waits until none of
 * these events waits at an endpoint, and for a day after the erasure, so that a partner who reads the log instead of
 * hosting a webhook learns of the erasure. `history` names the events. Returns how many users were handled.
 */
async function removeErased(db: Executor, partnerId: string, now: Instant): Promise<number> {
  const rows = await db.query(sql`
    with erased as (
      select e.service_id from erasures e
      where e.partner_id = ${partnerId} and e.events_removed_at is null and e.erased_at <= ${timestamp(now - DAY_MS)}
        and not exists (
          select from history h cross join unnest(h.event_ids) as raised (event_id)
          join deliveries d on d.partner_id = ${partnerId} and d.event_id = raised.event_id
          where h.partner_id = ${partnerId} and h.service_id = e.service_id)
      order by e.service_id limit ${ERASED_AT_ONCE}
    ), raised as (
      select unnest(h.event_ids) as event_id from erased
      join history h on h.partner_id = ${partnerId} and h.service_id = erased.service_id
    ), attempts as (
      delete from delivery_attempts a using raised
      where a.partner_id = ${partnerId} and a.event_id = raised.event_id
    ), dead as (
      delete from dead_deliveries d using raised
      where d.partner_id = ${partnerId} and d.event_id = raised.event_id
    ), gone as (
      delete from events e using raised where e.partner_id = ${partnerId} and e.event_id = raised.event_id
    )
    update erasures e set events_removed_at = ${timestamp(now)} from erased
    where e.partner_id = ${partnerId} and e.service_id = erased.service_id
    returning 1`)
  return rows.length
}
