import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/** What an event tells the partner, in the words of the interface (§2.5). */
export interface EventMessage {
  userid: string
  eventname: string
  offer: string
  updatedat: string
  serviceid: string
}

/** The bytes of an event: made once, stored, and sent unchanged on every try. */
export function eventBody({ userid, eventname, offer, updatedat, serviceid }: EventMessage): Buffer {
  return Buffer.from(
    JSON.stringify({ userid, eventname, currentofferdetails: { offer, updatedat, serviceid } }),
  )
}

/** One try of one event at one endpoint. */
export interface Try {
  /** The UUID that is the same on every try, every replay and at every endpoint. */
  idempotencyKey: string
  body: Buffer
  /** 1 for the first. */
  attempt: number
  /** When it is sent, in milliseconds since the epoch. */
  at: number
  /** The endpoint's credentials, as `basicAuthorization` writes them. */
  authorization: string
  /** The endpoint's signing keys: one, or two during a rotation. */
  keys: readonly KeyObject[]
}

/** The headers of one try, made at send time: the documented ones, then those that a reader may ignore. */
export function tryHeaders(attempt: Try): Record<string, string> {
  const timestamp = String(Math.floor(attempt.at / 1000))
  const prefix = `${attempt.idempotencyKey}.${timestamp}.`
  return {
    Authorization: attempt.authorization,
    'Idempotency-Key': attempt.idempotencyKey,
    'Content-Type': 'application/json',
    // Some firewalls drop requests that name no agent.
    'User-Agent': 'benefit-enrolment-webhook',
    'webhook-id': attempt.idempotencyKey,
    'webhook-timestamp': timestamp,
    'webhook-signature': attempt.keys.map(key => sign(key, prefix, attempt.body)).join(' '),
    'webhook-attempt': String(attempt.attempt),
  }
}

/** Basic credentials in UTF-8 (RFC 7617). Throws for a user name with a colon, which save must have refused. */
export function basicAuthorization(username: string, password: string): string {
  if (username.includes(':')) throw new Error('A Basic user name cannot hold a colon')
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** One signature by Standard Webhooks, over the prefix and the body. */
function sign(key: KeyObject, prefix: string, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`
}

const SECRET_PREFIX = 'whsec_'

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64')
}

/** The key of a signing secret, to be made once for many tries. Throws when the text is not one of ours. */
export function signingKey(secret: string): KeyObject {
  const encoded = secret.slice(SECRET_PREFIX.length)
  const key = Buffer.from(encoded, 'base64')
  if (!secret.startsWith(SECRET_PREFIX) || key.length === 0 || key.toString('base64') !== encoded)
    throw new Error('A signing secret must be whsec_ and canonical base64')
  return createSecretKey(key)
}
