/**
 * What the outcome of an attempt means (contract §10), as pure functions: for the delivery, when it is tried again; for the
 * endpoint, whether its breaker opens, when others are told that it fails, and when it is disabled. `judge` applies all of
 * it to the stored health of the endpoint; `modeOf` says what that health allows now.
 */
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../calendar/calendar.ts'
import { type AttemptOutcome, isOwnFault, type OwnFault } from '../egress/outcome.ts'
import type { QueueKind } from '../log/deliveries.ts'

const SECOND = 1000

/** Which of two sets of credentials an attempt used. */
export type Pair = 'current' | 'next'

/** What the service has learned about an endpoint, and must not lose in a restart. */
export type HealthRecord = {
  /** Each write raises it, so that a process notices what another one wrote. */
  readonly revision: number
  readonly breaker: Breaker
  readonly failingSince: Instant | undefined
  readonly notices: number
  /** Until when the receiver asked us to wait. */
  readonly pausedUntil: Instant | undefined
  /** The credentials that the endpoint last accepted; absent while it has accepted nothing. */
  readonly acceptedPair: Pair | undefined
  readonly nextAcceptedAt: Instant | undefined
  /** When its certificate expires, as seen at the last connection. */
  readonly certificateEndsAt: Instant | undefined
}

/** The health of an endpoint whose past says nothing any more, but for which credentials it has accepted. It gets attempts at a growing rate. */
export function beginningAnew(health: HealthRecord): HealthRecord {
  return {
    ...health,
    breaker: { ...closedBreaker(), window: 1 },
    failingSince: undefined,
    notices: 0,
    pausedUntil: undefined,
    certificateEndsAt: undefined,
  }
}

/** What the partner's other endpoints are told about one (contract §10): since when, and why. */
export type Notice = {
  readonly eventname: 'webhook_failing' | 'webhook_disabled' | 'webhook_recovered'
  readonly since: Instant
  readonly reason: string
}

/** An outage: from the first failure to the answer that ended it. */
export type Outage = { readonly from: Instant; readonly to: Instant }

// What the outcome of an attempt says, and about whom.

/** The longest pause that an endpoint can ask for. */
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

// When a delivery is tried again.

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

// The circuit breaker: when it opens, how it probes, and how fast a backlog is sent after it has closed.

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
  readonly eventId: string
  readonly assessment: Assessment
  readonly startedAt: Instant
  readonly endedAt: Instant
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

// When a failing endpoint is reported and when it is disabled.

/** How long an endpoint may go without a success before it is disabled. */
export const DISABLE_AFTER = 3 * DAY_MS

/** The times without a success after which partner and operator are notified, once each. */
const NOTICE_AFTER: readonly number[] = [HOUR_MS, DAY_MS, 2 * DAY_MS]

/** How an endpoint has done since its last success; plain data that is stored with the endpoint. */
export type Health = {
  /** When the first attempt after the last success failed; absent when none has failed. */
  failingSince: Instant | undefined
  /** How many notices have been given since. */
  notices: number
}

