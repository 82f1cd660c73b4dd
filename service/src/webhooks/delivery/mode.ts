import type { Instant } from '../../calendar/calendar.ts'
import { failuresLeft } from '../endpoint/breaker.ts'
import type { HealthRecord } from './result.ts'

/**
 * What this process may do at an endpoint that it owns. Only `leaving` and `releasing` are entered by a call; every other
 * mode follows from the endpoint's state and the time, so that no timer has to fire for it to be true.
 *
 *     lease taken ──> serving ──failures in a row──> waiting <──not accepted──── probing
 *                     │  ^  ^                          ^  └──────time is over─────> │
 *             nothing │  │  │ as many attempts         │                            │ accepted
 *      accepted yet,  │  │  │ as before the outage     │ failures in a row          v
 *          a failure  v  │  └──────────────────── recovering <────written──── releasing
 *                  proving
 *
 * Retry-After and faults on our side lead to `waiting` from every mode, and back. `leaving` may begin at any time and
 * has no way back: the process that takes the endpoint next, which may be this one, begins with `lease taken`.
 */
type Mode =
  /** No more attempts: the lease is given up once nothing is under way. */
  | { readonly kind: 'leaving' }
  /** No attempts while the deliveries that an outage delayed are put in order. */
  | { readonly kind: 'releasing' }
  /** No attempts before this time. */
  | { readonly kind: 'waiting'; readonly until: Instant }
  /** One attempt, of the oldest due delivery, shows whether the endpoint answers again. */
  | { readonly kind: 'probing' }
  /** It has never accepted anything and has failed: at most as many attempts at a time as open its breaker by failing. */
  | { readonly kind: 'proving'; readonly room: number }
  /** After an outage: the number of attempts at a time grows with each success. */
  | { readonly kind: 'recovering'; readonly room: number }
  | { readonly kind: 'serving' }

/** The state that the mode follows from. */
export type ModeState = {
  phase: 'sending' | 'releasing' | 'leaving'
  readonly health: Pick<HealthRecord, 'breaker' | 'pausedUntil' | 'acceptedPair'>
  /** Until when we wait because of faults on our side. */
  readonly ownFaultUntil: Instant
}

/** The mode of an endpoint at this instant. */
export function modeOf(state: ModeState, now: Instant): Mode {
  if (state.phase !== 'sending') return { kind: state.phase }
  const { breaker, pausedUntil, acceptedPair } = state.health
  const until = Math.max(state.ownFaultUntil, pausedUntil ?? 0, breaker.open?.until ?? 0)
  if (until > now) return { kind: 'waiting', until }
  if (breaker.open !== null) return { kind: 'probing' }
  const left = acceptedPair === null ? failuresLeft(breaker) : Number.POSITIVE_INFINITY
  const window = breaker.window ?? Number.POSITIVE_INFINITY
  if (left < Number.POSITIVE_INFINITY) return { kind: 'proving', room: Math.min(left, window) }
  return breaker.window === null ? { kind: 'serving' } : { kind: 'recovering', room: window }
}

/** How many attempts may be under way at the endpoint now, `limit` being its own bound. */
export function roomIn(state: ModeState, limit: number, now: Instant): number {
  const mode = modeOf(state, now)
  switch (mode.kind) {
    case 'leaving':
    case 'releasing':
    case 'waiting':
      return 0
    case 'probing':
      return Math.min(1, limit)
    case 'serving':
      return limit
    default:
      return Math.min(mode.room, limit)
  }
}

/** Starts no more attempts at the endpoint, for good. */
export function beginLeaving(state: ModeState): void {
  state.phase = 'leaving'
}

/** Starts no attempts until `endRelease`; changes nothing for an endpoint that is being left. */
export function beginRelease(state: ModeState): void {
  if (state.phase === 'sending') state.phase = 'releasing'
}

/** The delayed deliveries are in order: attempts may go on, unless the endpoint was left meanwhile. */
export function endRelease(state: ModeState): void {
  if (state.phase === 'releasing') state.phase = 'sending'
}
