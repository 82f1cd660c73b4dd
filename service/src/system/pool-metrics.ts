import { Counter, Gauge, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import { openLastRead } from '../db/last-read.ts'
import { sql } from '../db/sql.ts'

/** The metrics of the database's connection pools. */
type PoolMetrics = {
  /** Samples the pools; called ten times a second, so that changes between two scrapes count too. */
  sample(): void
  /** Asks the database whether it answers, and returns the metrics as Prometheus text. */
  render(): Promise<string>
}

/** Opens the metrics of these pools; the key of a pool becomes its label `pool`. */
export function poolMetrics(pools: Readonly<Record<string, Database>>): PoolMetrics {
  const registry = new Registry()
  const registers = [registry]
  const labelNames = ['pool']
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers })
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers })
  const up = new Gauge({ name: 'database_up', help: '1 where the database answers, else 0', registers })
  const most = gauge('database_pool_size', 'The most connections of a pool')
  const busy = gauge('database_pool_busy', 'Connections that are busy')
  const waiting = gauge('database_pool_waiting', 'Transactions and statements that wait for a connection')
  const busySeconds = counter(
    'database_pool_busy_seconds_total',
    'Busy time, summed over connections; sampled ten times a second',
  )
  const waitSeconds = counter(
    'database_pool_wait_seconds_total',
    'Time for which connections were waited for, summed; sampled ten times a second',
  )
  const each = Object.entries(pools).map(([pool, database]) => ({
    database,
    most: most.labels(pool),
    busy: busy.labels(pool),
    waiting: waiting.labels(pool),
    busySeconds: busySeconds.labels(pool),
    waitSeconds: waitSeconds.labels(pool),
    sums: { busy: 0, waiting: 0 },
  }))
  // Prometheus sees an increase only from a value that it has scraped, so counters start at zero instead of
  // missing.
  for (const one of each) {
    one.busySeconds.inc(0)
    one.waitSeconds.inc(0)
  }
  const answers = each.map(({ database }) =>
    openLastRead(() => database.query(sql`select 1 as one`), [] as unknown[]),
  )
  let sampledAt = performance.now()
  return {
    sample() {
      const now = performance.now()
      const passed = (now - sampledAt) / 1000
      sampledAt = now
      for (const { database, sums } of each) {
        const use = database.use()
        sums.busy += use.busy * passed
        sums.waiting += use.waiting * passed
      }
    },
    async render() {
      // One pool may fail to answer only because it is full, so the database counts as up when any pool answers.
      const answered = await Promise.all(answers.map(ask => ask()))
      up.set(answered.some(({ isFresh }) => isFresh) ? 1 : 0)
      for (const one of each) {
        const use = one.database.use()
        one.most.set(use.most)
        one.busy.set(use.busy)
        one.waiting.set(use.waiting)
        one.busySeconds.inc(one.sums.busy)
        one.waitSeconds.inc(one.sums.waiting)
        one.sums.busy = 0
        one.sums.waiting = 0
      }
      return registry.metrics()
    },
  }
}
