import type { Instant } from '../../calendar/calendar.ts'
import { tracing } from '../../tracing.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { attemptHeaders } from '../egress/envelope.ts'
import type { AttemptOutcome, Unanswered } from '../egress/outcome.ts'
import { type Outgoing, tokenPool } from '../egress/outgoing.ts'
import { pairsAt, signingKeysAt, type WireCredentials } from '../endpoint/credentials.ts'
import type { EndpointRow, Pair } from '../endpoint/endpoint.ts'
import type { Item, OwnedEndpoint } from './endpoint-queues.ts'
import type { Attempt } from './result.ts'

type Sender = { outgoing: Outgoing; real: () => Instant }

/**
 * Makes one attempt at a delivery. New credentials on trial are used first, and after a refusal the request is repeated at
 * once with the present ones, in the time that is left for the attempt; the last request counts. Never rejects.
 */
export async function makeAttempt(
  owned: OwnedEndpoint,
  item: Item,
  sender: Sender,
): Promise<{ requests: Attempt[]; last: Attempt }> {
  // Both are read at the same moment, because the partner may change the endpoint between two requests.
  const { endpoint, credentials } = owned
  const { real } = sender
  const pairs = pairsAt(credentials, { nextAcceptedAt: owned.health.nextAcceptedAt, now: real() })
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
  item: Item
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
