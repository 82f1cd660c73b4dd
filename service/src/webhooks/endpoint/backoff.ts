/** When the next attempt is due (contract §10). */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../calendar/calendar.ts'

const SECOND = 1000

/** How long each attempt waits after the previous one; a delivery has as many attempts as there are entries. */
export const ATTEMPT_DELAYS: readonly number[] = [
  0,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  DAY_MS,
]

const JITTER = 0.2

/**
 * When the next attempt is due after `attemptsSpent` attempts, or `dead` when none is left. `random` is a number from 0
 * to 1 that spreads the delay over ±20 %.
 */
export function nextAttemptAt(attemptsSpent: number, now: number, random: number): number | 'dead' {
  const delay = ATTEMPT_DELAYS[attemptsSpent]
  if (delay === undefined) return 'dead'
  return now + Math.round(delay * (1 - JITTER + 2 * JITTER * random))
}

/** The most attempts that a delivery can have spent within `ms`. */
export function mostAttemptsWithin(ms: number): number {
  let spent = 0
  let earliest = 0
  for (const delay of ATTEMPT_DELAYS) {
    earliest += delay * (1 - JITTER)
    if (earliest > ms) break
    spent += 1
  }
  return spent
}
