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

/**
 * The forms of names that a gateway's own headers have: a word of a secret, or of what it sorts requests by, comes last.
 * A list of these is shorter than one of all names that say where a request comes from, how it travels or what it means.
 */
const OWN_FORM =
  /^(?:[a-z0-9]+[-_])*(?:api)?(?:key|token|secret|id|auth|signature|code|client|tenant|environment|env|source|version|route|name)$/

/** Headers of this form that a delivery has itself. */
const OF_DELIVERY = /^(?:idempotency-key$|webhook-)/

/** What is wrong with headers of the partner's own; a name is told, a value never. */
function faultsOfHeaders(headers: Readonly<Record<string, string>>): Fault[] {
  const names = Object.keys(headers)
  const fault = (message: string) => [{ field: 'headers', code: 'format', message: `headers ${message}` }]
  if (names.length > MAX_HEADERS) return fault(`must be at most ${MAX_HEADERS}`)
  if (!names.every(name => NAME.test(name))) return fault('must have names of letters, digits and hyphens')
  const lower = names.map(name => name.toLowerCase())
  if (new Set(lower).size < names.length) return fault('must have each name once, in any case')
  const odd = lower.find(name => !OWN_FORM.test(name) || OF_DELIVERY.test(name))
  if (odd !== undefined)
    return fault(
      `must not have ${odd}: a name of your own ends in key, token, secret, id, auth, signature, code, client, tenant, environment, source, version, route or name, and is none that a delivery has`,
    )
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
