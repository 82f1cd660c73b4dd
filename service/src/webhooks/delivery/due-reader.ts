import { describeCause } from '../../log.ts'
import type { PartContext } from './context.ts'
import { type DueRow, readDue } from './due.ts'
import { beginRead, type Item, type OwnedAsk, type OwnedEndpoint, queueItem } from './endpoint-queues.ts'
import type { Leasing } from './leasing.ts'
import type { Entry } from './writer.ts'

/** Reads due deliveries from the database, and queues them in memory. */
export type DueReader = {
  /** Reads the requested endpoints, but those for which a read is under way. */
  start(): void
  /** Whether a read is under way. */
  isReading(): boolean
}

const AGAIN_MS = 500
/** For how long an endpoint is read often after something was due there. */
const ACTIVE_MS = 30_000
/** Bounds the cost of one read, and so how long the endpoints that are requested meanwhile wait for it. */
const ENDPOINTS_AT_ONCE = 256

/**
 * Opens the reader, which reads all requested endpoints by one statement, one statement at a time. `wake` is called when
 * something may be sent, and when a read has ended.
 */
export function openDueReader(
  context: PartContext & { leasing: Pick<Leasing, 'areLeasesValid' | 'reload'>; pollMs: number },
): DueReader {
  const { database, endpoints, leasing, writer, timers, endpointSlots, pollMs, real, log, wake } = context
  let isReading = false

  const start = () => {
    // Without valid leases nothing could be sent, so the requests wait for them.
    if (isReading || !leasing.areLeasesValid()) return
    const requested = endpoints.takeRequested(ENDPOINTS_AT_ONCE)
    if (requested.length > 0) void read(requested)
  }

  const read = async (group: readonly OwnedEndpoint[]): Promise<void> => {
    isReading = true
    await readGroup(group).catch(error => log('webhook_read_failed', describeCause(error)))
    isReading = false
    wake()
  }

  const readGroup = async (group: readonly OwnedEndpoint[]): Promise<void> => {
    const reach = { limit: endpointSlots, quota: endpoints.quota(), now: real() }
    const asks = group.flatMap(owned => beginRead(owned, reach))
    const outdated = new Set<OwnedEndpoint>()
    try {
      const found = asks.length > 0 ? await readDue(database, asks, reach.now) : []
      for (const [index, ask] of asks.entries()) takeIn(ask, found[index] ?? [], outdated)
      for (const owned of group) endpoints.offer(owned)
      wake()
      if (outdated.size > 0) await leasing.reload([...outdated])
    } catch (error) {
      for (const owned of group) endpoints.readLater(owned, AGAIN_MS)
      throw error
    }
  }

  /** Queues what can be sent, and sets aside what cannot. */
  const takeIn = (ask: OwnedAsk, rows: readonly DueRow[], outdated: Set<OwnedEndpoint>) => {
    const { owned, queue, forgotten } = ask
    if (owned.forgotten !== forgotten) return endpoints.requestRead(owned)
    owned.queues[queue].hasMore = rows.length === ask.quota
    if (rows.length > 0) {
      owned.activeUntil = performance.now() + ACTIVE_MS
      timers.set('poll', pollMs, poll)
    }
    const behind: string[] = []
    for (const row of rows) {
      const eventId = row.event_id
      if (row.version !== owned.endpoint.version) outdated.add(owned)
      else if (forgotten.has(eventId) || owned.inMemory.has(eventId)) continue
      else if (!hasEvent(row)) removeDelivery(owned, eventId)
      else if (row.behind) behind.push(eventId)
      else queueItem(owned, { ...row, queue })
    }
    if (behind.length > 0)
      setAside(owned, { kind: 'park', rows: behind.map(eventId => ({ lease: owned.lease, eventId })) })
  }

  /** Removes a delivery whose event has left the log, as if it had been delivered. */
  const removeDelivery = (owned: OwnedEndpoint, eventId: string) => {
    const disposition = { kind: 'delivered' } as const
    const result = { lease: owned.lease, eventId, number: 0, disposition, attempts: [], endedAt: real() }
    setAside(owned, { kind: 'result', result })
  }

  const setAside = (owned: OwnedEndpoint, entry: Entry) => {
    owned.settingAside += 1
    writer.enqueue(entry, settled => {
      owned.settingAside -= 1
      // The next read returns others in their stead.
      if (settled.ok) return endpoints.requestRead(owned)
      log('webhook_result_refused', describeCause(settled.error))
      endpoints.readLater(owned, AGAIN_MS)
      // Somebody may wait for the last write to end.
      wake()
    })
  }

  /** Reads the endpoints at which something was due a moment ago; the heartbeat finds what other processes add at others. */
  const poll = () => {
    const now = performance.now()
    const active = endpoints.all().filter(owned => owned.activeUntil > now)
    for (const owned of active) endpoints.requestRead(owned)
    if (active.length > 0) timers.set('poll', pollMs, poll)
  }

  return { start, isReading: () => isReading }
}

function hasEvent(row: DueRow): row is DueRow & Pick<Item, 'body' | 'created_at'> {
  return row.body !== null
}
