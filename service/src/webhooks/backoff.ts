import { isOwnFault, type Outcome, type OwnFault } from './outcome.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long each try waits after the one before; a delivery has as many tries as there are entries. */
export const TRY_DELAYS: readonly number[] = [
  0,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
]

const JITTER = 0.2
const MAX_PAUSE = 24 * HOUR

/**
 * When the next try is due after so many that were spent, or `dead` when none is left.
 * `random` is a number from 0 to 1 that spreads the delay over ±20 %.
 */
export function nextTryAt(triesSpent: number, now: number, random: number): number | 'dead' {
  const delay = TRY_DELAYS[triesSpent]
  if (delay === undefined) return 'dead'
  return now + Math.round(delay * (1 - JITTER + 2 * JITTER * random))
}

/** How many tries a delivery may have spent at most when all of them fell into a time so long. */
export function mostTriesWithin(ms: number): number {
  let spent = 0
  let earliest = 0
  for (const delay of TRY_DELAYS) {
    earliest += delay * (1 - JITTER)
    if (earliest > ms) break
    spent += 1
  }
  return spent
}

/**
 * Whom a failed try speaks about. `endpoint`: the endpoint as a whole (no connection, TLS, time-out, 408, 425, 5xx);
 * `credentials`: 401 or 403; `event`: any other answer, which may be about this one event only.
 */
export type Blame = 'endpoint' | 'credentials' | 'event'

/** What one outcome means for its delivery and its endpoint. */
export type Verdict =
  /** A 2xx: done. */
  | { kind: 'delivered' }
  /** The try is spent. With `pausedUntil`, the endpoint asked that nothing at all is sent before. */
  | { kind: 'failed'; blame: Blame; pausedUntil?: number }
  /** A 410: the try is spent, and the endpoint is to be disabled. */
  | { kind: 'gone' }
  /** A fault of ours: the try is not spent and says nothing about the endpoint. */
  | { kind: 'unspent'; fault: OwnFault }

/** What becomes of a delivery after this outcome, by the table of contract §10. */
export function judge(outcome: Outcome, now: number): Verdict {
  if (outcome.errorClass !== undefined) {
    if (isOwnFault(outcome.errorClass)) return { kind: 'unspent', fault: outcome.errorClass }
    return { kind: 'failed', blame: 'endpoint' }
  }
  const { status, retryAfter } = outcome
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone' }
  const pausedUntil = status === 429 || status === 503 ? pauseEnd(retryAfter, now) : undefined
  return { kind: 'failed', blame: blameOf(status), ...(pausedUntil !== undefined && { pausedUntil }) }
}

function blameOf(status: number): Blame {
  if (status === 401 || status === 403) return 'credentials'
  return status === 408 || status === 425 || status >= 500 ? 'endpoint' : 'event'
}

/** When a Retry-After lets us come back, 24 h from now at most; `undefined` for none, a past one and garbage. */
function pauseEnd(retryAfter: string | undefined, now: number): number | undefined {
  const text = retryAfter?.trim() ?? ''
  let until = Number.NaN
  if (/^\d+(\.\d+)?(e\+?\d+)?$/i.test(text)) until = now + Number(text) * SECOND
  else if (/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) until = Date.parse(inGmt(text))
  if (!(until > now)) return undefined
  return Math.min(Math.ceil(until), now + MAX_PAUSE)
}

/** The oldest of the three forms of an HTTP date names no zone; `Date.parse` would take it for this machine's. */
const inGmt = (date: string): string => (/:\d\d \d{4}$/.test(date) ? `${date} GMT` : date)
