import type { Instant } from '../../calendar/calendar.ts'
import type { Assessment } from '../endpoint/assessment.ts'
import { nextAttemptAt } from '../endpoint/backoff.ts'
import { afterAttempt } from '../endpoint/breaker.ts'
import { type HealthAction, healthAfter } from '../endpoint/health.ts'
import type { Outage } from '../endpoint/release.ts'
import type { Item, OwnedEndpoint } from './endpoint-queues.ts'
import type { Attempt, Disposition, HealthRecord } from './result.ts'

/** What one attempt means for the delivery, for the stored state of the endpoint, and for the operator's log. */
export type AppliedOutcome = {
  readonly disposition: Disposition
  /** Whether the stored state of the endpoint has changed. */
  readonly isChanged: boolean
  /** The outage that this attempt ended; `undefined` when it ended none. */
  readonly outage: Outage | undefined
  readonly action: HealthAction
}

/** How long an endpoint pauses after the first fault on our side, the second in a row, and so on. */
const OWN_FAULT_MS: readonly number[] = [1000, 2000, 5000, 10_000, 30_000]

/**
 * Applies the outcome of an attempt to the endpoint. `version` is the endpoint's version at the start of the attempt: if
 * the partner changed the endpoint since then, the outcome counts for the delivery only. `limit` is how many attempts may
 * be under way at the endpoint.
 */
export function applyOutcome(
  owned: OwnedEndpoint,
  item: Item,
  ended: {
    version: number
    assessment: Assessment
    last: Attempt
    at: Instant
    limit: number
    random: number
  },
): AppliedOutcome {
  const { assessment, last, at, limit } = ended
  if (assessment.kind === 'unspent') pauseAfterOwnFault(owned, at)
  else owned.ownFaults = 0
  if (ended.version !== owned.endpoint.version)
    return {
      disposition: dispositionOf(item, assessment, ended),
      isChanged: false,
      outage: undefined,
      action: NO_ACTION,
    }
  const before = owned.health
  const { health, action } = healthAfter(before, assessment, at)
  const result = { eventId: item.event_id, assessment, startedAt: last.startedAt, endedAt: at }
  const after = {
    ...before,
    ...health,
    breaker: afterAttempt(before.breaker, result, limit),
    certificateEndsAt: last.outcome.certificateEndsAt ?? before.certificateEndsAt,
  }
  if (assessment.kind === 'failed' && assessment.pausedUntil !== undefined)
    after.pausedUntil = Math.max(after.pausedUntil ?? 0, assessment.pausedUntil)
  if (assessment.kind === 'delivered') {
    if (after.pausedUntil !== null && after.pausedUntil <= at) after.pausedUntil = null
    after.acceptedPair = last.pair
    if (last.pair === 'next') after.nextAcceptedAt ??= at
  }
  owned.health = after
  return {
    disposition: dispositionOf(item, assessment, ended),
    isChanged: isChanged(before, after),
    outage:
      before.breaker.open !== null && after.breaker.open === null
        ? { from: before.failingSince ?? at, to: at }
        : undefined,
    action,
  }
}

const NO_ACTION: HealthAction = { kind: 'none' }

/** The breaker is compared as a whole, since each change makes a new one. */
function isChanged(before: HealthRecord, after: HealthRecord): boolean {
  const names = Object.keys(before) as (keyof HealthRecord)[]
  return names.some(name => before[name] !== after[name])
}

/** Pauses an endpoint after a fault on our side, for longer after each further fault in a row. */
export function pauseAfterOwnFault(owned: OwnedEndpoint, at: Instant): void {
  owned.ownFaultUntil = at + (OWN_FAULT_MS[Math.min(owned.ownFaults, OWN_FAULT_MS.length - 1)] ?? 0)
  owned.ownFaults += 1
}

function dispositionOf(
  item: Item,
  assessment: Assessment,
  { at, random }: { at: Instant; random: number },
): Disposition {
  if (assessment.kind === 'delivered') return { kind: 'delivered' }
  if (assessment.kind === 'unspent') return { kind: 'unchanged' }
  const attempts = item.attempts + 1
  const dueAt = nextAttemptAt(attempts, at, random)
  if (dueAt === 'dead') return { kind: 'dead', attempts }
  return { kind: 'later', attempts, dueAt, queue: item.queue === 'replay' ? 'replay' : 'retry' }
}
