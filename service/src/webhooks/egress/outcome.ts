/** How an attempt can end, and whose fault a failure is: the endpoint's or ours. */
import { isIPv4 } from 'node:net'

/** What an endpoint can do wrong before it answers with a status; such an attempt is spent. */
type EndpointFault =
  | 'dns'
  | 'blocked_address'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'headers_too_large'
  /** No access token could be had for the endpoint, or its token endpoint refused our credentials. */
  | 'token'
  | 'token_refused'

/**
 * What can go wrong on our side; such an attempt is not spent. `exhausted`: no sockets, ports, memory or network are
 * left; `resolver`: no name server answers; `proxy`: the operator's proxy does not answer or refuses us; `stalled`: this process stood still past the deadline; `stopped`: the
 * service is shutting down; `unexpected`: a mistake in the code, with its cause.
 */
export type OwnFault = 'exhausted' | 'resolver' | 'proxy' | 'stalled' | 'stopped' | 'unexpected'

/** The reason why an attempt got no answer. */
export type ErrorClass = EndpointFault | OwnFault

/** Durations in milliseconds; the first three only when the attempt opened its own connection and got that far. */
export type Timings = {
  dnsMs?: number | undefined
  connectMs?: number | undefined
  tlsMs?: number | undefined
  /** From the start of the attempt to the status. */
  firstByteMs?: number | undefined
  totalMs: number
}

type Ended = {
  /** The address that was connected to, or the one at fault. */
  address?: string | undefined
  timings: Timings
}

/** The endpoint answered with a status; whatever happened to the body afterwards does not matter. */
export type Answered = Ended & {
  status: number
  errorClass?: undefined
  /** The Retry-After header as sent. */
  retryAfter?: string | undefined
  /** The first 1 KiB of the body, as text without NUL. */
  snippet: string
  /** When the endpoint's certificate expires; absent for plain http. */
  certificateEndsAt?: number | undefined
}

/** No status arrived. */
export type Unanswered = Ended & {
  status?: undefined
  errorClass: ErrorClass
  /** What the partner may read about it, in a sentence of ours. */
  note?: string | undefined
  certificateEndsAt?: undefined
  /** The platform's own error, for the operator's log. */
  cause?: unknown
}

/** How one attempt ended: with a status or with an error class, never both. */
export type AttemptOutcome = Answered | Unanswered

/** Whether an error class is a fault of ours, so that the attempt is not counted. */
export function isOwnFault(errorClass: ErrorClass): errorClass is OwnFault {
  return OWN_FAULTS.has(errorClass)
}

const OWN_FAULTS: ReadonlySet<ErrorClass> = new Set<OwnFault>([
  'exhausted',
  'resolver',
  'proxy',
  'stalled',
  'stopped',
  'unexpected',
])

/** The end of an attempt before a status, thrown through undici. It has no `code`, because undici acts on some codes. */
export class Fault extends Error {
  override name = 'Fault'
  readonly errorClass: ErrorClass

  constructor(errorClass: ErrorClass, cause?: unknown) {
    super(errorClass, { cause })
    this.errorClass = errorClass
  }
}

/**
 * The Fault for an error on a connection: a Fault stays as it is, our own shortages become `exhausted`, and all others
 * `otherwise`.
 */
export function faultOf(error: unknown, otherwise: ErrorClass): Fault {
  if (error instanceof Fault) return error
  return new Fault(
    OWN_SHORTAGES.has(codeOf(error)) || isWithoutNetwork(error) ? 'exhausted' : otherwise,
    error,
  )
}

/**
 * Whether this machine has no route to any of the addresses, one of which is IPv4. An endpoint with IPv6 addresses only
 * is itself at fault when this machine has no IPv6.
 */
function isWithoutNetwork(error: unknown): boolean {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
  return (
    errors.every(each => codeOf(each) === 'ENETUNREACH') &&
    errors.some(
      each =>
        each instanceof Error &&
        'address' in each &&
        typeof each.address === 'string' &&
        isIPv4(each.address),
    )
  )
}

/** The fault of a time-out that fired `lateByMs` after it was due: very late means that this process stood still. */
export function timeoutFault(errorClass: ErrorClass, lateByMs: number): Fault {
  return new Fault(lateByMs > STANDSTILL_MS ? 'stalled' : errorClass)
}

const STANDSTILL_MS = 1000

const OWN_SHORTAGES: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'EADDRINUSE',
  'ENETDOWN',
])

/** The `code` of an error of the platform, or an empty string. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
