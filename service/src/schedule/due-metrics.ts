import { Gauge, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import { openLastRead } from '../db/last-read.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { earliestDue } from './due.ts'

/**
 * The metric of due changes: how late the earliest change is that should have been applied by now. While the
 * database is away, the lag is computed from the plan that was read last, so it keeps growing.
 */
export function dueMetrics(context: {
  database: Database
  clock: Clock
  partners: () => Promise<Clocked[]>
}): () => Promise<string> {
  const { database, clock } = context
  const registry = new Registry()
  const lag = new Gauge({
    name: 'due_changes_lag_seconds',
    help: 'How late the earliest change is that is due and not yet applied; 0 when none is',
    registers: [registry],
  })
  const read = openLastRead(
    async () => {
      const partners = await context.partners()
      const byId = new Map(partners.map(partner => [partner.partnerId, partner]))
      const due = await earliestDue(
        database,
        partners.map(partner => ({ partnerId: partner.partnerId, now: clock.now(partner) })),
      )
      return due.flatMap(({ partnerId, dueAt }) => {
        const partner = byId.get(partnerId)
        return partner ? [{ partner, dueAt }] : []
      })
    },
    [] as { partner: Clocked; dueAt: number }[],
  )
  return async () => {
    const { value } = await read()
    const lags = value.map(({ partner, dueAt }) => clock.now(partner) - dueAt)
    lag.set(Math.max(0, ...lags) / 1000)
    return registry.metrics()
  }
}

/** The fields that are known of every partner, also of one whose key cannot be opened and whose due changes wait for it. */
type Clocked = Pick<Partner, 'partnerId' | 'clockOffsetMs'>
