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
  /** Whether a read is under way, or what a read has found is being set aside. */
  isBusy(): boolean
  /** Fulfils when neither is. */
  ended(): Promise<void>
}

const AGAIN_MS = 500
/** For how long an endpoint is read often after something was due there. */
const ACTIVE_MS = 30_000
/** Bounds the cost of one read, and so how long the endpoints that are requested meanwhile wait for it. */
const ENDPOINTS_AT_ONCE = 256

/** A delivery whose event has left the log, or which waits for an earlier one of its user. */
type Unsendable = {
  readonly why: 'gone' | 'behind'
  readonly owned: OwnedEndpoint
  readonly partnerId: string
  readonly eventId: string
}

/** What a read found besides what can be sent. */
type Besides = {
  readonly unsendable: Unsendable[]
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
  leasing: Pick<Leasing, 'areLeasesValid' | 'reload'>
  writer: Writer
  timers: Timers
  endpointSlots: number
  pollMs: number
  real: () => Instant
  log: Log
  wake: () => void
}): DueReader {
  const { database, endpoints, leasing, writer, timers, endpointSlots, pollMs, real, log, wake } = context
  const underWay = new Set<Promise<void>>()
  let isReading = false

  const start = () => {
    const requested = isReading ? [] : endpoints.takeRequested(ENDPOINTS_AT_ONCE)
    if (requested.length === 0) return
    isReading = true
    const hasRead = () => {
      isReading = false
    }
    follow(read(requested).finally(hasRead))
  }

  const follow = (work: Promise<void>) => {
    const ended = work
      .catch(error => {
        log('webhook_read_failed', describeCause(error))
        timers.set('read again', AGAIN_MS, () => endpoints.all().forEach(endpoints.requestRead))
      })
      .finally(() => {
        underWay.delete(ended)
        wake()
      })
    underWay.add(ended)
  }

  const read = async (requested: readonly OwnedEndpoint[]): Promise<void> => {
    // Also before the read: a pause that ends while others are read then has its timer, which requests the next read.
    for (const owned of requested) endpoints.offer(owned)
    const reach = { limit: endpointSlots, quota: endpoints.quota(), now: real() }
    const asks = requested.flatMap(owned => beginRead(owned, reach))
    const found = await readDue(database, asks, reach.now)
    const besides: Besides = { unsendable: [], outdated: new Set() }
    for (const ask of asks) {
      if (ask.owned.generation === ask.generation) takeIn(ask, found.get(ask) ?? [], besides)
      else endpoints.requestRead(ask.owned)
    }
    for (const owned of requested) {
      owned.forgottenMeanwhile = undefined
      endpoints.offer(owned)
    }
    if (found.size > 0 && !timers.has('poll')) pollLater()
    wake()
    for (const rows of groupsOf(database, besides.unsendable)) follow(setAside(rows))
    if (besides.outdated.size > 0) await leasing.reload([...besides.outdated])
  }

  /**
   * Removes deliveries whose event is gone, as if they had been delivered, and parks those that wait for an earlier one. Reads
   * of other endpoints do not wait for this: where tables are spread, the node that is written to may be away.
   */
  const setAside = async (rows: readonly Unsendable[]): Promise<void> => {
    const owners = new Set(rows.map(({ owned }) => owned))
    for (const owned of owners) owned.isSettingAside = true
    const written = rows.flatMap(({ why, owned: { lease }, eventId }) => {
      if (why === 'behind') return []
      const disposition = { kind: 'delivered' } as const
      const result = { lease, eventId, number: 0, disposition, attempts: [], endedAt: real() }
      return [writer.write({ kind: 'result', result })]
    })
    const behind = rows.filter(({ why }) => why === 'behind')
    const parked = behind.map(({ owned, eventId }) => ({ ...owned.lease, eventId }))
    if (parked.length > 0) written.push(writer.write({ kind: 'park', rows: parked }))
    await Promise.all(written).finally(() => {
      for (const owned of owners) owned.isSettingAside = false
    })
    // The next read returns others in their stead.
    for (const owned of owners) endpoints.requestRead(owned)
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

  return {
    start,
    isBusy: () => underWay.size > 0,
    async ended() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

/** Queues what can be sent, and notes the position up to which the queue was read, if the database may have more. */
function takeIn(ask: OwnedAsk, rows: readonly DueRow[], { unsendable, outdated }: Besides): void {
  const { owned, partnerId } = ask
  if (rows.length > 0) owned.activeUntil = performance.now() + ACTIVE_MS
  for (const row of rows) {
    const eventId = row.event_id
    if (owned.forgottenMeanwhile?.has(eventId)) continue
    if (!hasEvent(row)) unsendable.push({ why: 'gone', owned, partnerId, eventId })
    else if (row.version !== owned.endpoint.version) outdated.add(owned)
    else if (row.behind && !owned.inMemory.has(eventId))
      unsendable.push({ why: 'behind', owned, partnerId, eventId })
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
