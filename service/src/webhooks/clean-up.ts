import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import { dropOldAttempts, ensureAttemptDays } from './attempt-days.ts'
import { firstEventId } from './event-time.ts'

const DAY_MS = 86_400_000
/** How long a delivery may wait, and how long events are kept. */
export const KEPT_MS = 30 * DAY_MS
/** The longest that a retry waits: a row that waits for one is at least so much younger by its due time. */
const LONGEST_DELAY_MS = 2 * DAY_MS
const AT_ONCE = 1000

/** What a run removed. */
export type CleanedUp = { died: number; deliveries: number; events: number; days: number }

/**
 * Gives up what could not be delivered for 30 days, removes what belongs to deleted endpoints, events that are past
 * keeping, and the log of tries of past days. Bounded: a run does a thousand of each for every partner and endpoint;
 * what is left is for the next.
 */
export const cleanUpWebhooks = async (database: Database, now: Instant): Promise<CleanedUp> => {
  await ensureAttemptDays(database, now)
  const endpoints = await database.query<{
    partner_id: string
    endpoint_id: string
    is_deleted: boolean
  }>(sql`
    select partner_id, endpoint_id, deleted_at is not null as is_deleted from webhook_endpoints`)
  const cleaned = { died: 0, deliveries: 0, events: 0, days: 0 }
  for (const { partner_id: partnerId, endpoint_id: endpointId, is_deleted } of endpoints) {
    if (is_deleted) cleaned.deliveries += await removeAll(database, { partnerId, endpointId })
    else cleaned.died += await buryOld(database, { partnerId, endpointId, now })
  }
  const partners = await database.query<{ partner_id: string }>(sql`select partner_id from partners`)
  for (const { partner_id } of partners) cleaned.events += await removeEvents(database, partner_id, now)
  cleaned.days = await dropOldAttempts(database, now)
  return cleaned
}

type Named = { partnerId: string; endpointId: string }

/** What waits for 30 days becomes dead and stays listed; the events behind it in order are freed. */
const buryOld = async (
  db: Executor,
  { partnerId, endpointId, now }: Named & { now: Instant },
): Promise<number> => {
  const queuedBefore = timestamp(now - KEPT_MS)
  const dueBefore = timestamp(now - KEPT_MS + LONGEST_DELAY_MS)
  const rows = await db.query(sql`
    with old as (
      select d.partner_id, d.event_id, d.endpoint_id
      from unnest(array['fresh', 'retry', 'replay']) as kind (work)
      cross join lateral (
        select partner_id, event_id, endpoint_id from deliveries d
        where partner_id = ${partnerId} and endpoint_id = ${endpointId} and d.work = kind.work and not parked
          and due_at < ${dueBefore} and queued_at < ${queuedBefore}
        order by due_at, event_id limit ${AT_ONCE}
      ) d
      union all
      (select partner_id, event_id, endpoint_id from deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} and ordered and parked
        and queued_at < ${queuedBefore}
      limit ${AT_ONCE})
    ),
    ended as (
      delete from deliveries d using old
      where d.partner_id = old.partner_id and d.event_id = old.event_id and d.endpoint_id = old.endpoint_id
      returning d.partner_id, d.event_id, d.endpoint_id, d.service_id, d.sequence_number, d.attempts,
        d.ordered
    ),
    unparked as (
      update deliveries d set parked = false
      from ended
      cross join lateral (
        select n.event_id from deliveries n
        where n.partner_id = ended.partner_id and n.endpoint_id = ended.endpoint_id
          and n.service_id = ended.service_id and n.sequence_number > ended.sequence_number and n.ordered and n.parked
        order by n.sequence_number limit 1
      ) next
      where ended.ordered and d.partner_id = ended.partner_id and d.event_id = next.event_id
        and d.endpoint_id = ended.endpoint_id
    )
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, endpoint_id, attempts, 'age', ${timestamp(now)} from ended
    on conflict (partner_id, event_id, endpoint_id) do update
      set attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at
    returning 1`)
  return rows.length
}

const removeAll = async (db: Executor, { partnerId, endpointId }: Named): Promise<number> => {
  const waiting = await db.query(sql`
    delete from deliveries where (partner_id, event_id, endpoint_id) in (
      select partner_id, event_id, endpoint_id from deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} limit ${AT_ONCE})
    returning 1`)
  const dead = await db.query(sql`
    delete from dead_deliveries where (partner_id, event_id, endpoint_id) in (
      select partner_id, event_id, endpoint_id from dead_deliveries
      where partner_id = ${partnerId} and endpoint_id = ${endpointId} limit ${AT_ONCE})
    returning 1`)
  return waiting.length + dead.length
}

/** Events that nothing waits for any more; their ids are in the order of time. */
const removeEvents = async (db: Executor, partnerId: string, now: Instant): Promise<number> => {
  const rows = await db.query(sql`
    delete from events where partner_id = ${partnerId} and event_id in (
      select e.event_id from events e
      where e.partner_id = ${partnerId} and e.event_id < ${firstEventId(now - KEPT_MS)}::uuid
        and not exists (select from deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id)
        and not exists (select from dead_deliveries d where d.partner_id = e.partner_id and d.event_id = e.event_id)
      order by e.event_id limit ${AT_ONCE})
    returning 1`)
  return rows.length
}
