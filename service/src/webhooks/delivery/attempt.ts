import type { Instant } from '../../calendar/calendar.ts'
import { type Tracing, tracing } from '../../tracing.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { attemptHeaders } from '../egress/envelope.ts'
import type { AttemptOutcome, Unanswered } from '../egress/outcome.ts'
import { type Outgoing, tokenPool } from '../egress/outgoing.ts'
import { pairsAt, signingKeysAt, type WireCredentials } from '../endpoint/credentials.ts'
import type { EndpointRow } from '../endpoint/endpoint.ts'
import type { Pair } from '../endpoint/verdict.ts'
import type { Item } from './claim.ts'
import type { Target } from './target.ts'

type Sender = { readonly outgoing: Outgoing; readonly real: () => Instant }

/** A delivery whose event is still in the log. */
export type Sendable = Item & { readonly body: Buffer; readonly created_at: Instant }

/** One request that was made, as the log keeps it. */
export type Attempt = {
  readonly attemptId: string
  readonly startedAt: Instant
  readonly pair: Pair
  readonly outcome: AttemptOutcome
}

/**
 * Makes one attempt at a delivery. New credentials on trial are used first, and after a refusal the request is repeated at
 * once with the present ones, in the time that is left for the attempt; the last request counts. Never rejects.
 */
export async function makeAttempt(
  target: Target,
  item: Sendable,
  sender: Sender,
): Promise<{ requests: Attempt[]; last: Attempt }> {
  // Both are read at the same moment, because the partner may change the endpoint between two requests.
  const { endpoint, credentials } = target
  const { real } = sender
  const pairs = pairsAt(credentials, { nextAcceptedAt: target.health.nextAcceptedAt, now: real() })
  const requests: Attempt[] = []
  let spentMs = 0
  for (const pair of pairs) {
    const startedAt = real()
    const outcome = await send({ endpoint, credentials, pair, item, spentMs, startedAt }, sender)
    const last = { attemptId: uuidv7(startedAt), startedAt, pair, outcome }
    requests.push(last)
    spentMs += outcome.timings.totalMs
    const isRefused = outcome.status === 401 || outcome.errorClass === 'token_refused'
    if (!isRefused || requests.length === pairs.length) return { requests, last }
  }
  throw new Error('an endpoint without credentials')
}

type Request = {
  endpoint: EndpointRow
  credentials: WireCredentials
  pair: Pair
  item: Sendable
  spentMs: number
  startedAt: Instant
}

async function send(request: Request, { outgoing }: Sender): Promise<AttemptOutcome> {
  const { endpoint, credentials, pair, item, spentMs, startedAt } = request
  const { url, endpoint_id: endpointId } = endpoint
  const { client, own } = credentials
  const post = (authorization: string, spent: number) => {
    const headers = attemptHeaders({
      eventId: item.event_id,
      body: item.body,
      attempt: item.attempts + 1,
      at: startedAt,
      authorization,
      keys: signingKeysAt(credentials, startedAt),
      traceparent: tracing?.traceparent() ?? item.traceparent,
      own,
    })
    return outgoing.send({ endpointId, url, client }, { headers, body: item.body }, spent)
  }
  const authorization = credentials.authorization[pair] ?? ''
  if (typeof authorization === 'string') return post(authorization, spentMs)

  const askedAt = performance.now()
  const spent = () => spentMs + Math.round(performance.now() - askedAt)
  const pool = tokenPool(endpointId)
  const token = await authorization.authorization((tokenurl, asked) =>
    outgoing.send({ endpointId: pool, url: tokenurl, client }, asked, spentMs),
  )
  if (typeof token !== 'string') return unanswered(token, spent() - spentMs)
  const outcome = await post(token, spent())
  if (outcome.status === 401) authorization.refused(token)
  return outcome
}

/** For an attempt that waited for another one's request for a token, the time is its own. */
function unanswered(outcome: Unanswered, totalMs: number): Unanswered {
  return { ...outcome, timings: { ...outcome.timings, totalMs } }
}

/** The span of an attempt at a delivery, in the trace of the request that raised its event. */
export function spanOf({ body, attempts, traceparent }: Sendable) {
  const { eventname } = JSON.parse(body.toString('utf8')) as { eventname: string }
  return {
    name: `webhook ${eventname}`,
    kind: 'PRODUCER',
    attributes: { 'webhook.event': eventname, 'webhook.attempt': attempts + 1 },
    under: traceparent ?? undefined,
  } as const
}

/** Adds to it how the attempt has ended. */
export function noteOutcome(tracing: Tracing, { status, errorClass }: AttemptOutcome): void {
  const isTaken = status !== undefined && status >= 200 && status < 300
  const answer = status === undefined ? {} : { 'http.response.status_code': status }
  tracing.note(answer, isTaken ? undefined : (errorClass ?? `${status}`))
}
