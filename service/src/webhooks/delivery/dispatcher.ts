import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { describeCause, type Log } from '../../log.ts'
import type { Directory } from '../../partners/directory.ts'
import { uuidv4 } from '../../vault/uuid.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { ensureAttemptDays } from '../log/attempt-days.ts'
import { type DueReader, openDueReader } from './due-reader.ts'
import { giveUp } from './lease.ts'
import { type Leasing, openLeasing } from './leasing.ts'
import type { WebhookMetrics } from './metrics.ts'
import { openOwnedEndpoints } from './owned-endpoints.ts'
import { openSending, type Sending } from './sending.ts'
import { openTimers } from './timers.ts'
import { openWriter } from './writer.ts'

/** What a dispatcher keeps in memory right now; all zero after `close`. */
type Inventory = { endpoints: number; underWay: number; unwritten: number; timers: number }

/** Delivers webhooks, together with the dispatchers of other processes on the same database. */
export type Dispatcher = {
  /** Reads what is due now at the endpoints of these partners; without `partnerIds`, at all endpoints. */
  nudge(partnerIds?: ReadonlySet<string>): void
  /** Finds new, changed and removed endpoints now, and what is due at all endpoints. */
  refresh(): void
  /** Fulfils when this process has nothing under way and nothing that it could send now. */
  idle(): Promise<void>
  /**
   * Starts no more attempts, waits for those under way (within bounds), and leaves the endpoints to other processes.
   */
  close(): Promise<void>
  inventory(): Inventory
}

/** What a dispatcher works with. */
type DispatcherContext = {
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
  /** Attempts under way at once, over all endpoints. */
  readonly slots?: number
  /** Attempts under way at once at one endpoint. */
  readonly endpointSlots?: number
  /** How long a process owns its endpoints without a heartbeat; it beats three times in that time. */
  readonly leaseMs?: number
  /** While there is work: how often to ask for what other processes added. When idle, the heartbeat finds it. */
  readonly pollMs?: number
  /** How long `close` waits for attempts under way. A stop may have waited ten seconds for requests by then, of fourteen. */
  readonly graceMs?: number
}

/** For how long after an attempt the database is asked often. */
const BUSY_MS = 30_000

/**
 * Starts a dispatcher, which delivers what is due from then on. It has four parts: leasing decides which endpoints this
 * process owns, the due reader reads what is due there, sending makes the attempts, and the writer stores the results.
 * What may be sent to an endpoint depends on its mode (mode.ts).
 */
export function openDispatcher(context: DispatcherContext, options: DispatcherOptions = {}): Dispatcher {
  const { database, real, log } = context
  const { slots = 256, endpointSlots = 64, leaseMs = 6000, pollMs = 200, graceMs = 3000 } = options
  const owner = uuidv4()
  const timers = openTimers()
  const writer = openWriter({ database, directory: context.directory, owner, log })
  let isClosing = false
  let busyUntil = 0
  let waiting: (() => void)[] = []

  // Without a valid lease, what is due waits for the next heartbeat.
  const isQuiet = () =>
    leasing.areLeasesValid() &&
    !dueReader.isBusy() &&
    !leasing.isBusy() &&
    sending.underWay() + writer.pending() === 0
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
  const endpoints = openOwnedEndpoints({ ...shared, onOpen: owned => dueReader.request(owned) })
  const dueReader: DueReader = openDueReader({
    ...shared,
    endpoints,
    onFound: () => sending.pump(),
    onOutdated: changed => leasing.renew(changed),
  })
  const sending: Sending = openSending({
    ...shared,
    endpoints,
    dueReader,
    onLeft: () => leasing.request(),
    maySend: () => !isClosing && leasing.areLeasesValid(),
    onAttempt() {
      busyUntil = performance.now() + BUSY_MS
      if (!timers.has('poll')) poll()
    },
  })
  const leasing: Leasing = openLeasing({
    ...shared,
    endpoints,
    owner,
    leaseMs,
    onDue: owned => dueReader.request(owned),
    onBeat: () => sending.pump(),
  })

  const nudge = (partnerIds?: ReadonlySet<string>) => {
    if (isClosing) return
    for (const owned of endpoints.all()) {
      if (partnerIds && !partnerIds.has(owned.partnerId)) continue
      // The clock may have moved past the end of a pause.
      if (!partnerIds) endpoints.offer(owned)
      dueReader.request(owned)
    }
  }
  /**
   * Reads the endpoints at which work came a moment ago; the heartbeat finds work at all others. Endpoints that were just
   * read are left out: a nudge waits for the read under way, and a read takes longer the more endpoints it covers.
   */
  const poll = () =>
    timers.set('poll', pollMs / 2, () => {
      const now = performance.now()
      for (const owned of endpoints.all()) {
        if (owned.activeUntil < now || now - owned.readAt < pollMs * 0.75) continue
        // The clock may have moved past the end of a pause.
        endpoints.offer(owned)
        dueReader.request(owned)
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
      // A read that begins now sees all earlier commits; if it finds nothing, nothing is left.
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
      const ends = [sending.ended(), dueReader.underWay(), leasing.underWay(), preparing]
      await Promise.race([Promise.allSettled(ends), graceEnd])
      writer.stop()
      for (const owned of endpoints.all()) endpoints.drop(owned)
      await giveUp(database, owner).catch(error => log('webhook_leases_not_given_up', describeCause(error)))
    },
    inventory: () => ({
      endpoints: endpoints.count(),
      underWay: sending.underWay(),
      unwritten: writer.pending(),
      timers: timers.count(),
    }),
  }
}
