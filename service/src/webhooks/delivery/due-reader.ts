import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { groupsOf } from '../../db/spread.ts'
import { describeCause, type Log } from '../../log.ts'
import { type DueRow, type QueuePosition, readDue } from './due.ts'
import type { Leasing } from './leasing.ts'
import { beginRead, type Item, type OwnedAsk, type OwnedEndpoint, queueItem } from './owned-endpoint.ts'
import type { OwnedEndpoints } from './owned-endpoints.ts'
import type { Timers } from './timers.ts'
import type { Writer } from './writer.ts'

/** Reads due deliveries from the database, and queues them in memory. */
export type DueReader = {
  /** Reads the requested endpoints, unless a read is under way. */
  start(): void
  /** The read that is under way; always fulfils. */
  underWay(): Promise<void> | undefined
}

const AGAIN_MS = 500
/** For how long an endpoint is read often after something was due there. */
const ACTIVE_MS = 30_000
/** Bounds the cost of one read, and so how long the endpoints that are requested meanwhile wait for it. */
const ENDPOINTS_AT_ONCE = 256

/** What a read found that cannot be sent as it is. */
type Unsendable = {
  /** Deliveries whose event has left the log. */
  readonly gone: { readonly owned: OwnedEndpoint; readonly eventId: string }[]
  /** Deliveries that wait for an earlier one of their user. */
  readonly behind: { readonly owned: OwnedEndpoint; readonly eventId: string }[]
  /** Endpoints that were changed since they were loaded. */
  readonly outdated: Set<OwnedEndpoint>
}

/**
 * Opens the reader, which reads all requested endpoints by one statement, one statement at a time. `wake` is called when
 * something may be sent, and when a read has ended.
 */
export function openDueReader(context: {
  database: Pick<Database, 'query' | 'layout'>
  endpoints: OwnedEndpoints
  leasing: Pick<Leasing, 'areLeasesValid' | 'renew'>
  writer: Writer
  timers: Timers
  endpointSlots: number
  pollMs: number
  real: () => Instant
  log: Log
  wake: () => void
}): DueReader {
  const { database, endpoints, leasing, writer, timers, endpointSlots, pollMs, real, log, wake } = context
  let reading: Promise<void> | undefined

  const start = () => {
    const requested = reading ? [] : endpoints.takeRequested(ENDPOINTS_AT_ONCE)
    if (requested.length === 0) return
    reading = read(requested)
      .catch(error => {
        log('webhook_read_failed', describeCause(error))
        timers.set('read again', AGAIN_MS, () => endpoints.all().forEach(endpoints.requestRead))
      })
      .finally(() => {
        reading = undefined
        wake()
      })
  }

  const read = async (requested: readonly OwnedEndpoint[]): Promise<void> => {
    // Also before the read: a pause that ends while others are read then has its timer, which requests the next read.
    for (const owned of requested) endpoints.offer(owned)
    const reach = { limit: endpointSlots, quota: endpoints.quota(), now: real() }
    const asks = requested.flatMap(owned => beginRead(owned, reach))
    const found = await readDue(database, asks, reach.now)
    const unsendable: Unsendable = { gone: [], behind: [], outdated: new Set() }
    for (const ask of asks) {
      if (ask.owned.generation === ask.generation) takeIn(ask, found.get(ask) ?? [], unsendable)
      else endpoints.requestRead(ask.owned)
    }
    for (const owned of requested) {
      owned.forgottenMeanwhile = undefined
      endpoints.offer(owned)
    }
    if (found.size > 0 && !timers.has('poll')) pollLater()
    wake()
    await setAside(unsendable)
    if (unsendable.outdated.size > 0) await leasing.renew([...unsendable.outdated])
  }

  /** Removes deliveries whose event is gone, as if they had been made, and parks those that wait for an earlier one. */
  const setAside = async ({ gone, behind }: Unsendable): Promise<void> => {
    const parked = behind.map(({ owned, eventId }) => ({ ...owned.lease, eventId }))
    await Promise.all([
      ...gone.map(({ owned: { lease }, eventId }) => {
        const disposition = { kind: 'delivered' } as const
        const result = { lease, eventId, number: 0, disposition, attempts: [], endedAt: real() }
        return writer.write({ kind: 'result', result })
      }),
      ...groupsOf(database, parked).map(rows => writer.write({ kind: 'park', rows })),
    ])
    // The next read returns others in their stead.
    for (const { owned } of [...gone, ...behind]) endpoints.requestRead(owned)
  }

  /**
   * Reads the endpoints at which something was due a moment ago; the heartbeat finds what other processes add at all
   * others. Endpoints that were just read are left out: a request waits for the read under way, and a read takes longer
   * the more endpoints it covers.
   */
  const poll = () => {
    // Nothing can be sent; once the leases are valid again, the heartbeat finds what is due.
    if (!leasing.areLeasesValid()) return
    const now = performance.now()
    const active = endpoints.all().filter(owned => owned.activeUntil > now)
    for (const owned of active) if (now - owned.readAt >= pollMs * 0.75) endpoints.requestRead(owned)
    if (active.length > 0) pollLater()
  }
  const pollLater = () => timers.set('poll', pollMs / 2, poll)

  return { start, underWay: () => reading }
}

/** Queues what can be sent, and notes the position up to which the queue was read, if the database may have more. */
function takeIn(ask: OwnedAsk, rows: readonly DueRow[], { gone, behind, outdated }: Unsendable): void {
  const { owned } = ask
  if (rows.length > 0) owned.activeUntil = performance.now() + ACTIVE_MS
  for (const row of rows) {
    const eventId = row.event_id
    if (owned.forgottenMeanwhile?.has(eventId)) continue
    if (!hasEvent(row)) gone.push({ owned, eventId })
    else if (row.version !== owned.endpoint.version) outdated.add(owned)
    else if (row.behind && !owned.inMemory.has(eventId)) behind.push({ owned, eventId })
    else queueItem(owned, row)
  }
  const last = rows.length < ask.quota ? undefined : rows.at(-1)
  const queue = owned.queues[ask.queue]
  queue.readUpTo = last && laterOf(queue.readUpTo, { dueAt: last.due_at, eventId: last.event_id })
}

function hasEvent(row: DueRow): row is DueRow & Pick<Item, 'body' | 'created_at'> {
  return row.body !== null
}

/** A read from the head may end before the position that an earlier read had reached: the later position counts. */
function laterOf(known: QueuePosition | undefined, position: QueuePosition): QueuePosition {
  if (!known || known.dueAt < position.dueAt) return position
  return known.dueAt === position.dueAt && known.eventId < position.eventId ? position : known
}
