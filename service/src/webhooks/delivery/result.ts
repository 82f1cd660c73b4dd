import type { Instant } from '../../calendar/calendar.ts'
import type { AttemptOutcome } from '../egress/outcome.ts'
import type { Breaker } from '../endpoint/breaker.ts'
import type { NamedEndpoint, Pair } from '../endpoint/endpoint.ts'
import type { QueueKind } from '../log/deliveries.ts'

/** One request that was made, as the log keeps it. */
export type Attempt = {
  readonly attemptId: string
  readonly startedAt: Instant
  readonly pair: Pair
  readonly outcome: AttemptOutcome
}

/** What happens to a delivery after an attempt. */
export type Disposition =
  | { readonly kind: 'delivered' }
  /** Another attempt at `dueAt`; `attempts` are spent. */
  | { readonly kind: 'later'; readonly attempts: number; readonly dueAt: Instant; readonly queue: QueueKind }
  | { readonly kind: 'dead'; readonly attempts: number }
  /** The attempt does not count: the row stays as it is. */
  | { readonly kind: 'unchanged' }

/** The part of an endpoint's state that the process which owns it stores. */
export type HealthRecord = {
  readonly revision: number
  readonly breaker: Breaker
  readonly failingSince: Instant | null
  readonly notices: number
  /** Until when the receiver asked us to wait. */
  readonly pausedUntil: Instant | null
  /** The credentials that the endpoint last accepted; null while it has accepted nothing. */
  readonly acceptedPair: Pair | null
  readonly nextAcceptedAt: Instant | null
  readonly certificateEndsAt: Instant | null
}

/**
 * The lease under which a process writes about an endpoint. It is the same object each time, so that a batch finds it
 * by identity.
 */
export type EndpointLease = NamedEndpoint & { readonly epoch: number }

/** The result of one attempt at a delivery: one request, or two while new credentials are on trial. */
export type Result = {
  readonly lease: EndpointLease
  readonly eventId: string
  /** Its number among the attempts at the delivery, from 1. */
  readonly number: number
  readonly disposition: Disposition
  readonly attempts: readonly Attempt[]
  readonly endedAt: Instant
}

/** A change of an endpoint's own state, to be written. */
export type EndpointChange = {
  readonly lease: EndpointLease
  readonly health: HealthRecord
  /** Disables the endpoint of this version. */
  readonly disable?: {
    readonly version: number
    readonly reason: 'failing' | 'gone'
    readonly at: Instant
    readonly since: Instant
  }
}

/**
 * Which leases are still valid, and for which of them the endpoint was disabled: it was not, if the partner changed it
 * in the meantime.
 */
export type Written = {
  readonly owned: ReadonlySet<EndpointLease>
  readonly disabled: ReadonlySet<EndpointLease>
}

/** A delivery whose turn has not come: an earlier event of its user is still to be delivered. */
export type Behind = { readonly lease: EndpointLease; readonly eventId: string }
