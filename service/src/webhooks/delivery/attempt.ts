import type { Instant } from '../../calendar/calendar.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { attemptHeaders } from '../egress/envelope.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { pairsAt, signingKeysAt } from '../endpoint/credentials.ts'
import type { Item, OwnedEndpoint } from './owned-endpoint.ts'
import type { Attempt } from './result.ts'

/**
 * Makes one try of a delivery. Where new credentials are on trial it begins with them, and after a 401 repeats the
 * request at once with the present ones, in what is left of the time of one try; the last request is the one that
 * counts. Never rejects.
 */
export async function makeAttempt(
  owned: OwnedEndpoint,
  item: Item,
  { outgoing, real }: { outgoing: Outgoing; real: () => Instant },
): Promise<{ requests: Attempt[]; last: Attempt }> {
  // Of one moment: somebody may change the endpoint between two requests.
  const { endpoint, credentials } = owned
  const destination = { endpointId: endpoint.endpoint_id, url: endpoint.url }
  const pairs = pairsAt(credentials, { nextAcceptedAt: owned.nextAcceptedAt, now: real() })
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
