import type { Instant } from '../calendar/calendar.ts'
import { type Breaker, failuresLeft, roomOf } from './breaker.ts'
import type { WireCredentials } from './credentials.ts'
import type { Ask, DueRow, Place } from './due.ts'
import type { EndpointRow } from './endpoint.ts'
import type { Due, Work } from './fairness.ts'
import type { Health } from './health.ts'
import type { Claim, HealthRecord, Pair } from './results.ts'

/** A delivery that this process holds: queued, under way, or with a result that is being written. */
export type Item = Omit<DueRow, 'ask' | 'behind' | 'version'>

/**
 * An event may be committed some time after it was raised: a transaction may last for seconds, and clocks differ. What
 * was read further back than this is not looked through again before all of it is done.
 */
const LATE_MS = 60_000
/** How much a look at the head may find that was committed late; if it is more, the next look finds the rest. */
const HEAD_QUOTA = 32

/**
 * While so much of one kind is queued, looks pass it by: what is held would be read again with each new event, for ever
 * at an endpoint that takes none.
 */
const ENOUGH = 64

const WORKS: readonly Work[] = ['fresh', 'retry', 'replay']

/** One endpoint that this process owns: what is due there, and how it fares. Plain state, without input or output. */
export type Lane = {
  readonly partnerId: string
  readonly endpointId: string
  readonly epoch: number
  readonly claim: Claim
  endpoint: EndpointRow
  credentials: WireCredentials
  breaker: Breaker
  health: Health
  pausedUntil: Instant | null
  acceptedPair: Pair | null
  nextAcceptedAt: Instant | null
  /** To be given up as soon as nothing is under way. */
  isLeaving: boolean
  /** Nothing is sent while what was tried in an outage is put in its place. */
  isReleasing: boolean
  /** Faults of our own in a row, and until when we wait because of them. */
  ownFaults: number
  ownFaultUntil: Instant
  readonly queues: Readonly<Record<Work, Item[]>>
  /** Until when it is looked at often, on the clock of `performance.now()`: work came a moment ago, and more may come. */
  activeUntil: number
  /** When the last look at it began, on the same clock. */
  lookedAt: number
  /** Grows when what was read is void: the answer to a look that began before is thrown away. */
  generation: number
  /** Kinds of which the database has more than was read, and up to where it was read. */
  readonly readUpTo: Record<Work, Place | undefined>
  /** Kinds that a look has passed by since they were read last. */
  readonly passedBy: Record<Work, boolean>
  /** Everything held, by event; changed by `queueItem` and `letGo` only. */
  readonly held: Map<string, Item>
  /** How many of each kind are held. */
  readonly heldOf: Record<Work, number>
}

/** Opens the lane of an endpoint that was just taken. */
export const openLane = (endpoint: EndpointRow, credentials: WireCredentials, epoch: number): Lane => {
  const claim = { partnerId: endpoint.partner_id, endpointId: endpoint.endpoint_id, epoch }
  return {
    ...claim,
    claim,
    endpoint,
    credentials,
    ...knownOf(endpoint),
    isLeaving: false,
    isReleasing: false,
    ownFaults: 0,
    ownFaultUntil: 0,
    activeUntil: 0,
    lookedAt: Number.NEGATIVE_INFINITY,
    generation: 0,
    queues: { fresh: [], retry: [], replay: [] },
    readUpTo: { fresh: undefined, retry: undefined, replay: undefined },
    passedBy: { fresh: false, retry: false, replay: false },
    held: new Map(),
    heldOf: { fresh: 0, retry: 0, replay: 0 },
  }
}

/** Takes over an endpoint that somebody changed; what was queued is read again, by the new version. */
export const renewLane = (lane: Lane, endpoint: EndpointRow, credentials: WireCredentials): void => {
  // The owner itself wrote all but what a reset changed.
  if (endpoint.revision !== lane.endpoint.revision) Object.assign(lane, knownOf(endpoint))
  lane.endpoint = endpoint
  lane.credentials = credentials
  emptyQueues(lane)
}

const knownOf = (endpoint: EndpointRow) => ({
  breaker: endpoint.breaker,
  health: { failingSince: endpoint.failing_since, notices: endpoint.notices },
  pausedUntil: endpoint.paused_until,
  acceptedPair: endpoint.accepted_pair,
  nextAcceptedAt: endpoint.next_accepted_at,
})

/** Lets go of what waits in memory; the database still has it. */
export const emptyQueues = (lane: Lane): void => {
  for (const work of WORKS) {
    for (const item of lane.queues[work].splice(0)) letGo(lane, item)
    readAgain(lane, work)
  }
}

/** Has the next look begin at the head, whatever was read before. */
export const readAgain = (lane: Lane, work: Work): void => {
  lane.readUpTo[work] = undefined
  lane.generation += 1
}

