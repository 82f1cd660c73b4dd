import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Cursor, lastBelow } from './cursor.ts'

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
}

const PAGE = 100
/** How much of the log one statement looks through for events that fit the filter. */
const WINDOW = 5000
/** How long one request looks for them. */
const PATIENCE_MS = 1000
/** How long a read waits for writes that were under way when it began: as long as a statement may take. */
const SETTLING_MS = 5000

/**
 * One page of the log and where to go on. No event ever appears behind a cursor that was given out.
 *
 * An event carries the id of the transaction that wrote it, and the log is ordered by (transaction id, event id). Let
 * X be the oldest transaction that is still running just before a page is read (`pg_snapshot_xmin`). Every transaction below
 * X has ended, and what it committed is visible; whatever commits later has an id of X or above. So a page that
 * shows only what lies below X is complete up to there for ever, and a cursor never points above X.
 *
 * What was answered before the read began must be in it (contract §2), although an older transaction may still run
 * and keep X down. So the read first waits until X has passed the partner's newest event; bounded, since a
 * transaction that hangs is no reason to answer nobody. Then the page ends earlier, and still has no gap.
 */
export const readLog = async (
  db: Executor,
  query: LogQuery,
  settlingMs = SETTLING_MS,
): Promise<{ events: EventRow[]; next: Cursor }> => {
  await settle(db, query.partnerId, settlingMs)
  const endsAt = performance.now() + PATIENCE_MS
  let after: Cursor = query.after ?? { transactionId: 0n, eventId: NIL }
  const events: EventRow[] = []
  for (;;) {
    const look = await readWindow(db, query, { after, page: PAGE - events.length })
    events.push(...look.events)
    if (events.length >= PAGE) return { events, next: look.last ?? after }
    // At the end the cursor stays where it is, so that a reader can tell that there is no more.
    if (look.windowEnd === undefined) return { events, next: look.last ?? after }
    after = look.windowEnd
    if (performance.now() > endsAt) return { events, next: after }
  }
}

const NIL = '00000000-0000-0000-0000-000000000000'

/** Waits until every transaction older than the partner's newest event has ended. */
const settle = async (db: Executor, partnerId: string, withinMs: number): Promise<void> => {
  const endsAt = performance.now() + withinMs
  const [newest] = await db.query<{ transaction_id: string }>(sql`
    select transaction_id from events where partner_id = ${partnerId}
    order by transaction_id desc, event_id desc limit 1`)
  if (!newest) return
  for (let pause = 2; performance.now() < endsAt; pause = Math.min(pause * 2, 100)) {
    const [now] = await db.query<{ is_past: boolean }>(
      sql`select pg_snapshot_xmin(pg_current_snapshot()) > ${newest.transaction_id}::xid8 as is_past`,
    )
    if (now?.is_past) return
    await new Promise(resolve => setTimeout(resolve, pause))
  }
}

type Row = EventRow & { transaction_id: string }

type Look = {
  events: EventRow[]
  /** Where the last of them stands. */
  last: Cursor | undefined
  /** Where the window ended; `undefined` when it reached the end of what can be shown. */
  windowEnd: Cursor | undefined
}

const readWindow = async (
  db: Executor,
  query: LogQuery,
  { after, page }: { after: Cursor; page: number },
): Promise<Look> => {
  const [bounds] = await db.query<{
    xmin: string
    transaction_id: string | null
    event_id: string | null
  }>(sql`
    select pg_snapshot_xmin(pg_current_snapshot()) as xmin, last.transaction_id, last.event_id
    from (select) as one
    left join lateral (
      select transaction_id, event_id from events
      where partner_id = ${query.partnerId} and (transaction_id, event_id) > (${String(after.transactionId)}::xid8,
        ${after.eventId}::uuid) and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
      order by transaction_id, event_id offset ${WINDOW - 1} limit 1
    ) last on true`)
  if (!bounds) throw new Error('a query without a row')
  const { xmin, transaction_id, event_id } = bounds
  const windowEnd =
    transaction_id === null || event_id === null
      ? undefined
      : { transactionId: BigInt(transaction_id), eventId: event_id }
  const end = windowEnd ?? lastBelow(BigInt(xmin), after)
  const rows = await db.query<Row>(sql`
    select transaction_id, event_id, eventname, userid, data, body, created_at from events
    where partner_id = ${query.partnerId}
      and (transaction_id, event_id) > (${String(after.transactionId)}::xid8, ${after.eventId}::uuid)
      and (transaction_id, event_id) <= (${String(end.transactionId)}::xid8, ${end.eventId}::uuid)
      and (${query.userid ?? null}::text is null or userid = ${query.userid ?? null})
      and (${query.eventname ?? null}::text is null or eventname = ${query.eventname ?? null})
    order by transaction_id, event_id limit ${page}`)
  const last = rows.at(-1)
  return {
    events: rows,
    last: last && { transactionId: BigInt(last.transaction_id), eventId: last.event_id },
    windowEnd,
  }
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
