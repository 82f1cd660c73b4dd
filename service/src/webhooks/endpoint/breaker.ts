/** The circuit breaker of an endpoint, as pure functions: when it opens, how it probes, and how fast a backlog is sent after it has closed. */
import { MINUTE_MS } from '../../calendar/calendar.ts'
import type { Assessment } from './assessment.ts'

const SECOND = 1000
/** How long the breaker stays open. Each failed probe moves on to the next entry; the last one repeats. */
export const OPEN_FOR: readonly number[] = [
  10 * SECOND,
  30 * SECOND,
  MINUTE_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  15 * MINUTE_MS,
]

const ENDPOINT_FAILURES = 5
const CREDENTIALS_FAILURES = 3
const FAILED_EVENTS = 3

/** The circuit breaker of one endpoint: plain data, stored as JSON. */
export type Breaker = {
  /** Failures in a row that are evidence against the endpoint. */
  endpointInRow: number
  /** 401 and 403 in a row. */
  credentialsInRow: number
  /** Different events that got another 4xx or a redirect since the last success; at most three. */
  failedEvents: readonly string[]
  open: OpenState | null
  /** How many attempts may be in flight while the backlog of an outage is sent; null for no limit by the breaker. */
  window: number | null
}

type OpenState = {
  /** Index into OPEN_FOR. */
  level: number
  until: number
  /** When it opened; probes that fail leave it so. */
  since: number
  /** The rule that opened it. */
  by: 'endpoint' | 'credentials' | 'event'
}

/** An attempt that has ended. */
type AttemptResult = {
  eventId: string
  assessment: Assessment
  startedAt: number
  endedAt: number
}

/** The breaker of a new endpoint: closed. */
export function closedBreaker(): Breaker {
  return { endpointInRow: 0, credentialsInRow: 0, failedEvents: [], open: null, window: null }
}

/** How many more failures would open the breaker, at least one; infinitely many before the first failure of a row. */
export function failuresLeft({ endpointInRow, credentialsInRow }: Breaker): number {
  const ofEndpoint = endpointInRow === 0 ? Number.POSITIVE_INFINITY : ENDPOINT_FAILURES - endpointInRow
  const ofCredentials =
    credentialsInRow === 0 ? Number.POSITIVE_INFINITY : CREDENTIALS_FAILURES - credentialsInRow
  return Math.max(1, Math.min(ofEndpoint, ofCredentials))
}

/** The breaker after one more attempt; `limit` is how many attempts the endpoint may have in flight at most. */
export function afterAttempt(breaker: Breaker, result: AttemptResult, limit: number): Breaker {
  const { assessment } = result
  if (assessment.kind === 'delivered') return afterSuccess(breaker, limit)
  if (assessment.kind !== 'failed') return breaker
  if (breaker.open !== null) return afterProbe(breaker, breaker.open, result)
  const counted = count(breaker, result.eventId, assessment.blame)
  const by = reasonToOpen(counted)
  if (by === undefined) return counted
  return { ...counted, window: null, open: opened(0, by, result.endedAt, result.endedAt) }
}

/**
 * The window starts at one and grows by one with each success, so it doubles with each round trip, until it reaches the
 * endpoint's own limit.
 */
function afterSuccess(breaker: Breaker, limit: number): Breaker {
  if (isUntouched(breaker)) return breaker
  const grown = breaker.open === null ? breaker.window && breaker.window + 1 : 1
  return { ...closedBreaker(), window: grown === null || grown >= limit ? null : grown }
}

function isUntouched({ endpointInRow, credentialsInRow, failedEvents, open, window }: Breaker): boolean {
  return endpointInRow + credentialsInRow + failedEvents.length === 0 && open === null && window === null
}

function afterProbe(
  breaker: Breaker,
  open: OpenState,
  { eventId, assessment, startedAt, endedAt }: AttemptResult,
): Breaker {
  // An attempt that began before the breaker was due for a probe decides nothing.
  if (assessment.kind !== 'failed' || startedAt < open.until) return breaker
  if (assessment.blame === 'event' && open.by !== 'event') {
    // The endpoint answers again and rejects this event only; the breaker closes, so that the others are not delayed.
    return count({ ...closedBreaker(), window: 1 }, eventId, 'event')
  }
  const level = Math.min(open.level + 1, OPEN_FOR.length - 1)
  return { ...breaker, open: opened(level, open.by, endedAt, open.since) }
}

function opened(level: number, by: OpenState['by'], at: number, since: number): OpenState {
  return { level, by, since, until: at + (OPEN_FOR[level] ?? 0) }
}

function count(breaker: Breaker, eventId: string, blame: OpenState['by']): Breaker {
  const isNew = blame === 'event' && !breaker.failedEvents.includes(eventId)
  const isOverloaded = blame === 'endpoint' && breaker.window !== null
  return {
    ...breaker,
    window: isOverloaded ? Math.max(1, Math.floor((breaker.window ?? 1) / 2)) : breaker.window,
    endpointInRow: blame === 'endpoint' ? breaker.endpointInRow + 1 : 0,
    credentialsInRow: blame === 'credentials' ? breaker.credentialsInRow + 1 : 0,
    failedEvents: isNew ? [...breaker.failedEvents, eventId] : breaker.failedEvents,
  }
}

function reasonToOpen(breaker: Breaker): OpenState['by'] | undefined {
  if (breaker.endpointInRow >= ENDPOINT_FAILURES) return 'endpoint'
  if (breaker.credentialsInRow >= CREDENTIALS_FAILURES) return 'credentials'
  if (breaker.failedEvents.length >= FAILED_EVENTS) return 'event'
  return undefined
}
