import { cellsOf, inEachCell } from '../db/by-cell.ts'
import { describeCause } from '../log.ts'
import { type Dispatcher, openDispatcher } from '../webhooks/delivery/dispatcher.ts'
import { webhookMetrics } from '../webhooks/delivery/metrics.ts'
import { createOutgoing } from '../webhooks/egress/outgoing.ts'
import { createResolver } from '../webhooks/egress/resolver.ts'
import { ensureAttemptDays } from '../webhooks/log/attempt-days.ts'
import type { Shared } from './shared.ts'

/** The delivery of webhooks. */
export type Delivery = {
  readonly dispatcher: Dispatcher
  readonly metrics: () => Promise<string>
  /** Begins to deliver. */
  start(): void
  /** Lets attempts under way end and writes their results. */
  close(): Promise<void>
}

/** Prepares the delivery of webhooks; nothing is delivered before `start`. */
export function openDelivery({ options, directory }: Shared): Delivery {
  const { deliveryDatabase: database, real, log } = options
  const resolver = createResolver()
  const outgoing = createOutgoing({
    rules: options.webhookRules,
    resolver,
    proxy: options.webhookProxy,
  })
  const metrics = webhookMetrics({ database, real })
  let preparing: Promise<unknown> | undefined
  const { dispatcher, start } = deferDispatcher(() =>
    together(
      cellsOf(database).map(cell =>
        openDispatcher({ database: cell, directory, outgoing, metrics, real, log }, options.dispatcher),
      ),
    ),
  )
  return {
    dispatcher,
    metrics: metrics.render,
    start() {
      start()
      // One cell after the other, because only one node of a cluster makes tables.
      preparing ??= inEachCell(database, cell => ensureAttemptDays(cell, real())).catch(error =>
        log('webhook_days_failed', describeCause(error)),
      )
    },
    async close() {
      await preparing
      await dispatcher.close()
      await outgoing.close()
      resolver.close()
    },
  }
}

/** The dispatchers of all cells as one. */
function together(dispatchers: readonly Dispatcher[]): Dispatcher {
  const [only, other] = dispatchers
  if (only && !other) return only
  const sum = (count: (one: ReturnType<Dispatcher['inventory']>) => number) =>
    dispatchers.reduce((total, one) => total + count(one.inventory()), 0)
  return {
    nudge(partnerIds) {
      for (const one of dispatchers) one.nudge(partnerIds)
    },
    refresh() {
      for (const one of dispatchers) one.refresh()
    },
    idle: async () => void (await Promise.all(dispatchers.map(one => one.idle()))),
    close: async () => void (await Promise.all(dispatchers.map(one => one.close()))),
    inventory: () => ({
      endpoints: sum(one => one.endpoints),
      underWay: sum(one => one.underWay),
      unwritten: sum(one => one.unwritten),
      timers: sum(one => one.timers),
    }),
  }
}

/** A dispatcher that is opened later, or never: until then it holds nothing and sends nothing. */
function deferDispatcher(open: () => Dispatcher): { dispatcher: Dispatcher; start: () => void } {
  let opened: Dispatcher | undefined
  const none = { endpoints: 0, underWay: 0, unwritten: 0, timers: 0 }
  return {
    start: () => {
      opened ??= open()
    },
    dispatcher: {
      nudge: partnerIds => opened?.nudge(partnerIds),
      refresh: () => opened?.refresh(),
      idle: async () => opened?.idle(),
      close: async () => opened?.close(),
      inventory: () => opened?.inventory() ?? none,
    },
  }
}
