import type { Instant } from '../calendar/calendar.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { pairsAt, signingKeysAt } from './credentials.ts'
import { tryHeaders } from './envelope.ts'
import type { Item, Lane } from './lane.ts'
import type { Outgoing } from './outgoing.ts'
import type { Attempt } from './results.ts'

/**
 * Makes one try of a delivery. Where new credentials are on trial it begins with them, and after a 401 repeats the
 * request at once with the present ones, in what is left of the time of one try; the last request is the one that
 * counts. Never rejects.
 */
export const makeTry = async (
  lane: Lane,
  item: Item,
  { outgoing, real }: { outgoing: Outgoing; real: () => Instant },
): Promise<{ requests: Attempt[]; last: Attempt }> => {
  // Of one moment: somebody may change the endpoint between two requests.
  const { endpoint, credentials } = lane
  const destination = { endpointId: endpoint.endpoint_id, url: endpoint.url }
  const pairs = pairsAt(credentials, { nextAcceptedAt: lane.nextAcceptedAt, now: real() })
  const requests: Attempt[] = []
  let spentMs = 0
  for (const pair of pairs) {
    const startedAt = real()
    const headers = tryHeaders({
      idempotencyKey: item.idempotency_key,
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
