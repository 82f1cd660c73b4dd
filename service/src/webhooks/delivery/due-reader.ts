import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { groupsOf } from '../../db/spread.ts'
import { describeCause, type Log } from '../../log.ts'
import { type Ask, type DueRow, type QueuePosition, readDue } from './due.ts'
import { asksOf, type Item, type OwnedEndpoint, queueItem } from './owned-endpoint.ts'
import type { OwnedEndpoints } from './owned-endpoints.ts'
import type { Timers } from './timers.ts'
import type { Writer } from './writer.ts'

/** Reads due deliveries from the database, and queues them in memory. */
export type DueReader = {
  /** Reads what is due at the endpoint, as soon as the read that is under way has ended. */
  request(endpoint: OwnedEndpoint): void
  /** Notes that an attempt of this delivery has ended, because a read that is under way may still return it as due. */
  noteEnded(owned: OwnedEndpoint, item: Item): void
  /** Whether a read is under way or requested. */
  isBusy(): boolean
  /** The read that is under way; always fulfils. */
  underWay(): Promise<void> | undefined
}

/** How often the head of a long queue is read again: a delivery that was committed late appears there. */
const HEAD_MS = 5000
const AGAIN_MS = 500
/** For how long an endpoint is read often after something was due there. */
const ACTIVE_MS = 30_000
/** Bounds the cost of one read, and so how long the endpoints that are requested meanwhile wait for it. */
const ENDPOINTS_AT_ONCE = 256

/** What one read asks for, with the endpoint of each ask and the generation of its queues when the read began. */
type Asked = Map<Ask, { readonly owned: OwnedEndpoint; readonly generation: number }>

/**
 * Opens the reader, which reads all requested endpoints by one statement, one statement at a time. `onFound` is called
 * when something may be sent, `onOutdated` with endpoints that were changed since they were loaded, `onQuiet` when a
 * read has ended.
 */
