import type { Instant } from '../calendar/calendar.ts'
import { createTurns, type Turns } from './fairness.ts'
import { dueIn, emptyQueues, type Lane, opensAt } from './lane.ts'
import type { Outgoing } from './outgoing.ts'
import type { Timers } from './timers.ts'

/** The endpoints that this process owns, and whose turn it is among them. */
export type OpenLanes = {
  readonly turns: Turns
  all(): Lane[]
  get(endpointId: string): Lane | undefined
  add(lane: Lane): void
  /** Whether this very lane is still ours: an endpoint that was lost and taken again has a new one. */
  isOwned(lane: Lane): boolean
  /** How much of one kind of work is read ahead for each. */
  quota(): number
  /** Says what the lane has to offer now, and looks again when it opens by itself. */
  place(lane: Lane): void
  /** Starts nothing more there; the next beat gives it up once nothing is under way. */
  leave(lane: Lane): void
  /** Forgets a lane that is not ours any more. */
  drop(lane: Lane): void
  count(): number
}

/** Rows that are read ahead, over all endpoints. */
const ROWS_IN_MEMORY = 8192
const MOST_QUOTA = 1024
const LEAST_QUOTA = 8

/** Opens an empty set of lanes; `onOpen` is called when a lane that was closed for a time has opened. */
export const openLanes = (context: {
  slots: number
  endpointSlots: number
  outgoing: Pick<Outgoing, 'forget'>
  timers: Timers
  real: () => Instant
  onOpen: (lane: Lane) => void
}): OpenLanes => {
  const { endpointSlots, outgoing, timers, real } = context
  const lanes = new Map<string, Lane>()
  const turns = createTurns(context.slots)
  const isOwned = (lane: Lane) => lanes.get(lane.endpointId) === lane

  const place = (lane: Lane) => {
    if (!isOwned(lane)) return
    turns.offer(lane.endpointId, dueIn(lane, endpointSlots, real()), performance.now())
    const at = opensAt(lane, real())
    if (at !== undefined) wakeAt(lane, at)
  }
  const wakeAt = (lane: Lane, at: Instant) =>
    // Timers may fire a moment early.
    timers.set(`lane ${lane.endpointId}`, at - real() + 2, () => {
      if (!isOwned(lane)) return
      place(lane)
      context.onOpen(lane)
    })

  return {
    turns,
    all: () => [...lanes.values()],
    get: endpointId => lanes.get(endpointId),
    add: lane => void lanes.set(lane.endpointId, lane),
    isOwned,
    quota: () =>
      Math.max(LEAST_QUOTA, Math.min(MOST_QUOTA, Math.floor(ROWS_IN_MEMORY / Math.max(1, lanes.size)))),
    place,
    leave(lane) {
      lane.isLeaving = true
      emptyQueues(lane)
      place(lane)
    },
    drop(lane) {
      emptyQueues(lane)
      lanes.delete(lane.endpointId)
      turns.forget(lane.endpointId)
      outgoing.forget(lane.endpointId)
      timers.clear(`lane ${lane.endpointId}`)
      timers.clear(`due ${lane.endpointId}`)
    },
    count: () => lanes.size,
  }
}
