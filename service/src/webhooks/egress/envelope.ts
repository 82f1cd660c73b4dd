/** What a delivery looks like on the wire: its body, its headers and its signatures. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/** The content of an event, in the names of the interface (§2.5). */
type EventMessage = {
  userid: string
  eventname: string
  offer: string
  updatedat: string
  serviceid: string
}

/** The body of an event: written once, stored, and sent unchanged in every attempt. */
export function eventBody({ userid, eventname, offer, updatedat, serviceid }: EventMessage): Buffer {
  return Buffer.from(
    JSON.stringify({ userid, eventname, currentofferdetails: { offer, updatedat, serviceid } }),
  )
}

/** What one attempt sends to one endpoint. */
export type Envelope = {
  /** The event's id in the log, which is its key in every attempt and replay and at every endpoint. */
  eventId: string
  body: Buffer
  /** The number of the attempt, from 1. */
  attempt: number
  /** When it is sent, in milliseconds since the epoch. */
  at: number
  /** The value of the header that carries the endpoint's credentials. */
  authorization: string
  /** The endpoint's signing keys: one, or two during a rotation. */
  keys: readonly KeyObject[]
  /** The trace of the request that raised the event, passed on as it came. */
  traceparent?: string | null | undefined
  /** Headers of the partner's own. */
  own?: Readonly<Record<string, string>> | undefined
}

/** The headers of one attempt, made when it is sent: first the documented ones, then those that a reader may ignore. */
export function attemptHeaders(envelope: Envelope): Record<string, string> {
  const timestamp = String(Math.floor(envelope.at / 1000))
  const prefix = `${envelope.eventId}.${timestamp}.`
  return {
    Authorization: envelope.authorization,
    'Idempotency-Key': envelope.eventId,
    'Content-Type': 'application/json',
    // Some firewalls drop requests that name no agent.
    'User-Agent': 'benefit-enrolment-webhook',
    'webhook-id': envelope.eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': envelope.keys.map(key => sign(key, prefix, envelope.body)).join(' '),
    'webhook-attempt': String(envelope.attempt),
    ...(envelope.traceparent && { traceparent: envelope.traceparent }),
    ...envelope.own,
  }
}

/**
 * Basic credentials in UTF-8 (RFC 7617). Throws for a user name with a colon, which is refused when an endpoint is
 * saved.
 */
export function basicAuthorization(username: string, password: string): string {
  if (username.includes(':')) throw new Error('A Basic user name cannot hold a colon')
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** One signature as Standard Webhooks defines it, over the prefix and the body. */
function sign(key: KeyObject, prefix: string, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`
}

const SECRET_PREFIX = 'whsec_'

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64')
}

/**
 * The key of a signing secret, to be made once for many attempts. Throws unless the text has the form that
 * `newWebhookSecret` gives it.
 */
export function signingKey(secret: string): KeyObject {
  const encoded = secret.slice(SECRET_PREFIX.length)
  const key = Buffer.from(encoded, 'base64')
  if (!secret.startsWith(SECRET_PREFIX) || key.length === 0 || key.toString('base64') !== encoded)
    throw new Error('A signing secret must be whsec_ and canonical base64')
  return createSecretKey(key)
}
