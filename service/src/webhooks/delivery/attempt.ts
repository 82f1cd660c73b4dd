import type { Instant } from '../../calendar/calendar.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { attemptHeaders } from '../egress/envelope.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { pairsAt, signingKeysAt } from '../endpoint/credentials.ts'
import type { Item, OwnedEndpoint } from './endpoint-queues.ts'
import type { Attempt } from './result.ts'

/**
 * Makes one attempt at a delivery. New credentials on trial are used first, and after a 401 the request is repeated at
 * once with the present ones, in the time that is left for the attempt; the last request counts. Never rejects.
 */
export async function makeAttempt(
  owned: OwnedEndpoint,
  item: Item,
  { outgoing, real }: { outgoing: Outgoing; real: () => Instant },
): Promise<{ requests: Attempt[]; last: Attempt }> {
  // Both are read at the same moment, because the partner may change the endpoint between two requests.
  const { endpoint, credentials } = owned
  const destination = { endpointId: endpoint.endpoint_id, url: endpoint.url }
  const pairs = pairsAt(credentials, { nextAcceptedAt: owned.health.nextAcceptedAt, now: real() })
  const requests: Attempt[] = []
  let spentMs = 0
  for (const pair of pairs) {
    const startedAt = real()
    const headers = attemptHeaders({
      eventId: item.event_id,
      body: item.body,
      attempt: item.attempts + 1,
      at: startedAt,
      authorization: credentials.authorization[pair] ?? '',
      keys: signingKeysAt(credentials, startedAt),
    })
    const outcome = await outgoing.send(destination, { headers, body: item.body }, spentMs)
    const last = { attemptId: uuidv7(startedAt), startedAt, pair, outcome }
    requests.push(last)
    spentMs += outcome.timings.totalMs
    if (outcome.status !== 401 || requests.length === pairs.length) return { requests, last }
  }
  throw new Error('an endpoint without credentials')
}
