/**
 * The event log: everything that was raised for a partner, in one order that never changes, with the attempts to
 * deliver it. This folder reads the log, replays from it, and removes what is old.
 */
import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { firstUuidAt } from '../../vault/uuid.ts'
import { KEPT_MS } from './clean-up.ts'
import { type Cursor, LOG_START } from './cursor.ts'
import { timeOfEventId } from './event-time.ts'
import { openAnswer } from './sealed-answer.ts'

/** An event as the log shows it. */
export type EventRow = {
  event_id: string
  eventname: string
  userid: string
  data: { name?: string }
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
 * cursor has passed: a writer locks the head of a partner's log until the commit, so positions are committed in order and without
 * a gap. At the end of the log the cursor stays the same, so that a reader can tell that there is no more.
 */
export async function readLog(db: Executor, query: LogQuery): Promise<{ events: EventRow[]; next: Cursor }> {
  const endsAt = performance.now() + PATIENCE_MS
  const start = await findStart(db, query)
  const events: Row[] = []
  let next = query.after ?? LOG_START
  let after = start.position
  while (after < start.last) {
    const rows = await readWindow(db, query, { after, page: PAGE - events.length })
    events.push(...rows)
    const last = rows.at(-1)
    if (last && events.length === PAGE) return { events, next: cursorAt(last) }
    const end = await findWindowEnd(db, query.partnerId, after)
    if (!end || end.position >= start.last) return { events, next: last ? cursorAt(last) : next }
    next = cursorAt(end)
    after = end.position
    if (performance.now() > endsAt) break
  }
  return { events, next }
}

type Row = EventRow & { position: number }

function cursorAt(row: { position: number; event_id: string }): Cursor {
  return { position: row.position, eventId: row.event_id }
}

/**
 * The position after which to read, and the last position of the log. If that is before the cursor, or another event has
 * the cursor's position, the database was restored to an earlier time and positions were assigned anew. Reading then starts a day before the time in the cursor's id, because clocks may differ by a day;
 * the reader may get some events again.
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

function readWindow(
  db: Executor,
  query: LogQuery,
  { after, page }: { after: number; page: number },
): Promise<Row[]> {
  return db.query<Row>(sql`
    select position, event_id, eventname, userid, data, body, created_at from events
    where partner_id = ${query.partnerId} and position > ${after}
      and position < ${WINDOW} + (
        select e.position from events e where e.partner_id = ${query.partnerId} and e.position > ${after}
        order by e.position limit 1)
      and (${query.userid ?? null}::text is null or userid = ${query.userid ?? null})
      and (${query.eventname ?? null}::text is null or eventname = ${query.eventname ?? null})
    order by position limit ${page}`)
}

/** The last event of a window; `undefined` when there is none. */
async function findWindowEnd(
  db: Executor,
  partnerId: string,
  after: number,
): Promise<{ position: number; event_id: string } | undefined> {
  const [end] = await db.query<{ position: number; event_id: string }>(sql`
    select position, event_id from events
    where partner_id = ${partnerId} and position > ${after}
      and position < ${WINDOW} + (
        select e.position from events e where e.partner_id = ${partnerId} and e.position > ${after}
        order by e.position limit 1)
    order by position desc limit 1`)
  return end
}

/** One event and its user; `undefined` when the partner has no event of this id. */
export async function findEvent(
  db: Executor,
  partnerId: string,
  eventId: string,
): Promise<(EventRow & { service_id: string }) | undefined> {
  const [row] = await db.query<EventRow & { service_id: string }>(sql`
    select event_id, service_id, eventname, userid, data, body, created_at from events
    where partner_id = ${partnerId} and event_id = ${eventId}`)
  return row
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
      select partner_id, endpoint_id, 'waiting' as status, attempts, due_at from deliveries
      where partner_id = ${partnerId} and event_id = ${eventId}
      union all
      select partner_id, endpoint_id, 'dead', attempts, null from dead_deliveries
      where partner_id = ${partnerId} and event_id = ${eventId}
    ) open
    join webhook_endpoints w using (partner_id, endpoint_id)
    where w.deleted_at is null
    order by open.endpoint_id`)
}

/** One attempt as the log keeps it. */
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
  /** What the endpoint answered to a failed attempt; null when nothing was kept, or when the user was erased. */
  answer: string | null
}

/** The attempts to deliver one event, oldest first. */
export async function findAttempts(db: Executor, partner: Partner, eventId: string): Promise<AttemptRow[]> {
  const { partnerId } = partner
  const rows = await db.query<SealedAttempt>(sql`
    select a.attempt_id, a.endpoint_id, a.attempt, a.started_at, a.pair, a.status, a.error_class, a.address, a.dns_ms,
      a.connect_ms, a.tls_ms, a.first_byte_ms, a.total_ms, a.sealed_answer, e.service_id, k.wrapped_key
    from delivery_attempts a
    join events e on e.partner_id = a.partner_id and e.event_id = a.event_id
    left join data_keys k on k.partner_id = e.partner_id and k.service_id = e.service_id
    where a.partner_id = ${partnerId} and a.event_id = ${eventId}
    order by a.started_at, a.attempt_id limit 1000`)
  return rows.map(row => openAttempt(partner, row))
}

/** The last attempt of each of these events at each endpoint, keyed by both ids with a space between them. */
export async function findLastAttempts(
  db: Executor,
  partner: Partner,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, AttemptRow>> {
  const rows = await db.query<SealedAttempt & { event_id: string }>(sql`
    select distinct on (a.event_id, a.endpoint_id) a.event_id, a.attempt_id, a.endpoint_id, a.attempt, a.started_at,
      a.pair, a.status, a.error_class, a.address, a.dns_ms, a.connect_ms, a.tls_ms, a.first_byte_ms, a.total_ms,
      a.sealed_answer, e.service_id, k.wrapped_key
    from delivery_attempts a
    join events e on e.partner_id = a.partner_id and e.event_id = a.event_id
    left join data_keys k on k.partner_id = e.partner_id and k.service_id = e.service_id
    where a.partner_id = ${partner.partnerId} and a.event_id = any(${[...eventIds]}::uuid[])
    order by a.event_id, a.endpoint_id, a.started_at desc, a.attempt_id desc`)
  return new Map(
    rows.map(({ event_id, ...row }) => [`${event_id} ${row.endpoint_id}`, openAttempt(partner, row)]),
  )
}

/** The partner whose log holds an event; `undefined` when no log does. */
export async function findOwnerOfEvent(db: Executor, eventId: string): Promise<string | undefined> {
  const [row] = await db.query<{ partner_id: string }>(sql`
    select e.partner_id from partners p
    join events e on e.partner_id = p.partner_id and e.event_id = ${eventId}::uuid`)
  return row?.partner_id
}

function openAttempt(
  partner: Partner,
  { attempt_id, sealed_answer, service_id, wrapped_key, ...row }: SealedAttempt,
): AttemptRow {
  return {
    ...row,
    answer:
      sealed_answer &&
      openAnswer(partner, sealed_answer, {
        serviceId: service_id,
        attemptId: attempt_id,
        wrappedKey: wrapped_key,
      }),
  }
}

type SealedAttempt = Omit<AttemptRow, 'answer'> & {
  attempt_id: string
  sealed_answer: Buffer | null
  service_id: string
  wrapped_key: Buffer | null
}
