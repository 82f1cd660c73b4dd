import { isIPv4 } from 'node:net'

/** What an endpoint can do wrong before it has answered with a status; a try that ends so is spent. */
export type EndpointFault =
  | 'dns'
  | 'blocked_address'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'headers_too_large'

/**
 * What can go wrong on our side; a try that ends so is not spent. `exhausted`: no sockets, ports, memory or network;
 * `resolver`: no name server answers us; `stalled`: this process stood still past the deadline; `stopped`: we are
 * shutting down; `unexpected`: a mistake in our code, with its cause.
 */
export type OwnFault = 'exhausted' | 'resolver' | 'stalled' | 'stopped' | 'unexpected'

export type ErrorClass = EndpointFault | OwnFault

/** Milliseconds; the first three only where the try opened its own connection and came that far. */
export interface Timings {
  dnsMs?: number | undefined
  connectMs?: number | undefined
  tlsMs?: number | undefined
  /** From the start of the try to the status. */
  firstByteMs?: number | undefined
  totalMs: number
}

interface Ended {
  /** The address that was connected, or the one at fault. */
  address?: string | undefined
  timings: Timings
}

/** The endpoint answered with a status; what came of the body afterwards does not matter. */
export interface Answered extends Ended {
  status: number
  errorClass?: undefined
  /** The Retry-After header as sent. */
  retryAfter?: string | undefined
  /** The first 1 KiB of the body, as text without NUL. */
  snippet: string
}

/** No status came. */
export interface Unanswered extends Ended {
  status?: undefined
  errorClass: ErrorClass
  /** What the platform said, for the operator's log. */
  cause?: unknown
}

/** How one try ended: with a status or with an error class, never both. */
export type Outcome = Answered | Unanswered

/** Whether an error class is a fault of ours, so that the try must not be counted. */
export function isOwnFault(errorClass: ErrorClass): errorClass is OwnFault {
  return OWN_FAULTS.has(errorClass)
}

const OWN_FAULTS: ReadonlySet<ErrorClass> = new Set<OwnFault>([
  'exhausted',
  'resolver',
  'stalled',
  'stopped',
  'unexpected',
])

/** The end of a try before a status, thrown through undici; it must carry no `code`, since undici acts on some. */
export class Fault extends Error {
  override name = 'Fault'
  readonly errorClass: ErrorClass

  constructor(errorClass: ErrorClass, cause?: unknown) {
    super(errorClass, { cause })
    this.errorClass = errorClass
  }
}

/** What an error met on a connection means: a Fault as it is, our own shortages as `exhausted`, else `otherwise`. */
export function faultOf(error: unknown, otherwise: ErrorClass): Fault {
  if (error instanceof Fault) return error
  return new Fault(
    OWN_SHORTAGES.has(codeOf(error)) || isWithoutNetwork(error) ? 'exhausted' : otherwise,
    error,
  )
}

/**
 * Whether this machine has no way to any of the addresses, one of IPv4 among them: an endpoint that has IPv6 only is
 * at fault where we have none.
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

/** The fault of a time-out that fired so many milliseconds after it was due: very late means that we stood still. */
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