export function openDueReader(context: {
  database: Pick<Database, 'query' | 'layout'>
  endpoints: OwnedEndpoints
  writer: Writer
  timers: Timers
  endpointSlots: number
  real: () => Instant
  log: Log
  isClosing: () => boolean
  onFound: () => void
  onOutdated: (endpoints: readonly OwnedEndpoint[]) => Promise<void>
  onQuiet: () => void
}): DueReader {
  const { database, endpoints, writer, timers, endpointSlots, real, log } = context
  const wanted = new Set<OwnedEndpoint>()
  const endedMeanwhile = new Map<OwnedEndpoint, Set<string>>()
  const headTimes = new WeakMap<OwnedEndpoint, number>()
  let reading: Promise<void> | undefined

  const start = () => {
    if (reading || context.isClosing() || wanted.size === 0) return
    reading = read()
      .catch(error => {
        log('webhook_read_failed', describeCause(error))
        timers.set('read again', AGAIN_MS, () => {
          for (const owned of endpoints.all()) wanted.add(owned)
          start()
        })
      })
      .finally(() => {
        reading = undefined
        start()
        context.onQuiet()
      })
  }

  const read = async (): Promise<void> => {
    const asked: Asked = new Map()
    endedMeanwhile.clear()
    for (const owned of next())
      for (const ask of asksNow(owned)) asked.set(ask, { owned, generation: owned.generation })
    if (asked.size === 0) return
    const rows = await readDue(database, [...asked.keys()], real())
    for (const [ask, { owned, generation }] of asked) {
      if (owned.generation === generation && endpoints.isOwned(owned)) continue
      asked.delete(ask)
      wanted.add(owned)
    }
    const { behind, gone, outdated } = takeIn(rows, asked)
    const ends = endsOf(rows)
    for (const [ask, { owned }] of asked) {
      const { count = 0, last } = ends.get(ask) ?? {}
      const position = last && { dueAt: last.due_at, eventId: last.event_id }
      owned.readUpTo[ask.queue] =
        position && count >= ask.quota ? laterOf(owned.readUpTo[ask.queue], position) : undefined
      endpoints.offer(owned)
    }
    context.onFound()
    if (gone.length > 0) await remove(gone)
    if (behind.length > 0) await park(behind)
    if (outdated.size > 0) await context.onOutdated([...outdated])
  }

  /** The endpoints to read now, in the order of their requests. */
  const next = (): OwnedEndpoint[] => {
    const chosen: OwnedEndpoint[] = []
    for (const owned of wanted) {
      if (chosen.length === ENDPOINTS_AT_ONCE) break
      wanted.delete(owned)
      if (endpoints.isOwned(owned)) chosen.push(owned)
    }
    return chosen
  }

  const asksNow = (owned: OwnedEndpoint): Ask[] => {
    owned.readAt = performance.now()
    const fromHead = owned.readAt >= (headTimes.get(owned) ?? 0)
    if (fromHead) headTimes.set(owned, owned.readAt + HEAD_MS)
    return asksOf(owned, { limit: endpointSlots, quota: endpoints.quota(), now: real(), fromHead })
  }

  const takeIn = (
    rows: readonly DueRow[],
    asked: Asked,
  ): { behind: DueRow[]; gone: DueRow[]; outdated: Set<OwnedEndpoint> } => {
    const behind: DueRow[] = []
    const gone: DueRow[] = []
    const outdated = new Set<OwnedEndpoint>()
    const activeUntil = performance.now() + ACTIVE_MS
    for (const row of rows) {
      const owned = asked.get(row.ask)?.owned
      if (!owned || owned.phase === 'leaving' || endedMeanwhile.get(owned)?.has(row.event_id)) continue
      owned.activeUntil = activeUntil
      if (!hasEvent(row)) gone.push(row)
      else if (row.version !== owned.endpoint.version) outdated.add(owned)
      else if (row.behind) behind.push(row)
      else queueItem(owned, row)
    }
    return { behind, gone, outdated }
  }

  /** Removes deliveries whose event is gone, as if they had been made. */
  const remove = async (rows: readonly DueRow[]): Promise<void> => {
    const owners = rows.flatMap(({ ask, event_id: eventId }) => {
      const owned = endpoints.get(ask.endpointId)
      return owned ? [{ owned, eventId }] : []
    })
    await Promise.all(
      owners.map(({ owned: { lease }, eventId }) =>
        writer.write({
          kind: 'result',
          result: {
            lease,
            eventId,
            number: 0,
            disposition: { kind: 'delivered' },
            attempts: [],
            endedAt: real(),
          },
        }),
      ),
    )
    // Their places in the queue are free: the next read finds what comes after them.
    for (const { owned } of owners) wanted.add(owned)
  }

  const park = async (rows: readonly DueRow[]): Promise<void> => {
    const parked = rows.flatMap(row => {
      const owned = endpoints.get(row.ask.endpointId)
      if (!owned || owned.items.has(row.event_id)) return []
      return [{ ...owned.lease, eventId: row.event_id }]
    })
    if (parked.length === 0) return
    await Promise.all(groupsOf(database, parked).map(rows => writer.write({ kind: 'park', rows })))
    // Parked deliveries are not returned any more: the next read finds those of other users in their stead.
    for (const row of rows) {
      const owned = endpoints.get(row.ask.endpointId)
      if (owned) wanted.add(owned)
    }
  }

  return {
    request(owned) {
      wanted.add(owned)
      start()
    },
    noteEnded(owned, item) {
      if (!reading) return
      const ended = endedMeanwhile.get(owned)
      if (ended) ended.add(item.event_id)
      else endedMeanwhile.set(owned, new Set([item.event_id]))
    },
    isBusy: () => reading !== undefined || [...wanted].some(endpoints.isOwned),
    underWay: () => reading,
  }
}

function hasEvent(row: DueRow): row is DueRow & Pick<Item, 'body' | 'created_at'> {
  return row.body !== null
}

/** For each ask the number of rows that were found, and the last row. */
function endsOf(rows: readonly DueRow[]): Map<Ask, { count: number; last: DueRow }> {
  const ends = new Map<Ask, { count: number; last: DueRow }>()
  for (const row of rows) {
    const end = ends.get(row.ask)
    if (!end) ends.set(row.ask, { count: 1, last: row })
    else {
      end.count += 1
      end.last = row
    }
  }
  return ends
}

/** A read from the head may end before the position that an earlier read had reached: the later position counts. */
function laterOf(known: QueuePosition | undefined, position: QueuePosition): QueuePosition {
  if (!known || known.dueAt < position.dueAt) return position
  return known.dueAt === position.dueAt && known.eventId < position.eventId ? position : known
}
