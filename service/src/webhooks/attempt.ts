import type { Instant } from '../calendar/calendar.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { tryHeaders } from './envelope.ts'
import { type Item, type Lane, pairsOf } from './lane.ts'
import type { Outgoing } from './outgoing.ts'
import type { Attempt } from './results.ts'
import { signingSecrets } from './secrets.ts'

/**
 * Makes one try of a delivery. Where new credentials are on trial it begins with them, and after a 401 repeats the
 * request at once with the present ones; the last request is the one that counts. Never rejects.
 */
export const makeTry = async (
  lane: Lane,
  item: Item,
  context: { outgoing: Outgoing; real: () => Instant },
): Promise<{ requests: Attempt[]; last: Attempt }> => {
  const { outgoing, real } = context
  const destination = { endpointId: lane.endpointId, url: lane.endpoint.url }
  const requests: Attempt[] = []
  const pairs = pairsOf(lane, real())
  const secrets = signingSecrets(lane.secrets, real())
  for (const [index, { pair, username, password }] of pairs.entries()) {
    const startedAt = real()
    const headers = tryHeaders({
      idempotencyKey: item.idempotency_key,
      body: item.body,
      attempt: item.attempts + 1,
      at: startedAt,
      username,
      password,
      secrets,
    })
    const outcome = await outgoing.send(destination, { headers, body: item.body })
    const attempt = { attemptId: uuidv7(startedAt), startedAt, pair, outcome }
    requests.push(attempt)
    if (outcome.status !== 401 || index === pairs.length - 1) return { requests, last: attempt }
  }
  throw new Error('an endpoint without credentials')
}
