import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { KEPT_MS } from './clean-up.ts'
import { type Cursor, earlierOf, LOG_START, lastBelow, type Place } from './cursor.ts'
import { firstEventId, timeOfEventId } from './event-time.ts'
import { continueLog } from './log-continuity.ts'

/** An event as the log shows it. */
export type EventRow = {
  event_id: string
  eventname: string
  userid: string
  data: { name?: string }
  body: Buffer
  created_at: Instant
}

/** What of the log is wanted. */
export type LogQuery = {
  readonly partnerId: string
  readonly after: Cursor | undefined
  readonly userid: string | undefined
  readonly eventname: string | undefined
  readonly now: Instant
}

const PAGE = 100
/** How much of the log one statement looks through for events that fit the filter. */
const WINDOW = 5000
/** How long one request looks for them. */
const PATIENCE_MS = 1000
/** How long a read waits for writes that were under way when it began: as long as a statement may take. */
const SETTLING_MS = 5000
/** How far the clocks of two processes may be apart where time must stand for the order of the log. */
const CLOCKS_DIFFER_MS = 86_400_000

/**
 * One page of the log and where to go on. No event ever appears behind a cursor that was given out.
 *
 * An event stands at the id of the transaction that wrote it, plus an offset that rises when the database moves to
 * another server (`log-continuity.ts`), and the log is ordered by (position, event id). Let X be the position of the oldest
 * transaction that is still running just before a page is read (`log_horizon`). Every transaction below X has ended, and
 * what it committed is visible; whatever commits later stands at X or above. So a page that shows only what lies below X
 * is complete up to there for ever, and a cursor never points above X.
 *
 * What was answered before the read began must be in it (contract §2), although an older transaction may still run
 * and keep X down. So the read first waits until X has passed the partner's newest event; bounded, since a
 * transaction that hangs is no reason to answer nobody. Then the page ends earlier, and still has no gap.
 */
export const readLog = async (
  db: Database,
  query: LogQuery,
  settlingMs = SETTLING_MS,
): Promise<{ events: EventRow[]; next: Cursor }> => {
  await settle(db, query.partnerId, settlingMs)
  const endsAt = performance.now() + PATIENCE_MS
  let next = query.after ?? LOG_START
  let after = await placeOf(db, query)
  const events: EventRow[] = []
  for (;;) {
    const look = await readWindow(db, query, { after, page: PAGE - events.length })
    events.push(...look.events)
    // At the end the cursor stays where it is, so that a reader can tell that there is no more.
    if (events.length >= PAGE || look.windowEnd === undefined) return { events, next: look.last ?? next }
    after = look.windowEnd
    next = after
    if (performance.now() > endsAt) return { events, next }
  }
}

/**
 * Where a reader goes on: behind the last event that it was given. When that event is there no more, it was removed
 * after 30 days, or the database was put back to a state before it. Then positions may have been given anew, and the
 * place is before all that was raised since, by the time in its id and a day for clocks that differ: some of it may be
 * what the reader has seen.
 */
const placeOf = async (db: Executor, { partnerId, after, now }: LogQuery): Promise<Place> => {
  if (!after || after.position === LOG_START.position) return LOG_START
  const [known] = await db.query<PlaceRow>(sql`
    select log_position, event_id from events where partner_id = ${partnerId} and event_id = ${after.eventId}`)
  if (known) return placeAt(known)
  const since = firstEventId(Math.max(timeOfEventId(after.eventId) - CLOCKS_DIFFER_MS, now - KEPT_MS))
  // What this statement does not see yet stands at the horizon or above.
  const [first] = await db.query<{ position: number }>(sql`
    select least(log_horizon(), (
      select log_position from events where partner_id = ${partnerId} and event_id >= ${since}::uuid
      order by log_position, event_id limit 1)) as position`)
  if (!first) throw new Error('a query without a row')
  return earlierOf(after, lastBelow(first.position, LOG_START))
}

type PlaceRow = { log_position: number; event_id: string }

const placeAt = (row: PlaceRow): Place => ({ position: row.log_position, eventId: row.event_id })

/** Waits until every transaction older than the partner's newest event has ended. */
const settle = async (db: Database, partnerId: string, withinMs: number): Promise<void> => {
  const endsAt = performance.now() + withinMs
  let newest = await findNewest(db, partnerId)
  // The database was exchanged below a process that ran on.
  if (newest?.is_ahead && (await continueLog(db))) newest = await findNewest(db, partnerId)
  if (!newest) return
  for (let pause = 2; performance.now() < endsAt; pause = Math.min(pause * 2, 100)) {
    const [now] = await db.query<{ is_past: boolean }>(
      sql`select log_horizon() > ${newest.log_position} as is_past`,
    )
    if (now?.is_past) return
    await new Promise(resolve => setTimeout(resolve, pause))
  }
}

