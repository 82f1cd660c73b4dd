import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { describeCause, type Log } from '../log.ts'
import type { Directory } from '../partners/directory.ts'
import { uuidv4 } from '../vault/uuid.ts'
import { ensureAttemptDays } from './attempt-days.ts'
import { giveUp } from './lease.ts'
import { type Leasing, openLeasing } from './leasing.ts'
import { type Looking, openLooking } from './looking.ts'
import type { WebhookMetrics } from './metrics.ts'
import { openLanes } from './open-lanes.ts'
import type { Outgoing } from './outgoing.ts'
import { openSending, type Sending } from './sending.ts'
import { openTimers } from './timers.ts'
import { openWriter } from './writer.ts'

/** What a dispatcher holds right now; all zero after `close`. */
export type Inventory = { endpoints: number; underWay: number; unwritten: number; timers: number }

/** Delivers webhooks, together with the dispatchers of other processes on the same database. */
export type Dispatcher = {
  /** Looks for new work now: at the endpoints of these partners, or everywhere. */
  nudge(partnerIds?: ReadonlySet<string>): void
  /** Looks for new, changed and removed endpoints now, and for new work everywhere. */
  refresh(): void
  /** Fulfils when this process has nothing under way and nothing that it could send now. */
  idle(): Promise<void>
  /** Starts no more tries, waits for those under way (within bounds), and leaves the endpoints to others. */
  close(): Promise<void>
  inventory(): Inventory
}

/** What a dispatcher works with. */
export type DispatcherContext = {
  readonly database: Database
  readonly directory: Pick<Directory, 'partner'>
  readonly outgoing: Outgoing
  readonly metrics: WebhookMetrics
  /** Real time. */
  readonly real: () => Instant
  readonly log: Log
}

/** How a dispatcher works; all have defaults. */
export type DispatcherOptions = {
  /** Tries under way at once, over all endpoints. */
  readonly slots?: number
  /** Tries under way at once at one endpoint. */
  readonly endpointSlots?: number
  /** How long an endpoint stays ours without a renewal; it is renewed three times in that. */
  readonly leaseMs?: number
  /** About how often the database is asked for work that other processes made, while there is work; when idle, the beat tells. */
  readonly pollMs?: number
  /** How long `close` waits for tries under way. */
  readonly graceMs?: number
}

/** How long after a try the database is asked often. */
const BUSY_MS = 30_000

/**
 * Starts a dispatcher; what is due is delivered from then on. It has four parts, which know each other by callbacks:
 * leasing keeps our part of the endpoints, looking reads what is due there, sending makes the tries, and the writer
 * stores what came of them.
 */
export const openDispatcher = (context: DispatcherContext, options: DispatcherOptions = {}): Dispatcher => {
  const { database, real, log } = context
  const { slots = 256, endpointSlots = 64, leaseMs = 6000, pollMs = 200, graceMs = 5000 } = options
  const owner = uuidv4()
  const timers = openTimers()
  const writer = openWriter({ database, owner, log })
  let isClosing = false
  let busyUntil = 0
  let waiting: (() => void)[] = []

  // Without a lease that holds, what is due waits for the next beat.
  const isQuiet = () =>
    leasing.hold() && !looking.isBusy() && !leasing.isBusy() && sending.underWay() + writer.pending() === 0
  const onQuiet = () => {
    if (waiting.length === 0 || !isQuiet()) return
    const resolving = waiting
    waiting = []
    for (const resolve of resolving) resolve()
  }
  const quiet = () =>
    new Promise<void>(resolve => {
      waiting.push(resolve)
      queueMicrotask(onQuiet)
    })

  const shared = { ...context, timers, writer, slots, endpointSlots, isClosing: () => isClosing, onQuiet }
  const lanes = openLanes({ ...shared, onOpen: lane => looking.want(lane) })
  const looking: Looking = openLooking({
    ...{ ...shared, lanes, onFound: () => sending.pump(), onOutdated: changed => leasing.renew(changed) },
  })
  const sending: Sending = openSending({
    ...{ ...shared, lanes, looking, onLeft: () => leasing.request() },
    maySend: () => !isClosing && leasing.hold(),
    onTry() {
      busyUntil = performance.now() + BUSY_MS
      if (!timers.has('poll')) poll()
    },
  })
  const leasing: Leasing = openLeasing({
    ...{ ...shared, lanes, owner, leaseMs, onDue: lane => looking.want(lane), onBeat: () => sending.pump() },
  })

  const nudge = (partnerIds?: ReadonlySet<string>) => {
    if (isClosing) return
    for (const lane of lanes.all()) {
      if (partnerIds && !partnerIds.has(lane.partnerId)) continue
      // The clock may have moved past the end of a pause.
      if (!partnerIds) lanes.place(lane)
      looking.want(lane)
    }
  }
  /**
   * Where work came a moment ago; of all others the beat tells. What was looked at meanwhile is left out, and so the rest
   * is spread: a nudge waits for the look that is under way, which takes the longer the more lanes it is for.
   */
  const poll = () =>
    timers.set('poll', pollMs / 2, () => {
      const now = performance.now()
      for (const lane of lanes.all()) {
        if (lane.activeUntil < now || now - lane.lookedAt < pollMs * 0.75) continue
        // The clock may have moved past the end of a pause.
        lanes.place(lane)
        looking.want(lane)
      }
      if (now < busyUntil) poll()
    })

  const preparing = ensureAttemptDays(database, real()).catch(error =>
    log('webhook_days_failed', describeCause(error)),
  )
  leasing.request()

  return {
    nudge,
    refresh() {
      leasing.request()
      nudge()
    },
    async idle() {
      // A look that begins now sees what was committed before; if it finds nothing, nothing is left.
      leasing.request()
      await quiet()
      nudge()
      await quiet()
    },
    async close() {
      if (isClosing) return
      isClosing = true
      timers.close()
      const graceEnd = new Promise<void>(resolve => setTimeout(resolve, graceMs).unref())
      const ends = [sending.ended(), looking.underWay(), leasing.underWay(), preparing]
      await Promise.race([Promise.allSettled(ends), graceEnd])
      writer.stop()
      for (const lane of lanes.all()) lanes.drop(lane)
      await giveUp(database, owner).catch(error => log('webhook_leases_not_given_up', describeCause(error)))
    },
    inventory: () => ({
      endpoints: lanes.count(),
      underWay: sending.underWay(),
      unwritten: writer.pending(),
      timers: timers.count(),
    }),
  }
}