/** The health of an endpoint that is new, has just had a success, or was just enabled. */
export function goodHealth(): Health {
  return { failingSince: undefined, notices: 0 }
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
  return reviewHealth({ ...health, failingSince: health.failingSince ?? at }, at)
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
export function reviewHealth(health: Health, now: number): { health: Health; action: HealthAction } {
  const { failingSince } = health
  if (failingSince === undefined) return { health, action: { kind: 'none' } }
  const failedFor = now - failingSince
  if (failedFor >= DISABLE_AFTER) return { health, action: { kind: 'disable', because: 'failing' } }
  const due = NOTICE_AFTER.filter(after => failedFor >= after).length
  if (due <= health.notices) return { health, action: { kind: 'none' } }
  return {
    health: { ...health, notices: due },
    action: { kind: 'notice', failingSince, disablesAt: failingSince + DISABLE_AFTER },
  }
}

// All of it together.

/** An attempt as its endpoint is judged by it. */
export type EndedAttempt = AttemptResult & {
  readonly pair: Pair
  readonly certificateEndsAt: Instant | undefined
}

/** What an attempt means for its endpoint. */
export type Verdict = {
  readonly health: HealthRecord
  /** Whether that is another health than before. */
  readonly isChanged: boolean
  /** The outage that this attempt ended; `undefined` when it ended none. */
  readonly outage: Outage | undefined
  readonly action: HealthAction
}

/** Judges an endpoint by one more attempt; `limit` is how many attempts may be under way there at most. */
export function judge(before: HealthRecord, ended: EndedAttempt, limit: number): Verdict {
  const { assessment, endedAt: at } = ended
  const { health, action } = healthAfter(before, assessment, at)
  const breaker = afterAttempt(before.breaker, ended, limit)
  let { pausedUntil, acceptedPair, nextAcceptedAt } = before
  if (assessment.kind === 'failed' && assessment.pausedUntil !== undefined)
    pausedUntil = Math.max(pausedUntil ?? 0, assessment.pausedUntil)
  if (assessment.kind === 'delivered') {
    if (pausedUntil !== undefined && pausedUntil <= at) pausedUntil = undefined
    acceptedPair = ended.pair
    if (ended.pair === 'next') nextAcceptedAt ??= at
  }
  const certificateEndsAt = ended.certificateEndsAt ?? before.certificateEndsAt
  const after = {
    ...before,
    ...health,
    breaker,
    pausedUntil,
    acceptedPair,
    nextAcceptedAt,
    certificateEndsAt,
  }
  const isOver = before.breaker.open !== null && breaker.open === null
  return {
    health: after,
    // The breaker is compared as a whole, since each change makes a new one.
    isChanged: (Object.keys(after) as (keyof HealthRecord)[]).some(name => before[name] !== after[name]),
    outage: isOver ? { from: before.failingSince ?? at, to: at } : undefined,
    action,
  }
}

/** What happens to a delivery after an attempt. */
export type Disposition =
  | { readonly kind: 'delivered' }
  /** Another attempt at `dueAt`; `attempts` are spent. */
  | { readonly kind: 'later'; readonly attempts: number; readonly dueAt: Instant; readonly queue: QueueKind }
  | { readonly kind: 'dead'; readonly attempts: number }
  /** The attempt does not count: the delivery is due again as it was. */
  | { readonly kind: 'unchanged' }

/** What an attempt means for the delivery; `random` spreads the time of the next attempt. */
export function dispositionOf(
  delivery: { readonly attempts: number; readonly queue: QueueKind },
  assessment: Assessment,
  { at, random }: { at: Instant; random: number },
): Disposition {
  if (assessment.kind === 'delivered') return { kind: 'delivered' }
  if (assessment.kind === 'unspent') return { kind: 'unchanged' }
  const attempts = delivery.attempts + 1
  const dueAt = nextAttemptAt(attempts, at, random)
  if (dueAt === 'dead') return { kind: 'dead', attempts }
  return { kind: 'later', attempts, dueAt, queue: delivery.queue === 'replay' ? 'replay' : 'retry' }
}

// What the health of an endpoint allows.

/**
 * What may be done at an endpoint. Every mode follows from the endpoint's health and the time, so that no timer has to
 * fire for it to be true.
 *
 *     serving ──failures in a row──> waiting <──not accepted──── probing
 *     │  ^  ^                          ^  └──────time is over─────> │
 *     │  │  │ as many attempts         │                            │ accepted
 *     │  │  │ as before the outage     │ failures in a row          │
 *     v  │  └──────────────────── recovering <──────────────────────┘
 *     proving (nothing accepted yet, and a failure)
 *
 * Retry-After and faults on our side lead to `waiting` from every mode, and back.
 */
type Mode =
  /** No attempts before this time. */
  | { readonly kind: 'waiting'; readonly until: Instant }
  /** One attempt, of the oldest due delivery, shows whether the endpoint answers again. */
  | { readonly kind: 'probing' }
  /** It has never accepted anything and has failed: at most as many attempts at a time as open its breaker by failing. */
  | { readonly kind: 'proving'; readonly room: number }
  /** After an outage: the number of attempts at a time grows with each success. */
  | { readonly kind: 'recovering'; readonly room: number }
  | { readonly kind: 'serving' }

/** The health that the mode follows from. */
type Allowing = Pick<HealthRecord, 'breaker' | 'pausedUntil' | 'acceptedPair'>

/** The mode of an endpoint at this instant; `ownFaultUntil` is until when it waits because of faults on our side. */
export function modeOf(health: Allowing, ownFaultUntil: Instant, now: Instant): Mode {
  const { breaker, pausedUntil, acceptedPair } = health
  const until = Math.max(ownFaultUntil, pausedUntil ?? 0, breaker.open?.until ?? 0)
  if (until > now) return { kind: 'waiting', until }
  if (breaker.open !== null) return { kind: 'probing' }
  const left = acceptedPair === undefined ? failuresLeft(breaker) : Number.POSITIVE_INFINITY
  const window = breaker.window ?? Number.POSITIVE_INFINITY
  if (left < Number.POSITIVE_INFINITY) return { kind: 'proving', room: Math.min(left, window) }
  return breaker.window === null ? { kind: 'serving' } : { kind: 'recovering', room: window }
}

/** How many attempts may be under way in this mode; `limit` is the endpoint's own bound. */
export function roomIn(mode: Mode, limit: number): number {
  switch (mode.kind) {
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
