import { randomUUID } from 'node:crypto'
import { describeCause } from '../../log.ts'
import type { DispatcherContext, PartContext } from './context.ts'
import { openDueReader } from './due-reader.ts'
import { forgetDead, giveUp } from './lease.ts'
import { openLeasing } from './leasing.ts'
import { openOwnedEndpoints } from './owned-endpoints.ts'
import { openSending } from './sending.ts'
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

/**
 * Starts a dispatcher, which delivers what is due from then on. Four parts work on the endpoints that this process owns:
 * leasing decides which these are, the due reader reads what is due there, sending makes the attempts, and the writer
 * stores the results. Arrows lead to what a part calls:
 *
 *     nudge ──────┐
 *     leasing ────┤  request a read,                                ┌──> due reader
 *     due reader ─┼────────────────────> owned endpoints ──> wake ──┤
 *     sending ────┘  offer what is due                              └──> sending
 *
 *     due reader ──> leasing    to learn whether the leases are valid, and to reload endpoints that were changed
 *     sending ─────> leasing    to learn the same, and to give up endpoints that are to be left
 *     all three ───> writer
 *
 * A part calls `wake` when something may have become possible: a moment later, and once for all of them, the due reader
 * reads what was requested, and sending makes the attempts whose turn it is. What may be sent to an endpoint depends on
 * its mode (mode.ts).
 */
export function openDispatcher(context: DispatcherContext, options: DispatcherOptions = {}): Dispatcher {
  const { database, log } = context
  const { slots = 256, endpointSlots = 64, leaseMs = 6000, pollMs = 200, graceMs = 3000 } = options
  const owner = randomUUID()
  const timers = openTimers()
  let isClosing = false
  let isWoken = false
  let waiting: { readonly isOver: () => boolean; readonly resolve: () => void }[] = []

  /** Proceeds once for all attempts that end in one turn of the event loop, because many are at the same endpoints. */
  const wake = () => {
    if (!isWoken) queueMicrotask(proceed)
    isWoken = true
  }

  const writer = openWriter({ ...context, owner })
  const endpoints = openOwnedEndpoints({ ...context, timers, slots, endpointSlots, wake })
  const shared: PartContext = { ...context, timers, writer, endpoints, slots, endpointSlots, wake }
  const leasing = openLeasing({ ...shared, owner, leaseMs })
  const dueReader = openDueReader({ ...shared, leasing, pollMs })
  const sending = openSending({ ...shared, leasing })

  // Without valid leases, what is due waits for the next heartbeat.
  const isQuiet = () => !isWoken && leasing.areLeasesValid() && !leasing.isBusy() && isAtRest()
  const isAtRest = () => !dueReader.isReading() && sending.underWay() + writer.pending() === 0

  function proceed() {
    isWoken = false
    try {
      if (!isClosing) {
        dueReader.start()
        sending.pump()
      }
    } catch (error) {
      log('webhook_failed', describeCause(error))
    }
    const over = waiting.filter(one => one.isOver())
    waiting = waiting.filter(one => !over.includes(one))
    for (const { resolve } of over) resolve()
  }

  const until = (isOver: () => boolean) =>
    new Promise<void>(resolve => {
      waiting.push({ isOver, resolve })
      wake()
    })

  const nudge = (partnerIds?: ReadonlySet<string>) => {
    for (const owned of endpoints.all())
      if (!partnerIds || partnerIds.has(owned.partnerId)) endpoints.requestRead(owned)
  }

  const preparing = forgetDead(database).catch(error =>
    log('webhook_dead_not_forgotten', describeCause(error)),
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
      await until(isQuiet)
      nudge()
      await until(isQuiet)
    },
    async close() {
      if (isClosing) return
      isClosing = true
      timers.close()
      const graceEnd = new Promise<void>(resolve => setTimeout(resolve, graceMs).unref())
      const ends = [until(isAtRest), leasing.end(), preparing]
      await Promise.race([Promise.allSettled(ends), graceEnd])
      writer.stop()
      for (const owned of endpoints.all()) endpoints.drop(owned)
      await giveUp(database, owner).catch(error => log('webhook_leases_not_given_up', describeCause(error)))
    },
    inventory: () => ({
      endpoints: endpoints.all().length,
      underWay: sending.underWay(),
      unwritten: writer.pending(),
      timers: timers.count(),
    }),
  }
}