const findNewest = async (db: Executor, partnerId: string) => {
  const [newest] = await db.query<{ log_position: number; is_ahead: boolean }>(sql`
    select log_position, log_position >= log_limit() as is_ahead from events where partner_id = ${partnerId}
    order by log_position desc, event_id desc limit 1`)
  return newest
}

type Row = EventRow & PlaceRow

type Look = {
  events: EventRow[]
  /** Where the last of them stands. */
  last: Place | undefined
  /** Where the window ended; `undefined` when it reached the end of what can be shown. */
  windowEnd: Place | undefined
}

const readWindow = async (
  db: Executor,
  query: LogQuery,
  { after, page }: { after: Place; page: number },
): Promise<Look> => {
  const [bounds] = await db.query<{
    horizon: number
    log_position: number | null
    event_id: string | null
  }>(sql`
    select at.horizon, last.log_position, last.event_id
    from (select log_horizon() as horizon offset 0) as at
    left join lateral (
      select log_position, event_id from events
      where partner_id = ${query.partnerId}
        and (log_position, event_id) > (${after.position}::bigint, ${after.eventId}::uuid)
        and log_position < at.horizon
      order by log_position, event_id offset ${WINDOW - 1} limit 1
    ) last on true`)
  if (!bounds) throw new Error('a query without a row')
  const { horizon, log_position, event_id } = bounds
  const windowEnd =
    log_position === null || event_id === null ? undefined : placeAt({ log_position, event_id })
  const end = windowEnd ?? lastBelow(horizon, after)
  const rows = await db.query<Row>(sql`
    select log_position, event_id, eventname, userid, data, body, created_at from events
    where partner_id = ${query.partnerId}
      and (log_position, event_id) > (${after.position}::bigint, ${after.eventId}::uuid)
      and (log_position, event_id) <= (${end.position}::bigint, ${end.eventId}::uuid)
      and (${query.userid ?? null}::text is null or userid = ${query.userid ?? null})
      and (${query.eventname ?? null}::text is null or eventname = ${query.eventname ?? null})
    order by log_position, event_id limit ${page}`)
  const last = rows.at(-1)
  return { events: rows, last: last && placeAt(last), windowEnd }
}

/** One event, or `undefined` when the partner has none of this id. */
export const findEvent = async (
  db: Executor,
  partnerId: string,
  eventId: string,
): Promise<EventRow | undefined> => {
  const [row] = await db.query<EventRow>(sql`
    select event_id, eventname, userid, data, body, created_at from events
    where partner_id = ${partnerId} and event_id = ${eventId}`)
  return row
}

/** A delivery of one event that has not ended well. */
export type OpenDelivery = {
  endpoint_id: string
  status: 'waiting' | 'dead'
  attempts: number
  due_at: Instant | null
}

/** Where an event is still to be delivered, or was given up. */
export const findOpenDeliveries = (
  db: Executor,
  partnerId: string,
  eventId: string,
): Promise<OpenDelivery[]> =>
  db.query<OpenDelivery>(sql`
    select open.* from (
      select partner_id, endpoint_id, 'waiting' as status, attempts, due_at from deliveries
      where partner_id = ${partnerId} and event_id = ${eventId}
      union all
      select partner_id, endpoint_id, 'dead', attempts, null from dead_deliveries
      where partner_id = ${partnerId} and event_id = ${eventId}
    ) open
    join webhook_endpoints w using (partner_id, endpoint_id)
    where w.deleted_at is null
    order by open.endpoint_id`)

/** One try as the log keeps it. */
export type AttemptRow = {
  endpoint_id: string
  attempt: number
  started_at: Instant
  pair: 'current' | 'next'
  status: number | null
  error_class: string | null
  address: string | null
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  first_byte_ms: number | null
  total_ms: number
  answer: string | null
}

/** The tries of one event, oldest first. */
export const findAttempts = (db: Executor, partnerId: string, eventId: string): Promise<AttemptRow[]> =>
  db.query<AttemptRow>(sql`
    select endpoint_id, attempt, started_at, pair, status, error_class, address, dns_ms, connect_ms, tls_ms,
      first_byte_ms, total_ms, answer
    from delivery_attempts
    where partner_id = ${partnerId} and event_id = ${eventId}
    order by started_at, attempt_id limit 1000`)
