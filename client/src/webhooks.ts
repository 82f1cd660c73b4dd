import { isRecord } from './answer.ts'
import { BenefitEnrolmentError } from './error.ts'
import type { WebhookEvent } from './named-parts.ts'

/** A delivery as it arrived: the body must be the exact bytes, before any JSON parser. */
export type WebhookRequest = {
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  body: string | Uint8Array
}

/**
 * The credentials that a delivery is checked against: user name and password, or a secret, or both; then both must
 * match.
 */
export type WebhookCredentials = {
  username?: string
  /** Two during a rotation. */
  password?: string | readonly string[]
  /** `whsec_` and base64; two during a rotation. */
  secret?: string | readonly string[]
  /** How far the time of a signature may be from now, in seconds; default 300. */
  toleranceSeconds?: number
  /** The present instant in milliseconds; default: the system's clock. */
  now?: number
}

/** A delivery that can be trusted. */
export type VerifiedDelivery = {
  event: WebhookEvent
  /**
   * The `eventid` of the event, the same on every attempt and replay and at all your endpoints: store it, and handle
   * each event once.
   */
  idempotencyKey: string
}

/** A delivery that `webhooks.sign` makes. */
export type DeliveryToSign = {
  /** The `Idempotency-Key` and `webhook-id`. */
  eventId: string
  /** The exact body that is sent. */
  body: string | Uint8Array
  username: string
  password: string
  /** `whsec_` and base64. */
  secret: string
  /** From 1; default 1. */
  attempt?: number
  /** When it is sent, in milliseconds; default: the system's clock. */
  at?: number
}

