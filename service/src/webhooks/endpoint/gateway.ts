/** What a partner's gateway may want besides credentials: headers of the partner's own, and a client certificate. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Instant } from '../../calendar/calendar.ts'
import type { ClientCertificate } from '../egress/connect.ts'
import { type Fault, faultsIn } from './authorization.ts'
import type { EndpointSecrets } from './secrets.ts'

/** What an endpoint's gateway may want; absent parts stay as they are, or are none. */
export type GatewayInput = {
  /** Replaces all headers that were set before. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** PEM, or `none` to present no certificate any more. */
  readonly clientcertificate?: string | undefined
  readonly clientkey?: string | undefined
  /** Deliveries a second; 0: no limit. */
  readonly ratelimit?: number | undefined
}

type Gateway = Pick<EndpointSecrets, 'headers' | 'client'>

/** Nothing of it. */
export const NO_GATEWAY: Gateway = { headers: {}, client: null }

/** The headers and the certificate after a request; what it leaves out stays as before. */
export function readGateway(
  { headers, clientcertificate, clientkey }: GatewayInput,
  before: Gateway,
  now: Instant,
): { gateway: Gateway } | { faults: readonly Fault[] } {
  const isGone = clientcertificate === 'none' && clientkey === undefined
  const isSame = clientcertificate === undefined && clientkey === undefined
  const read = isGone || isSame ? undefined : readClientCertificate(clientcertificate, clientkey, now)
  const faults = [...(headers ? faultsOfHeaders(headers) : []), ...(read ? faultsIn(read) : [])]
  if ((read && 'faults' in read) || faults.length > 0) return { faults }
  const client = read ? read.client : isGone ? null : before.client
  return { gateway: { headers: headers ?? before.headers, client } }
}

const MAX_HEADERS = 10
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const VALUE = /^[\x21-\x7e]([\x20-\x7e]{0,4094}[\x21-\x7e])?$/

/** Those that a delivery has itself, and those that say how it travels (RFC 9110 §7.6) or where it comes from. */
const TAKEN: ReadonlySet<string> = new Set([
  'authorization',
  'content-type',
  'idempotency-key',
  'user-agent',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-real-ip',
])

/** What is wrong with headers of the partner's own; a name is told, a value never. */
function faultsOfHeaders(headers: Readonly<Record<string, string>>): Fault[] {
  const names = Object.keys(headers)
  const fault = (message: string) => [{ field: 'headers', code: 'format', message: `headers ${message}` }]
  if (names.length > MAX_HEADERS) return fault(`must be at most ${MAX_HEADERS}`)
  if (!names.every(name => NAME.test(name))) return fault('must have names of letters, digits and hyphens')
  const lower = names.map(name => name.toLowerCase())
  if (new Set(lower).size < names.length) return fault('must have each name once, in any case')
  const taken = lower.find(name => TAKEN.has(name) || /^(webhook|x-forwarded)-/.test(name))
  if (taken !== undefined) return fault(`must not have ${taken}, which we or the connection set`)
  return Object.values(headers).every(value => VALUE.test(value))
    ? []
    : fault('must have values of 1 to 4,096 visible ASCII characters, with spaces only inside')
}

/**
 * Reads a client certificate (PEM, with its intermediates after it) and its key (PEM, without a passphrase). Refuses what
 * TLS could not use, and a certificate whose time is over.
 */
function readClientCertificate(
  certificate: string | undefined,
  key: string | undefined,
  now: Instant,
): { client: ClientCertificate } | { faults: Fault[] } {
  const fault = (field: string, code: string, message: string) => ({ faults: [{ field, code, message }] })
  const needed = (field: string, other: string) =>
    fault(field, 'required', `${field} is required together with ${other}`)
  if (certificate === undefined) return needed('clientcertificate', 'clientkey')
  if (key === undefined) return needed('clientkey', 'clientcertificate')
  const parsed = attempt(() => new X509Certificate(certificate))
  if (!parsed) return fault('clientcertificate', 'format', 'clientcertificate must be a certificate in PEM')
  const endsAt = Date.parse(parsed.validTo)
  if (endsAt <= now) return fault('clientcertificate', 'expired', 'clientcertificate is no longer valid')
  const secret = attempt(() => createPrivateKey(key))
  if (!secret)
    return fault('clientkey', 'format', 'clientkey must be a private key in PEM without a passphrase')
  const fits = attempt(() => createSecureContext({ cert: certificate, key }))
  if (!parsed.checkPrivateKey(secret) || !fits)
    return fault(
      'clientkey',
      'choice',
      'clientkey must be the key of clientcertificate, strong enough for TLS',
    )
  return { client: { certificate, key, endsAt } }
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
