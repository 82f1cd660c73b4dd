/**
 * The event log: everything that was raised for a partner, in one order that never changes. This folder reads the log
 * and the attempts to deliver its events, replays from it, and removes what is old.
 */
import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, fragment, sql } from '../../db/sql.ts'
import { firstUuidAt } from '../../vault/uuid.ts'
import { KEPT_MS } from './clean-up.ts'
import { type Cursor, LOG_START } from './cursor.ts'

/** The userid of the tests of endpoints, which are about nobody. */
export const TEST_USERID = 'webhook-test'
/** The userid of notices about endpoints, which are about nobody. */
export const NOTICE_USERID = 'webhook-notice'

/** An event as the log shows it. */
export type EventRow = {
  event_id: string
  eventname: string
  userid: string
  data: { name?: string; dependantid?: string; webhookid?: string; since?: string; reason?: string }
  body: Buffer
  created_at: Instant
}

/** Which part of the log to read. */
type LogQuery = {
  readonly partnerId: string
  readonly after: Cursor | undefined
  readonly userid: string | undefined
  readonly eventname: string | undefined
  readonly now: Instant
}

const PAGE = 100
/** How many positions one statement searches for events that fit the filter. */
const WINDOW = 5000
/** How long one request searches for events that fit the filter. */
const PATIENCE_MS = 1000
/** How far the clocks of two processes may differ when a read is guided by time instead of position. */
const CLOCKS_DIFFER_MS = DAY_MS
/** After a restore, the event at which to start is searched among this many events, in the order of their ids. */
const FIRST_AMONG = 100_000

/**
 * Reads one page of the log, and the cursor from which to continue. No event ever appears at a position that a returned
 * cursor has passed: a writer locks the head of a partner's log until the commit, so positions are committed in order and
 * without a gap. At the end of the log the cursor stays the same, so that a reader can tell that there is no more.
 */
export async function readLog(db: Executor, query: LogQuery): Promise<{ events: EventRow[]; next: Cursor }> {
  const endsAt = performance.now() + PATIENCE_MS
  const start = await findStart(db, query)
  const events: Row[] = []
  let next = query.after ?? LOG_START
  let after = start.position
  while (after < start.last) {
    const window = windowAfter(query.partnerId, after)
    const rows = await readWindow(db, query, window, PAGE - events.length)
    events.push(...rows)
    const last = rows.at(-1)
    if (last && events.length === PAGE) return { events, next: cursorAt(last) }
    const end = await findWindowEnd(db, window)
    if (!end || end.position >= start.last) return { events, next: last ? cursorAt(last) : next }
    next = cursorAt(end)
    after = end.position
    if (performance.now() > endsAt) break
  }
  return { events, next }
}

/** Where an event is in the log. */
type LogPosition = { position: number; event_id: string }
type Row = EventRow & LogPosition

function cursorAt({ position, event_id: eventId }: LogPosition): Cursor {
  return { position, eventId }
}

/**
 * The position after which to read, and the last position of the log. If that is before the cursor, or another event has
 * the cursor's position, the database was restored to an earlier time and positions were assigned anew. Reading then
 * starts a day before the time in the cursor's id, because clocks may differ by a day; the reader may get some events
 * again.
 */
async function findStart(db: Executor, query: LogQuery): Promise<{ position: number; last: number }> {
  const { position, eventId } = query.after ?? LOG_START
  const [head] = await db.query<{ last: number; event_id: string | null }>(sql`
    select h.last, (
      select e.event_id from events e where e.partner_id = ${query.partnerId} and e.position = ${position}
    ) as event_id
    from event_log_heads h where h.partner_id = ${query.partnerId}`)
  const last = head?.last ?? 0
  const standing = head?.event_id ?? eventId
  if (last >= position && standing === eventId) return { position, last }
  return { position: await findRestart(db, query, eventId), last }
}

async function findRestart(db: Executor, query: LogQuery, lastSeen: string): Promise<number> {
  const since = Math.max(timeOfEventId(lastSeen) - CLOCKS_DIFFER_MS, query.now - KEPT_MS)
  const [first] = await db.query<{ position: number | null }>(sql`
    select min(position) as position from (
      select position from events where partner_id = ${query.partnerId} and event_id >= ${firstUuidAt(since)}::uuid
      order by event_id limit ${FIRST_AMONG}) as since`)
  // If no event was raised since then, there is nothing to read.
  return (first?.position ?? Number.MAX_SAFE_INTEGER) - 1
}

/** The time at which an event id was made. */
function timeOfEventId(eventId: string): Instant {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16)
}

/** Selects the events of a window. It begins at the first event after the position, because the clean-up leaves gaps. */
function windowAfter(partnerId: string, after: number): Fragment {
  return fragment`partner_id = ${partnerId} and position > ${after}
      and position < ${WINDOW} + (
        select e.position from events e where e.partner_id = ${partnerId} and e.position > ${after}
        order by e.position limit 1)`
}

function readWindow(db: Executor, query: LogQuery, window: Fragment, limit: number): Promise<Row[]> {
  return db.query<Row>(sql`
    select position, event_id, eventname, userid, data - 'traceparent' as data, body, created_at from events
    where ${window}
      and (${query.userid ?? null}::text is null or userid = ${query.userid ?? null})
      and (${query.eventname ?? null}::text is null or eventname = ${query.eventname ?? null})
    order by position limit ${limit}`)
}

/** The last event of a window; `undefined` when there is none. */
async function findWindowEnd(db: Executor, window: Fragment): Promise<LogPosition | undefined> {
  const [end] = await db.query<LogPosition>(sql`
    select position, event_id from events where ${window} order by position desc limit 1`)
  return end
}

/** One event and its user; `undefined` when the partner has no event of this id. */
export async function findEvent(
  db: Executor,
  partnerId: string,
  eventId: string,
): Promise<(EventRow & { service_id: string }) | undefined> {
  const [row] = await db.query<EventRow & { service_id: string }>(sql`
    select event_id, service_id, eventname, userid, data - 'traceparent' as data, body, created_at from events
    where partner_id = ${partnerId} and event_id = ${eventId}`)
  return row
}
