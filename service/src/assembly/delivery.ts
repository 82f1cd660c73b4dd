import { inEachCell } from '../db/by-cell.ts'
import { describeCause } from '../log.ts'
import { repeatedly } from '../schedule/repeatedly.ts'
import { type Dispatcher, openDispatcher } from '../webhooks/delivery/dispatcher.ts'
import { webhookMetrics } from '../webhooks/delivery/metrics.ts'
import { createOutgoing } from '../webhooks/egress/outgoing.ts'
import { createResolver } from '../webhooks/egress/resolver.ts'
import { ensureAttemptDays } from '../webhooks/log/attempt-days.ts'
import type { ServiceOptions } from './options.ts'
import type { Shared } from './shared.ts'

/** The delivery of webhooks. */
export type Delivery = {
  readonly dispatcher: Dispatcher
  readonly metrics: () => Promise<string>
  /** Begins to deliver. */
  start(): void
  /** Begins no further attempts at what other processes can deliver. */
  drain(): void
  /** Lets attempts under way end and writes their results. */
  close(): Promise<void>
}

/** How often it is looked for cells that were made meanwhile: each needs a dispatcher. */
const LOOK_EVERY_MS = 5000

type Needed = Pick<Shared, 'directory'> & {
  readonly options: Pick<
    ServiceOptions,
    'deliveryDatabase' | 'real' | 'log' | 'webhookRules' | 'webhookProxy' | 'dispatcher'
  >
}

/** Prepares the delivery of webhooks; nothing is delivered before `start`. */
export function openDelivery({ options, directory }: Needed): Delivery {
  const { deliveryDatabase: database, real, log } = options
  const resolver = createResolver()
  const outgoing = createOutgoing({
    rules: options.webhookRules,
    resolver,
    proxy: options.webhookProxy,
  })
  const metrics = webhookMetrics({ database, real })
  let preparing: Promise<unknown> | undefined
  let isDraining = false
  const dispatchers = new Map<string, Dispatcher>()
  const openMissing = () => {
    for (const cell of database.cells()) {
      if (dispatchers.has(cell.cell)) continue
      const context = { database: cell, directory, outgoing, metrics, real, log }
      dispatchers.set(cell.cell, openDispatcher(context, options.dispatcher))
      if (isDraining) dispatchers.get(cell.cell)?.drain()
    }
  }
  const looking = repeatedly(LOOK_EVERY_MS, async () => {
    openMissing()
    return LOOK_EVERY_MS
  })
  const dispatcher = together(dispatchers)
  return {
    dispatcher,
    metrics: metrics.render,
    start() {
      openMissing()
      looking.start()
      preparing ??= inEachCell(database, cell => ensureAttemptDays(cell, real())).catch(error =>
        log('webhook_days_failed', describeCause(error)),
      )
    },
    drain() {
      isDraining = true
      dispatcher.drain()
    },
    async close() {
      await looking.close()
      await preparing
      await dispatcher.close()
      await outgoing.close()
      resolver.close()
    },
  }
}

/** The dispatchers of all cells as one. Before there are any it holds nothing and sends nothing. */
function together(dispatchers: ReadonlyMap<string, Dispatcher>): Dispatcher {
  const all = () => [...dispatchers.values()]
  const sum = (count: (one: ReturnType<Dispatcher['inventory']>) => number) =>
    all().reduce((total, one) => total + count(one.inventory()), 0)
  return {
    nudge(partnerIds) {
      for (const one of dispatchers.values()) one.nudge(partnerIds)
    },
    refresh() {
      for (const one of dispatchers.values()) one.refresh()
    },
    drain() {
      for (const one of dispatchers.values()) one.drain()
    },
    idle: async () => void (await Promise.all(all().map(one => one.idle()))),
    close: async () => void (await Promise.all(all().map(one => one.close()))),
    inventory: () => ({
      endpoints: sum(one => one.endpoints),
      underWay: sum(one => one.underWay),
      unwritten: sum(one => one.unwritten),
      timers: sum(one => one.timers),
    }),
  }
}