/**
 * How many tries may be in flight there now. An endpoint that has never accepted anything gets, after a failure, no more
 * than would open its breaker: each might take the whole deadline. One that has is not held so: a few tries that hang
 * would keep from it all that it would accept.
 */
export const roomIn = (lane: Lane, limit: number, now: Instant): number => {
  if (lane.isLeaving || lane.isReleasing || now < lane.ownFaultUntil || now < (lane.pausedUntil ?? 0))
    return 0
  const room = roomOf(lane.breaker, limit, now)
  return lane.acceptedPair === null ? Math.min(room, failuresLeft(lane.breaker)) : room
}

/** When a closed lane opens again by itself; `undefined` when it is not closed for a time. */
export const opensAt = (lane: Lane, now: Instant): Instant | undefined => {
  const at = Math.max(lane.ownFaultUntil, lane.pausedUntil ?? 0, lane.breaker.open?.until ?? 0)
  return at > now ? at : undefined
}

/** What the lane has to offer for turns; a probe is the oldest of all that is due, and nothing else. */
export const dueIn = (lane: Lane, limit: number, now: Instant): Due => {
  const room = roomIn(lane, limit, now)
  const { fresh, retry, replay } = lane.queues
  const due = { fresh: fresh.length, retry: retry.length, replay: replay.length, limit: room }
  if (lane.breaker.open === null || room === 0) return due
  const probe = oldestWork(lane)
  const none = { fresh: 0, retry: 0, replay: 0, limit: room }
  return probe === undefined ? none : { ...none, [probe]: 1 }
}

const oldestWork = ({ queues }: Lane): Work | undefined => {
  let oldest: Work | undefined
  for (const work of WORKS) {
    const head = queues[work][0]
    const best = oldest && queues[oldest][0]
    if (head && (!best || head.due_at < best.due_at)) oldest = work
  }
  return oldest
}

/**
 * What should be read: nothing while the lane is closed. Without `fromHead`, which asks for a look at the head, what has
 * enough queued is passed by; and where the database is known to have more, the next read goes on where the last one
 * ended, and only when the queue runs low.
 */
export const asksOf = (
  lane: Lane,
  options: { limit: number; quota: number; now: Instant; fromHead: boolean },
): Ask[] => {
  const room = roomIn(lane, options.limit, options.now)
  if (room === 0) return []
  const isProbing = lane.breaker.open !== null
  // While few tries may be under way, reading far ahead would only fill the memory.
  const quota = isProbing ? 1 : Math.min(options.quota, room * 16)
  const { partnerId, endpointId, queues, readUpTo, passedBy, heldOf: count } = lane
  return WORKS.flatMap(work => {
    const missing = quota - queues[work].length
    const place = readUpTo[work]
    // What was parked until its turn came stands before that place.
    const isFromHead = place === undefined || isProbing || lane.endpoint.ordering === 'user'
    if (!isFromHead && options.fromHead && place.dueAt > options.now - LATE_MS)
      return [{ partnerId, endpointId, work, after: undefined, quota: count[work] + HEAD_QUOTA }]
    if (isFromHead && (missing <= 0 || (!options.fromHead && queues[work].length >= enoughOf(quota)))) {
      passedBy[work] = true
      return []
    }
    const after = isFromHead ? undefined : place
    if (after && (missing <= 0 || !isLow(lane, work, quota))) return []
    passedBy[work] = false
    // What is held stands at the head of the queue still, and comes again.
    return [{ partnerId, endpointId, work, after, quota: after ? missing : missing + count[work] }]
  })
}

/** Puts a delivery that was read into its queue; false when it is held already. */
export const queueItem = (lane: Lane, item: Item): boolean => {
  if (lane.held.has(item.event_id)) return false
  lane.held.set(item.event_id, item)
  lane.heldOf[item.work] += 1
  lane.queues[item.work].push(item)
  return true
}

/** Says that a delivery is not held any more. */
export const letGo = (lane: Lane, item: Item): void => {
  if (lane.held.delete(item.event_id)) lane.heldOf[item.work] -= 1
}

const enoughOf = (quota: number): number => Math.min(ENOUGH, quota / 4)

/** Whether a queue runs low of which the database has, or may have, more. */
export const runsLow = (lane: Lane, quota: number): boolean => WORKS.some(work => isLow(lane, work, quota))

const isLow = (lane: Lane, work: Work, quota: number): boolean =>
  (lane.readUpTo[work] !== undefined && lane.queues[work].length <= quota / 2) ||
  (lane.passedBy[work] && lane.queues[work].length < enoughOf(quota))

/** What is to be kept of the lane. */
export const healthOf = (lane: Lane): HealthRecord => ({
  revision: lane.endpoint.revision,
  breaker: lane.breaker,
  failingSince: lane.health.failingSince,
  notices: lane.health.notices,
  pausedUntil: lane.pausedUntil,
  acceptedPair: lane.acceptedPair,
  nextAcceptedAt: lane.nextAcceptedAt,
})
