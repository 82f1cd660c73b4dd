import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { describeCause, type Log } from '../log.ts'
import { type Ask, type DueRow, type Place, readDue } from './due.ts'
import { asksOf, type Item, type Lane, queueItem } from './lane.ts'
import type { OpenLanes } from './open-lanes.ts'
import type { Timers } from './timers.ts'
import type { Writer } from './writer.ts'

/** Looks in the database for deliveries that are due, and queues them in memory. */
export type Looking = {
  /** Looks at the lane as soon as the look that is under way has ended. */
  want(lane: Lane): void
  /** Says that a try of this delivery has ended, as a look that is under way may still show it as due. */
  noteEnded(lane: Lane, item: Item): void
  /** Whether a look is under way or wanted. */
  isBusy(): boolean
  /** What is under way; fulfils always. */
  underWay(): Promise<void> | undefined
}

/** How often the heads of all queues are looked at while there is more behind: what was committed late stands there. */
const HEAD_MS = 5000
const AGAIN_MS = 500
/** How long a lane is looked at often after something was due there. */
const ACTIVE_MS = 30_000
/** It bounds what one look costs, and how long somebody who is wanted next waits for it. */
const LANES_AT_ONCE = 256

/** What is asked for in one look: by which lane, and at which state of it. */
type Asked = Map<Ask, { readonly lane: Lane; readonly generation: number }>

/**
 * Opens the one lane of reads: all lanes that are wanted are read by one statement. `onFound` is called when something
 * may be sent, `onOutdated` for lanes whose endpoint was changed, `onQuiet` when a look has ended.
 */
export const openLooking = (context: {
  database: Executor
  lanes: OpenLanes
  writer: Writer
  timers: Timers
  endpointSlots: number
  real: () => Instant
  log: Log
  isClosing: () => boolean
  onFound: () => void
  onOutdated: (lanes: readonly Lane[]) => Promise<void>
  onQuiet: () => void
}): Looking => {
  const { database, lanes, writer, timers, endpointSlots, real, log } = context
  const wanted = new Set<Lane>()
  const endedMeanwhile = new Map<Lane, Set<string>>()
  const headTimes = new WeakMap<Lane, number>()
  let reading: Promise<void> | undefined

  const start = () => {
    if (reading || context.isClosing() || wanted.size === 0) return
    reading = read()
      .catch(error => {
        log('webhook_read_failed', describeCause(error))
        timers.set('read again', AGAIN_MS, () => {
          for (const lane of lanes.all()) wanted.add(lane)
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
    for (const lane of next())
      for (const ask of asksNow(lane)) asked.set(ask, { lane, generation: lane.generation })
    if (asked.size === 0) return
    const rows = await readDue(database, [...asked.keys()], real())
    for (const [ask, { lane, generation }] of asked) {
      if (lane.generation === generation && lanes.isOwned(lane)) continue
      asked.delete(ask)
      wanted.add(lane)
    }
    const { behind, outdated } = takeIn(rows, asked)
    const ends = endsOf(rows)
    for (const [ask, { lane }] of asked) {
      const { count = 0, last } = ends.get(ask) ?? {}
      const place = last && { dueAt: last.due_at, eventId: last.event_id }
      lane.readUpTo[ask.work] =
        place && count >= ask.quota ? laterOf(lane.readUpTo[ask.work], place) : undefined
      lanes.place(lane)
    }
    context.onFound()
    if (behind.length > 0) await park(behind)
    if (outdated.size > 0) await context.onOutdated([...outdated])
  }

  /** The lanes to look at now, those first that were wanted first. */
  const next = (): Lane[] => {
    const chosen: Lane[] = []
    for (const lane of wanted) {
      if (chosen.length === LANES_AT_ONCE) break
      wanted.delete(lane)
      if (lanes.isOwned(lane)) chosen.push(lane)
    }
    return chosen
  }

  const asksNow = (lane: Lane): Ask[] => {
    lane.lookedAt = performance.now()
    const fromHead = lane.lookedAt >= (headTimes.get(lane) ?? 0)
    if (fromHead) headTimes.set(lane, lane.lookedAt + HEAD_MS)
    return asksOf(lane, { limit: endpointSlots, quota: lanes.quota(), now: real(), fromHead })
  }

  const takeIn = (rows: readonly DueRow[], asked: Asked): { behind: DueRow[]; outdated: Set<Lane> } => {
    const behind: DueRow[] = []
    const outdated = new Set<Lane>()
    const activeUntil = performance.now() + ACTIVE_MS
    for (const row of rows) {
      const lane = asked.get(row.ask)?.lane
      if (!lane || lane.isLeaving || endedMeanwhile.get(lane)?.has(row.event_id)) continue
      lane.activeUntil = activeUntil
      if (row.version !== lane.endpoint.version) outdated.add(lane)
      else if (row.behind) behind.push(row)
      else queueItem(lane, row)
    }
    return { behind, outdated }
  }

  const park = async (rows: readonly DueRow[]): Promise<void> => {
    const parked = rows.flatMap(row => {
      const lane = lanes.get(row.ask.endpointId)
      if (!lane || lane.held.has(row.event_id)) return []
      return [{ ...lane.claim, eventId: row.event_id }]
    })
    if (parked.length === 0) return
    await writer.write({ kind: 'park', rows: parked })
    // Behind them others may wait that have nobody before them.
    for (const row of rows) {
      const lane = lanes.get(row.ask.endpointId)
      if (lane) wanted.add(lane)
    }
  }

  return {
    want(lane) {
      wanted.add(lane)
      start()
    },
    noteEnded(lane, item) {
      if (!reading) return
      const ended = endedMeanwhile.get(lane)
      if (ended) ended.add(item.event_id)
      else endedMeanwhile.set(lane, new Set([item.event_id]))
    },
    isBusy: () => reading !== undefined || [...wanted].some(lanes.isOwned),
    underWay: () => reading,
  }
}

/** How many rows came of each ask, and the last of them. */
const endsOf = (rows: readonly DueRow[]): Map<Ask, { count: number; last: DueRow }> => {
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

/** A look at the head ends before the place that an earlier read has reached. */
const laterOf = (known: Place | undefined, place: Place): Place => {
  if (!known || known.dueAt < place.dueAt) return place
  return known.dueAt === place.dueAt && known.eventId < place.eventId ? place : known
}
