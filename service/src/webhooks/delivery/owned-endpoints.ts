import type { Instant } from '../../calendar/calendar.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { dueIn, emptyQueues, heldMs, type OwnedEndpoint } from './endpoint-queues.ts'
import { type AttemptTurns, createTurns } from './fairness.ts'
import { beginLeaving, modeOf } from './mode.ts'
import type { Timers } from './timers.ts'

/** The endpoints that this process owns, whose turn it is among them, and which of them the due reader should read. */
export type OwnedEndpoints = {
  readonly turns: AttemptTurns
  all(): OwnedEndpoint[]
  get(endpointId: string): OwnedEndpoint | undefined
  /** Adds an endpoint that was just taken, and requests a read of it. */
  add(owned: OwnedEndpoint): void
  /** Whether this object is still current: an endpoint that was lost and taken again has a new one. */
  isOwned(owned: OwnedEndpoint): boolean
  /** How many deliveries of one kind are read ahead for each endpoint. */
  quota(): number
  /** Offers what the endpoint has to send now; while it is paused, requests a read for the end of the pause. */
  offer(owned: OwnedEndpoint): void
  /** Asks the due reader to read what is due at the endpoint and to offer it. Ignored once the endpoint is not owned. */
  requestRead(owned: OwnedEndpoint): void
  /** The same after this many milliseconds, or earlier if that was asked for before. */
  readLater(owned: OwnedEndpoint, ms: number): void
  /** Takes up to `limit` of the endpoints to be read that may be read now, in the order of their requests. */
  takeRequested(limit: number): OwnedEndpoint[]
  /** Starts no more attempts there; the next heartbeat releases the endpoint once nothing is under way. */
  leave(owned: OwnedEndpoint): void
  /** Forgets an endpoint that another process owns now. */
  drop(owned: OwnedEndpoint): void
}

/** Rows that are read ahead, over all endpoints. */
const ROWS_IN_MEMORY = 8192
const MOST_QUOTA = 1024
const LEAST_QUOTA = 8

/** Opens an empty set of endpoints; `wake` is called when a read was requested. */
export function openOwnedEndpoints(context: {
  slots: number
  endpointSlots: number
  outgoing: Pick<Outgoing, 'forget'>
  timers: Timers
  real: () => Instant
  wake: () => void
}): OwnedEndpoints {
  const { endpointSlots, outgoing, timers, real } = context
  const endpoints = new Map<string, OwnedEndpoint>()
  const requested = new Set<OwnedEndpoint>()
  const turns = createTurns(context.slots)
  const isOwned = (owned: OwnedEndpoint) => endpoints.get(owned.endpointId) === owned

  const requestRead = (owned: OwnedEndpoint) => {
    if (isOwned(owned)) requested.add(owned)
    context.wake()
  }
  const offer = (owned: OwnedEndpoint) => {
    if (!isOwned(owned)) return
    // One instant for both: a pause that ended in between would close the endpoint without a timer.
    const now = real()
    turns.offer(owned.endpointId, dueIn(owned, endpointSlots, now), performance.now())
    const held = heldMs(owned)
    if (held > 0)
      timers.set(`rate ${owned.endpointId}`, held, () => {
        offer(owned)
        context.wake()
      })
    const mode = modeOf(owned, now)
    if (mode.kind === 'waiting')
      timers.set(`pause ${owned.endpointId}`, mode.until - now, () => requestRead(owned))
  }

  return {
    turns,
    all: () => [...endpoints.values()],
    get: endpointId => endpoints.get(endpointId),
    add(owned) {
      endpoints.set(owned.endpointId, owned)
      offer(owned)
      requestRead(owned)
    },
    isOwned,
    quota: () =>
      Math.max(LEAST_QUOTA, Math.min(MOST_QUOTA, Math.floor(ROWS_IN_MEMORY / Math.max(1, endpoints.size)))),
    offer,
    requestRead,
    readLater: (owned, ms) => timers.set(`read ${owned.endpointId}`, ms, () => requestRead(owned)),
    takeRequested(limit) {
      const taken = [...requested].slice(0, limit)
      for (const owned of taken) requested.delete(owned)
      return taken
    },
    leave(owned) {
      beginLeaving(owned)
      emptyQueues(owned)
      offer(owned)
    },
    drop(owned) {
      emptyQueues(owned)
      endpoints.delete(owned.endpointId)
      requested.delete(owned)
      turns.forget(owned.endpointId)
      outgoing.forget(owned.endpointId)
      timers.clear(`pause ${owned.endpointId}`)
      timers.clear(`rate ${owned.endpointId}`)
      timers.clear(`read ${owned.endpointId}`)
    },
  }
}
