/** When a failing endpoint is reported and when it is disabled, as pure functions. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../calendar/calendar.ts'
import type { Assessment } from './assessment.ts'
import type { Breaker } from './breaker.ts'
import type { Notice } from './notices.ts'

/** How long an endpoint may go without a success before it is disabled. */
export const DISABLE_AFTER = 3 * DAY_MS

/** The times without a success after which partner and operator are notified, once each. */
const NOTICE_AFTER: readonly number[] = [HOUR_MS, DAY_MS, 2 * DAY_MS]

/** How an endpoint has done since its last success; plain data that is stored with the endpoint. */
export type Health = {
  /** When the first attempt after the last success failed; null when none has failed. */
  failingSince: number | null
  /** How many notices have been given since. */
  notices: number
}

/** The health of an endpoint that is new, has just had a success, or was just enabled. */
export function goodHealth(): Health {
  return { failingSince: null, notices: 0 }
}

/** What is to be done about an endpoint. */
export type HealthAction =
  | { kind: 'none' }
  /** Notify that it is failing, and when it will be disabled. */
  | { kind: 'notice'; failingSince: number; disablesAt: number }
  | { kind: 'disable'; because: 'failing' | 'gone' }

/** The health after one more attempt, and what is to be done; a fault of ours changes nothing. */
export function healthAfter(
  health: Health,
  assessment: Assessment,
  at: number,
): { health: Health; action: HealthAction } {
  if (assessment.kind === 'unspent') return { health, action: { kind: 'none' } }
  if (assessment.kind === 'delivered') return { health: goodHealth(), action: { kind: 'none' } }
  if (assessment.kind === 'gone') return { health, action: { kind: 'disable', because: 'gone' } }
  return review({ ...health, failingSince: health.failingSince ?? at }, at)
}

const TOLD_AFTER = 15 * MINUTE_MS

/** What the partner's other endpoints are to be told: its breaker has been open for long, or a success came after that was told. */
export function noticeFor(
  { breaker, failingSince }: Health & { breaker: Breaker },
  { wasReported, isDelivered, now }: { wasReported: boolean; isDelivered: boolean; now: number },
): Notice | undefined {
  if (isDelivered)
    return wasReported ? { eventname: 'webhook_recovered', since: now, reason: 'delivered' } : undefined
  const { open } = breaker
  if (open === null || wasReported || now - open.since < TOLD_AFTER) return undefined
  return { eventname: 'webhook_failing', since: failingSince ?? open.since, reason: open.by }
}

/** What is to be done at this instant without an attempt: time passes even while nothing is due for the endpoint. */
export function review(health: Health, now: number): { health: Health; action: HealthAction } {
  const { failingSince } = health
  if (failingSince === null) return { health, action: { kind: 'none' } }
  const failedFor = now - failingSince
  if (failedFor >= DISABLE_AFTER) return { health, action: { kind: 'disable', because: 'failing' } }
  const due = NOTICE_AFTER.filter(after => failedFor >= after).length
  if (due <= health.notices) return { health, action: { kind: 'none' } }
  return {
    health: { ...health, notices: due },
    action: { kind: 'notice', failingSince, disablesAt: failingSince + DISABLE_AFTER },
  }
}
