import type { Instant } from '../../calendar/calendar.ts'
import type { Assessment } from '../endpoint/assessment.ts'
import { nextAttemptAt } from '../endpoint/backoff.ts'
import { afterAttempt } from '../endpoint/breaker.ts'
import { type HealthAction, healthAfter } from '../endpoint/health.ts'
import type { Outage } from '../endpoint/release.ts'
import { healthOf, type Item, type OwnedEndpoint } from './owned-endpoint.ts'
import type { Attempt, Disposition, HealthRecord } from './result.ts'

/** What one attempt means for the delivery, for the stored state of the endpoint, and for the operator's log. */
export type AppliedOutcome = {
  readonly disposition: Disposition
  /** Whether the stored state of the endpoint has changed. */
  readonly isChanged: boolean
  /** The outage of which this was the end; `undefined` when it was the end of none. */
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
  const before = healthOf(owned)
  const result = { eventId: item.event_id, assessment, startedAt: last.startedAt, endedAt: at }
  owned.breaker = afterAttempt(owned.breaker, result, limit)
  owned.certificateEndsAt = last.outcome.certificateEndsAt ?? owned.certificateEndsAt
  const { health, action } = healthAfter(owned.health, assessment, at)
  owned.health = health
  if (assessment.kind === 'failed' && assessment.pausedUntil !== undefined)
    owned.pausedUntil = Math.max(owned.pausedUntil ?? 0, assessment.pausedUntil)
  if (assessment.kind === 'delivered') {
    if (owned.pausedUntil !== null && owned.pausedUntil <= at) owned.pausedUntil = null
    owned.acceptedPair = last.pair
    if (last.pair === 'next') owned.nextAcceptedAt ??= at
  }
  return {
    disposition: dispositionOf(item, assessment, ended),
    isChanged: isChanged(before, owned),
    outage:
      before.breaker.open !== null && owned.breaker.open === null
        ? { from: before.failingSince ?? at, to: at }
        : undefined,
    action,
  }
}

const NO_ACTION: HealthAction = { kind: 'none' }

/** The breaker is compared as a whole, since each change makes a new one. */
function isChanged(before: HealthRecord, owned: OwnedEndpoint): boolean {
  return (
    before.breaker !== owned.breaker ||
    before.failingSince !== owned.health.failingSince ||
    before.notices !== owned.health.notices ||
    before.pausedUntil !== owned.pausedUntil ||
    before.acceptedPair !== owned.acceptedPair ||
    before.nextAcceptedAt !== owned.nextAcceptedAt ||
    before.certificateEndsAt !== owned.certificateEndsAt
  )
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
