import type { Instant } from '../../calendar/calendar.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { createTurns, type Turns } from './fairness.ts'
import { beginLeaving, modeOf } from './mode.ts'
import { dueIn, emptyQueues, type OwnedEndpoint } from './owned-endpoint.ts'
import type { Timers } from './timers.ts'

/** The endpoints that this process owns, and whose turn it is among them. */
export type OwnedEndpoints = {
  readonly turns: Turns
  all(): OwnedEndpoint[]
  get(endpointId: string): OwnedEndpoint | undefined
  add(owned: OwnedEndpoint): void
  /** Whether this object is still current: an endpoint that was lost and taken again has a new one. */
  isOwned(owned: OwnedEndpoint): boolean
  /** How many deliveries of one kind are read ahead for each endpoint. */
  quota(): number
  /** Offers what the endpoint has to send now; while it is paused, does so again when the pause ends. */
  offer(owned: OwnedEndpoint): void
  /** Starts no more attempts there; the next heartbeat releases the endpoint once nothing is under way. */
  leave(owned: OwnedEndpoint): void
  /** Forgets an endpoint that another process owns now. */
  drop(owned: OwnedEndpoint): void
  count(): number
}

/** Rows that are read ahead, over all endpoints. */
const ROWS_IN_MEMORY = 8192
const MOST_QUOTA = 1024
const LEAST_QUOTA = 8

/** Opens an empty set of endpoints; `onOpen` is called when the pause of an endpoint has ended. */
export function openOwnedEndpoints(context: {
  slots: number
  endpointSlots: number
  outgoing: Pick<Outgoing, 'forget'>
  timers: Timers
  real: () => Instant
  onOpen: (owned: OwnedEndpoint) => void
}): OwnedEndpoints {
  const { endpointSlots, outgoing, timers, real } = context
  const endpoints = new Map<string, OwnedEndpoint>()
  const turns = createTurns(context.slots)
  const isOwned = (owned: OwnedEndpoint) => endpoints.get(owned.endpointId) === owned

  const offer = (owned: OwnedEndpoint) => {
    if (!isOwned(owned)) return
    turns.offer(owned.endpointId, dueIn(owned, endpointSlots, real()), performance.now())
    const mode = modeOf(owned, real())
    if (mode.kind === 'waiting') wakeAt(owned, mode.until)
  }
  const wakeAt = (owned: OwnedEndpoint, at: Instant) =>
    // Timers may fire a moment early.
    timers.set(`owned ${owned.endpointId}`, at - real() + 2, () => {
      if (!isOwned(owned)) return
      offer(owned)
      context.onOpen(owned)
    })

  return {
    turns,
    all: () => [...endpoints.values()],
    get: endpointId => endpoints.get(endpointId),
    add: owned => void endpoints.set(owned.endpointId, owned),
    isOwned,
    quota: () =>
      Math.max(LEAST_QUOTA, Math.min(MOST_QUOTA, Math.floor(ROWS_IN_MEMORY / Math.max(1, endpoints.size)))),
    offer,
    leave(owned) {
      beginLeaving(owned)
      emptyQueues(owned)
      offer(owned)
    },
    drop(owned) {
      emptyQueues(owned)
      endpoints.delete(owned.endpointId)
      turns.forget(owned.endpointId)
      outgoing.forget(owned.endpointId)
      timers.clear(`owned ${owned.endpointId}`)
      timers.clear(`due ${owned.endpointId}`)
    },
    count: () => endpoints.size,
  }
}