/** What a partner's receiver needs, and what its tests need (contract §10). */
export const webhooks = {
  /**
   * Checks that a delivery comes from the service, and returns its content (interface §4.3, contract §10). Rejects with
   * code `webhook_invalid`, whose `errors` name the header, or the `body`, that is `missing`, `mismatch`, `expired` or
   * `malformed`; with a TypeError when there are no credentials to check against.
   */
  verify: async (request: WebhookRequest, credentials: WebhookCredentials): Promise<VerifiedDelivery> => {
    const { username, toleranceSeconds = 300, now = Date.now() } = credentials
    const passwords = readList(credentials, 'password')
    const secrets = readList(credentials, 'secret')?.map(readSecret)
    if ((username === undefined) !== (passwords === undefined)) {
      throw new TypeError('username and password must be given together')
    }
    if (passwords === undefined && secrets === undefined) {
      throw new TypeError('Give username and password, or secret: without them a delivery cannot be verified')
    }
    const body = readBody(request.body)
    if (username !== undefined && passwords !== undefined) {
      await checkPassword(request.headers, username, passwords)
    }
    if (secrets !== undefined) {
      const timestamp = checkTimestamp(request.headers, toleranceSeconds, now)
      await checkSignature(request.headers, secrets, { timestamp, body })
    }
    return { event: readEvent(body), idempotencyKey: header(request.headers, 'idempotency-key') }
  },
  /**
   * The headers of a delivery as the service sends it, so that tests of your receiver need no service. Rejects with a
   * TypeError for a secret that is none.
   */
  sign: async (delivery: DeliveryToSign): Promise<Record<string, string>> => {
    const { eventId, username, password, secret, attempt = 1, at = Date.now() } = delivery
    const timestamp = String(Math.floor(at / 1_000))
    const key = await importKey(readSecret(secret), 'sign')
    const signed = signedBytes({ id: eventId, timestamp, body: readBody(delivery.body) })
    const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
    return {
      authorization: `Basic ${toBase64(encoder.encode(`${username}:${password}`))}`,
      'idempotency-key': eventId,
      'content-type': 'application/json',
      'user-agent': 'benefit-enrolment-webhook',
      'webhook-id': eventId,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${toBase64(signature)}`,
      'webhook-attempt': String(attempt),
    }
  },
}

const encoder = new TextEncoder()

/** An empty value is most likely an unset variable; treating it as "no check" would accept any delivery. */
function readList(credentials: WebhookCredentials, name: 'password' | 'secret') {
  if (!Object.hasOwn(credentials, name)) return undefined
  const given = credentials[name] ?? []
  const list = typeof given === 'string' ? [given] : given
  if (list.length === 0 || list.includes(''))
    throw new TypeError(`${name} must not be empty when it is given`)
  return list
}

function readSecret(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  if (bytes === undefined || bytes.length === 0) throw new TypeError('secret must be whsec_ and base64')
  return bytes
}

function readBody(body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return encoder.encode(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new TypeError('body must be the raw body, a string or bytes, not what a JSON parser made of it')
}

async function checkPassword(
  headers: WebhookRequest['headers'],
  username: string,
  passwords: readonly string[],
): Promise<void> {
  const sent = /^basic +([^ ]+) *$/i.exec(header(headers, 'authorization'))?.[1]
  if (sent === undefined) throw invalid('authorization', 'malformed', 'must be Basic credentials')
  const sentDigest = await digest(sent)
  let holds = false
  for (const password of passwords) {
    const wanted = await digest(toBase64(encoder.encode(`${username}:${password}`)))
    if (isEqual(sentDigest, wanted)) holds = true
  }
  if (!holds) throw invalid('authorization', 'mismatch', 'does not hold the user name and password')
}

function checkTimestamp(headers: WebhookRequest['headers'], toleranceSeconds: number, now: number): string {
  const timestamp = header(headers, 'webhook-timestamp')
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw invalid('webhook-timestamp', 'malformed', 'must be seconds since 1970')
  }
  // The negated form also refuses a tolerance that is not a number.
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= toleranceSeconds)) {
    throw invalid('webhook-timestamp', 'expired', 'is too far from the present')
  }
  return timestamp
}

async function checkSignature(
  headers: WebhookRequest['headers'],
  secrets: readonly Uint8Array<ArrayBuffer>[],
  { timestamp, body }: { timestamp: string; body: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const signed = signedBytes({ id: header(headers, 'webhook-id'), timestamp, body })
  const signatures = header(headers, 'webhook-signature')
    .split(' ')
    .filter(part => part.startsWith('v1,'))
    .map(part => fromBase64(part.slice(3)))
  for (const secret of secrets) {
    const key = await importKey(secret, 'verify')
    for (const signature of signatures) {
      // The platform compares in constant time.
      if (signature !== undefined && (await crypto.subtle.verify('HMAC', key, signature, signed))) return
    }
  }
  throw invalid('webhook-signature', 'mismatch', 'does not fit the secret and the body')
}

function importKey(secret: Uint8Array<ArrayBuffer>, use: 'sign' | 'verify') {
  return crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

/** What a signature covers, as Standard Webhooks defines it. */
function signedBytes({ id, timestamp, body }: { id: string; timestamp: string; body: Uint8Array }) {
  const start = encoder.encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(start.length + body.length)
  signed.set(start)
  signed.set(body, start.length)
  return signed
}

function readEvent(body: Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (isWebhookEvent(event)) return event
  } catch {}
  throw invalid('body', 'malformed', 'must be the JSON of an event')
}

function isWebhookEvent(value: unknown): value is WebhookEvent {
  if (!isRecord(value) || !isRecord(value['currentofferdetails'])) return false
  const { offer, updatedat, serviceid } = value['currentofferdetails']
  return [value['userid'], value['eventname'], offer, updatedat, serviceid].every(
    part => typeof part === 'string',
  )
}

function header(headers: WebhookRequest['headers'], name: string): string {
  const values = isHeaders(headers)
    ? [headers.get(name)]
    : Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []))
  const given = values.filter(value => typeof value === 'string' && value !== '')
  if (given.length > 1) throw invalid(name, 'malformed', 'must be sent once')
  if (given[0] == null) throw invalid(name, 'missing', 'is missing')
  return given[0]
}

function isHeaders(headers: WebhookRequest['headers']): headers is Headers {
  return typeof headers['get'] === 'function'
}

function invalid(field: string, code: string, what: string): BenefitEnrolmentError {
  return new BenefitEnrolmentError({
    operation: 'webhooks.verify',
    code: 'webhook_invalid',
    detail: `Do not trust this delivery: ${field} ${what}.`,
    errors: [{ field, code, message: `${field} ${what}` }],
  })
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}

/** Takes the same time wherever two digests differ. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 256)), 0) === 0
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
