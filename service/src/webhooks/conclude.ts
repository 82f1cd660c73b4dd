import type { Instant } from '../calendar/calendar.ts'
import { nextTryAt, type Verdict } from './backoff.ts'
import { afterTry } from './breaker.ts'
import { afterVerdict, type Measure } from './health.ts'
import { healthOf, type Item, type Lane } from './lane.ts'
import type { Outage } from './release.ts'
import type { Attempt, Fate, HealthRecord } from './results.ts'

/** What one try means: for the delivery, for what is stored of the endpoint, and for those to be told. */
export type Conclusion = {
  readonly fate: Fate
  /** Whether what is kept of the endpoint has changed. */
  readonly isChanged: boolean
  /** The outage of which this was the end; `undefined` when it was the end of none. */
  readonly outage: Outage | undefined
  readonly measure: Measure
}

/** How long we wait after a fault of our own, the first, the second, and so on. */
const OWN_FAULT_MS: readonly number[] = [1000, 2000, 5000, 10_000, 30_000]

/**
 * Draws the conclusions from the end of a try and takes them over into the lane. `version` is that of the endpoint by
 * which the try began: of one that was changed meanwhile it tells nothing. `limit` is the lane's bound of tries.
 */
export const conclude = (
  lane: Lane,
  item: Item,
  ended: { version: number; verdict: Verdict; last: Attempt; at: Instant; limit: number; random: number },
): Conclusion => {
  const { verdict, last, at, limit } = ended
  if (verdict.kind === 'unspent') waitForOurselves(lane, at)
  else lane.ownFaults = 0
  if (ended.version !== lane.endpoint.version)
    return { fate: fateOf(item, verdict, ended), isChanged: false, outage: undefined, measure: NO_MEASURE }
  const before = healthOf(lane)
  const result = { eventId: item.event_id, verdict, startedAt: last.startedAt, endedAt: at }
  lane.breaker = afterTry(lane.breaker, result, limit)
  const { health, measure } = afterVerdict(lane.health, verdict, at)
  lane.health = health
  if (verdict.kind === 'failed' && verdict.pausedUntil !== undefined)
    lane.pausedUntil = Math.max(lane.pausedUntil ?? 0, verdict.pausedUntil)
  if (verdict.kind === 'delivered') {
    if (lane.pausedUntil !== null && lane.pausedUntil <= at) lane.pausedUntil = null
    lane.acceptedPair = last.pair
    if (last.pair === 'next') lane.nextAcceptedAt ??= at
  }
  return {
    fate: fateOf(item, verdict, ended),
    isChanged: isChanged(before, lane),
    outage:
      before.breaker.open !== null && lane.breaker.open === null
        ? { from: before.failingSince ?? at, to: at }
        : undefined,
    measure,
  }
}

const NO_MEASURE: Measure = { kind: 'none' }

/** The breaker is compared as a whole, since each change makes a new one. */
const isChanged = (before: HealthRecord, lane: Lane): boolean =>
  before.breaker !== lane.breaker ||
  before.failingSince !== lane.health.failingSince ||
  before.notices !== lane.health.notices ||
  before.pausedUntil !== lane.pausedUntil ||
  before.acceptedPair !== lane.acceptedPair ||
  before.nextAcceptedAt !== lane.nextAcceptedAt

/** Keeps a lane closed for a while because of a fault of our own, longer with each in a row. */
export const waitForOurselves = (lane: Lane, at: Instant): void => {
  lane.ownFaultUntil = at + (OWN_FAULT_MS[Math.min(lane.ownFaults, OWN_FAULT_MS.length - 1)] ?? 0)
  lane.ownFaults += 1
}

const fateOf = (item: Item, verdict: Verdict, { at, random }: { at: Instant; random: number }): Fate => {
  if (verdict.kind === 'delivered') return { kind: 'delivered' }
  if (verdict.kind === 'unspent') return { kind: 'unchanged' }
  const attempts = item.attempts + 1
  const dueAt = nextTryAt(attempts, at, random)
  if (dueAt === 'dead') return { kind: 'dead', attempts }
  return { kind: 'later', attempts, dueAt, work: item.work === 'replay' ? 'replay' : 'retry' }
}
