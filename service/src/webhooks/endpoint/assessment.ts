/** What an outcome means for its delivery and its endpoint (contract §10). */
import { DAY_MS } from '../../calendar/calendar.ts'
import { type AttemptOutcome, isOwnFault, type OwnFault } from '../egress/outcome.ts'

const SECOND = 1000
const MAX_PAUSE = DAY_MS

/**
 * What a failed attempt is evidence against. `endpoint`: the endpoint as a whole (no connection, TLS, time-out, 408,
 * 425, 5xx); `credentials`: 401 or 403, or a token endpoint
 * that refuses what we present; `event`: any other answer, which may concern this one event only.
 */
export type Blame = 'endpoint' | 'credentials' | 'event'

/** What one outcome means for its delivery and its endpoint. */
export type Assessment =
  /** A 2xx: the event is delivered. */
  | { kind: 'delivered' }
  /** The attempt is spent. With `pausedUntil`, the endpoint asked for nothing at all to be sent before that time. */
  | { kind: 'failed'; blame: Blame; pausedUntil?: number }
  /** A 410: the attempt is spent, and the endpoint is to be disabled. */
  | { kind: 'gone' }
  /** A fault of ours: the attempt is not spent and is no evidence against the endpoint. */
  | { kind: 'unspent'; fault: OwnFault }

/** Judges an outcome by the table of contract §10. */
export function assess(outcome: AttemptOutcome, now: number): Assessment {
  if (outcome.errorClass !== undefined) {
    if (isOwnFault(outcome.errorClass)) return { kind: 'unspent', fault: outcome.errorClass }
    return { kind: 'failed', blame: outcome.errorClass === 'token_refused' ? 'credentials' : 'endpoint' }
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

/** When a Retry-After allows the next attempt, at most 24 h from now; `undefined` when it is missing, past or malformed. */
function pauseEnd(retryAfter: string | undefined, now: number): number | undefined {
  const text = retryAfter?.trim() ?? ''
  let until = Number.NaN
  if (/^\d+(\.\d+)?(e\+?\d+)?$/i.test(text)) until = now + Number(text) * SECOND
  else if (/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) until = Date.parse(inGmt(text))
  if (!(until > now)) return undefined
  return Math.min(Math.ceil(until), now + MAX_PAUSE)
}

/** The oldest of the three forms of an HTTP date names no zone, and `Date.parse` would read it in this machine's zone. */
function inGmt(date: string): string {
  return /:\d\d \d{4}$/.test(date) ? `${date} GMT` : date
}
