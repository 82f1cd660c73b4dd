import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { readBacklog } from './backlog.ts'
import type { Verdict } from './backoff.ts'
import type { Item } from './lane.ts'
import type { Attempt, Fate } from './results.ts'

/** The numbers of webhook delivery, for Prometheus. */
export type WebhookMetrics = {
  /** Counts the end of one try. */
  note(item: Item, ended: { verdict: Verdict; last: Attempt; fate: Fate }): void
  /** The text that Prometheus reads; asks the database for what waits, and leaves that out when it does not answer. */
  render(): Promise<string>
}

/** How much is counted exactly of what waits at one endpoint: to count a million takes too long. */
const COUNTED = 10_000

/** Sets the numbers up. */
export const webhookMetrics = (context: { database: Database; real: () => Instant }): WebhookMetrics => {
  const registers = [new Registry()]
  const tries = new Counter({
    name: 'webhook_tries_total',
    help: 'Tries that ended, by outcome: delivered, failed, or unspent for a fault of ours',
    labelNames: ['outcome'],
    registers,
  })
  const ends = new Counter({
    name: 'webhook_deliveries_total',
    help: 'Deliveries that ended: delivered or dead',
    labelNames: ['outcome'],
    registers,
  })
  const errors = new Counter({
    name: 'webhook_failures_total',
    help: 'Failed tries by status class or error class',
    labelNames: ['reason'],
    registers,
  })
  const latency = new Histogram({
    name: 'webhook_first_byte_seconds',
    help: 'From the commit of an event to the first byte of its first try',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    registers,
  })
  const duration = new Histogram({
    name: 'webhook_try_seconds',
    help: 'How long tries took',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20],
    registers,
  })
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers })
  // To find the one of a label costs more than to count.
  const outcomes = {
    delivered: tries.labels('delivered'),
    failed: tries.labels('failed'),
    unspent: tries.labels('unspent'),
  }
  const fates = { delivered: ends.labels('delivered'), dead: ends.labels('dead') }
  const waiting = gauge('webhook_waiting', `Deliveries that wait, up to ${COUNTED} of each endpoint`, 'state')
  const oldest = gauge('webhook_oldest_due_seconds', 'Age of the oldest due delivery', 'state')
  const endpoints = gauge('webhook_endpoints', 'Endpoints by state', 'state')

  return {
    note(item, { verdict, last, fate }) {
      const { outcome, startedAt } = last
      const { dnsMs = 0, connectMs = 0, tlsMs = 0, totalMs } = outcome.timings
      outcomes[outcomeOf(verdict)].inc()
      if (fate.kind === 'delivered' || fate.kind === 'dead') fates[fate.kind].inc()
      if (verdict.kind !== 'delivered')
        errors.inc({ reason: outcome.errorClass ?? `${Math.floor(outcome.status / 100)}xx` })
      if (item.attempts === 0 && item.work === 'fresh' && verdict.kind !== 'unspent') {
        latency.observe(Math.max(0, startedAt + dnsMs + connectMs + tlsMs - item.created_at) / 1000)
      }
      duration.observe(totalMs / 1000)
    },
    async render() {
      // Without the database the counters of this process still tell what happens.
      const states = await readBacklog(context.database, { now: context.real(), limit: COUNTED }).catch(
        () => [],
      )
      for (const each of [waiting, oldest, endpoints]) each.reset()
      for (const { state, endpoints: count, waiting: number, oldest_due_at } of states) {
        endpoints.set({ state }, count)
        waiting.set({ state }, number)
        oldest.set({ state }, oldest_due_at === null ? 0 : Math.max(0, context.real() - oldest_due_at) / 1000)
      }
      return registers[0]?.metrics() ?? ''
    },
  }
}

const outcomeOf = (verdict: Verdict): 'delivered' | 'failed' | 'unspent' =>
  verdict.kind === 'delivered' || verdict.kind === 'unspent' ? verdict.kind : 'failed'
