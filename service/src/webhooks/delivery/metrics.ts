import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { openLastRead } from '../../db/last-read.ts'
import type { Assessment, Disposition } from '../endpoint/verdict.ts'
import type { Attempt, Sendable } from './attempt.ts'
import { type Backlog, certificateEnds, endpointStates, readBacklog, readCertificates } from './backlog.ts'

/** The numbers of webhook delivery, for Prometheus. */
export type WebhookMetrics = {
  /** Counts one attempt that has ended. */
  note(
    item: Pick<Sendable, 'attempts' | 'queue' | 'created_at'>,
    ended: { assessment: Assessment; last: Attempt; disposition: Disposition },
  ): void
  /**
   * The text that Prometheus reads. It asks the database for the backlog; while the database does not answer, it
   * repeats the last backlog with its age.
   */
  render(): Promise<string>
}

/** Up to how many waiting deliveries of an endpoint are counted exactly: counting a million takes too long. */
const COUNTED = 10_000

/**
 * The usual reasons are reported as zero from the start, so that the first failure shows as an increase; rarer ones
 * appear when they happen.
 */
const commonReasons = ['4xx', '5xx', 'connect', 'dns', 'reset', 'timeout', 'tls']

/** Sets the numbers up. */
export function webhookMetrics(context: { database: Database; real: () => Instant }): WebhookMetrics {
  const registry = new Registry()
  const registers = [registry]
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts that ended, by outcome: delivered, failed, or unspent for a fault of ours',
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
    help: 'Failed attempts by status class or error class',
    labelNames: ['reason'],
    registers,
  })
  const latency = new Histogram({
    name: 'webhook_first_byte_seconds',
    help: 'From the commit of an event to the first byte of its first attempt',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    registers,
  })
  const duration = new Histogram({
    name: 'webhook_attempt_seconds',
    help: 'How long attempts took',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20],
    registers,
  })
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers })
  for (const outcome of ['delivered', 'failed', 'unspent']) attempts.inc({ outcome }, 0)
  for (const outcome of ['delivered', 'dead']) ends.inc({ outcome }, 0)
  for (const reason of commonReasons) errors.inc({ reason }, 0)
  const waiting = gauge('webhook_waiting', `Deliveries that wait, up to ${COUNTED} of each endpoint`, 'state')
  const oldest = gauge('webhook_oldest_due_seconds', 'Age of the oldest due delivery', 'state')
  const dead = gauge(
    'webhook_dead',
    `Deliveries that were given up, up to ${COUNTED} of each endpoint`,
    'state',
  )
  const endpoints = gauge('webhook_endpoints', 'Endpoints by state', 'state')
  const certificates = gauge(
    'webhook_certificates',
    'Certificates of endpoints by when they end, as seen at the last connection',
    'ends',
  )
  const { database, real } = context
  const backlog = openLastRead(() => readBacklog(database, { now: real(), limit: COUNTED }), [] as Backlog[])
  const expiries = openLastRead(() => readCertificates(database, real()), new Map<string, number>())

  return {
    note(item, { assessment, last, disposition }) {
      const { outcome, startedAt } = last
      const { dnsMs = 0, connectMs = 0, tlsMs = 0, totalMs } = outcome.timings
      attempts.inc({ outcome: outcomeOf(assessment) })
      if (disposition.kind === 'delivered' || disposition.kind === 'dead')
        ends.inc({ outcome: disposition.kind })
      if (assessment.kind !== 'delivered')
        errors.inc({ reason: outcome.errorClass ?? `${Math.floor(outcome.status / 100)}xx` })
      if (item.attempts === 0 && item.queue === 'fresh' && assessment.kind !== 'unspent') {
        latency.observe(Math.max(0, startedAt + dnsMs + connectMs + tlsMs - item.created_at) / 1000)
      }
      duration.observe(totalMs / 1000)
    },
    async render() {
      const [states, ending] = await Promise.all([backlog(), expiries()])
      for (const state of endpointStates) {
        const found = states.value.find(one => one.state === state)
        const oldestDueAt = found?.oldest_due_at ?? null
        endpoints.set({ state }, found?.endpoints ?? 0)
        waiting.set({ state }, found?.waiting ?? 0)
        dead.set({ state }, found?.dead ?? 0)
        oldest.set({ state }, oldestDueAt === null ? 0 : Math.max(0, real() - oldestDueAt) / 1000)
      }
      for (const when of certificateEnds) certificates.set({ ends: when }, ending.value.get(when) ?? 0)
      return registry.metrics()
    },
  }
}

function outcomeOf(assessment: Assessment): 'delivered' | 'failed' | 'unspent' {
  return assessment.kind === 'delivered' || assessment.kind === 'unspent' ? assessment.kind : 'failed'
}
