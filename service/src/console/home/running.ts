import { MINUTE_MS, type Zone } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { listClocks } from '../../partners/store.ts'
import { earliestDue } from '../../schedule/due.ts'
import { readBacklog } from '../../webhooks/delivery/backlog.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { when } from '../views/parts.ts'
import { type RunningInstallation, readInstallation } from './store.ts'

/** Deliveries and due changes take seconds: what waits for longer shows that something stands still. */
const LATE_MS = 2 * MINUTE_MS

/** One line: whether deliveries and due changes run, and how late they are. `/metrics` of the service has the rest. */
export async function runningLine({ context, zone }: OperatorVisit): Promise<Html> {
  const { database, clock, real } = context
  const now = real()
  const [installation, clocks, backlog] = await Promise.all([
    readInstallation(database),
    listClocks(database),
    readBacklog(database, { now, limit: 1 }),
  ])
  const partners = clocks.map(one => ({ partnerId: one.partnerId, now: clock.now(one) }))
  const nows = new Map(partners.map(one => [one.partnerId, one.now]))
  const due = await earliestDue(database, partners)
  return describeRunning({
    ...installation,
    zone,
    dueMs: Math.max(0, ...due.map(({ partnerId, dueAt }) => (nows.get(partnerId) ?? 0) - dueAt)),
    webhookMs: now - (backlog.find(({ state }) => state === 'ok')?.oldest_due_at ?? now),
  })
}

/** The line for how late the earliest due change is, and the oldest webhook that waits at a healthy endpoint. */
export function describeRunning(
  running: RunningInstallation & { readonly dueMs: number; readonly webhookMs: number; readonly zone: Zone },
): Html {
  const { processes, quiet_since, dueMs, webhookMs, zone } = running
  if (quiet_since !== null)
    return bad(
      html`This copy is quiet since ${when(
        quiet_since,
        zone,
      )}: it sends no webhooks, applies no due changes and refuses writes.`,
    )
  if (processes === 0)
    return bad('No process sends webhooks or applies due changes: the service does not run.')
  const count = processes === 1 ? 'one process' : `${processes} processes`
  const text = `The service runs (${count}): due changes ${lateness(dueMs)}, webhooks to healthy endpoints ${lateness(webhookMs)}.`
  return Math.max(dueMs, webhookMs) > LATE_MS ? bad(text) : html`<p class="hint">${text}</p>`
}

function bad(text: Slot): Html {
  return html`<p class="notice bad" role="status">${text}</p>`
}

function lateness(ms: number): string {
  return ms > LATE_MS ? `are ${Math.round(ms / MINUTE_MS)} minutes late` : 'are on time'
}
