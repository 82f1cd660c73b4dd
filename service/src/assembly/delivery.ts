import { type Dispatcher, openDispatcher } from '../webhooks/delivery/dispatcher.ts'
import { webhookMetrics } from '../webhooks/delivery/metrics.ts'
import { createOutgoing } from '../webhooks/egress/outgoing.ts'
import { createResolver } from '../webhooks/egress/resolver.ts'
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
  const { dispatcher, start } = deferDispatcher(() =>
    openDispatcher({ database, directory, outgoing, metrics, real, log }, options.dispatcher),
  )
  return {
    dispatcher,
    metrics: metrics.render,
    start,
    async close() {
      await dispatcher.close()
      await outgoing.close()
      resolver.close()
    },
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
