import type { Instant } from '../../calendar/calendar.ts'
import type { Breaker } from '../endpoint/breaker.ts'
import type { WireCredentials } from '../endpoint/credentials.ts'
import type { EndpointRow, Pair } from '../endpoint/endpoint.ts'
import type { Health } from '../endpoint/health.ts'
import type { Ask, DueRow, QueuePosition } from './due.ts'
import type { Due, QueueKind } from './fairness.ts'
import { type ModeState, roomIn } from './mode.ts'
import type { EndpointLease, HealthRecord } from './result.ts'

/** A delivery in this process's memory: queued, under way, or with a result that is being written. */
export type Item = Omit<DueRow, 'ask' | 'behind' | 'version' | 'body' | 'created_at'> & {
  readonly body: Buffer
  readonly created_at: Instant
}

/**
 * How long after it was raised an event may be committed: transactions last for seconds, and clocks differ. Nothing new
 * can appear before a position that is older than this, so the head of such a queue is not read again.
 */
const LATE_MS = 60_000
/** How many deliveries that were committed late one read of a head may return; the next read returns the rest. */
const HEAD_QUOTA = 32

/**
 * A queue as long as this is left out of reads. Otherwise each new event for an endpoint that accepts nothing would make
 * the reader fetch its whole, growing queue again.
 */
const ENOUGH = 64

const QUEUE_KINDS: readonly QueueKind[] = ['fresh', 'retry', 'replay']

/** One endpoint that this process owns: its queues and its health. Plain state, without input or output. */
export type OwnedEndpoint = {
  readonly partnerId: string
  readonly endpointId: string
  readonly epoch: number
  readonly lease: EndpointLease
  endpoint: EndpointRow
  credentials: WireCredentials
  breaker: Breaker
  health: Health
  pausedUntil: Instant | null
  acceptedPair: Pair | null
  nextAcceptedAt: Instant | null
  certificateEndsAt: Instant | null
  /** Changed by `beginLeaving`, `beginRelease` and `endRelease` only. */
  phase: ModeState['phase']
  /** How many faults on our side happened in a row, and until when the endpoint pauses because of them. */
  ownFaults: number
  ownFaultUntil: Instant
  readonly queues: Readonly<Record<QueueKind, Item[]>>
  /** Until when it is read often, because something was due a moment ago; on the clock of `performance.now()`. */
  activeUntil: number
  /** When the last read of it began, on the same clock. */
  readAt: number
  /** Raised when the queues are emptied: the answer to an older read is then ignored. */
  generation: number
  /** For each queue of which the database has more: the position up to which it was read. */
  readonly readUpTo: Record<QueueKind, QueuePosition | undefined>
  /** The queues that were left out of a read since they were last read. */
  readonly passedBy: Record<QueueKind, boolean>
  /** Everything in memory, by event; changed by `queueItem` and `forgetItem` only. */
  readonly items: Map<string, Item>
  /** How many of each kind are in memory. */
  readonly countOf: Record<QueueKind, number>
}

/** The state of an endpoint whose lease this process has just taken. */
export function ownEndpoint(
  endpoint: EndpointRow,
  credentials: WireCredentials,
  epoch: number,
): OwnedEndpoint {
  const lease = { partnerId: endpoint.partner_id, endpointId: endpoint.endpoint_id, epoch }
  return {
    ...lease,
    lease,
    endpoint,
    credentials,
    ...knownOf(endpoint),
    phase: 'sending',
    ownFaults: 0,
    ownFaultUntil: 0,
    activeUntil: 0,
    readAt: Number.NEGATIVE_INFINITY,
    generation: 0,
    queues: { fresh: [], retry: [], replay: [] },
    readUpTo: { fresh: undefined, retry: undefined, replay: undefined },
    passedBy: { fresh: false, retry: false, replay: false },
    items: new Map(),
    countOf: { fresh: 0, retry: 0, replay: 0 },
  }
}

/** Replaces the endpoint by the version that somebody changed it to; what was queued is read again for that version. */
export function replaceEndpoint(
  owned: OwnedEndpoint,
  endpoint: EndpointRow,
  credentials: WireCredentials,
): void {
  // What this process knows of the health is newer than what is stored, unless the health was reset.
  if (endpoint.revision !== owned.endpoint.revision) Object.assign(owned, knownOf(endpoint))
  owned.endpoint = endpoint
  owned.credentials = credentials
  emptyQueues(owned)
}

function knownOf(endpoint: EndpointRow) {
  return {
    breaker: endpoint.breaker,
    health: { failingSince: endpoint.failing_since, notices: endpoint.notices },
    pausedUntil: endpoint.paused_until,
    acceptedPair: endpoint.accepted_pair,
    nextAcceptedAt: endpoint.next_accepted_at,
    certificateEndsAt: endpoint.certificate_ends_at,
  }
}

/** Forgets the deliveries that wait in memory; the database still has them. */
export function emptyQueues(owned: OwnedEndpoint): void {
  for (const queue of QUEUE_KINDS) {
    for (const item of owned.queues[queue].splice(0)) forgetItem(owned, item)
    readAgain(owned, queue)
  }
}

/** Makes the next read begin at the head of the queue, whatever was read before. */
export function readAgain(owned: OwnedEndpoint, queue: QueueKind): void {
  owned.readUpTo[queue] = undefined
  owned.generation += 1
}

/** What the endpoint offers for turns. While it is probed, that is its oldest due delivery alone. */
export function dueIn(owned: OwnedEndpoint, limit: number, now: Instant): Due {
  const room = roomIn(owned, limit, now)
  const { fresh, retry, replay } = owned.queues
  const due = { fresh: fresh.length, retry: retry.length, replay: replay.length, limit: room }
  if (owned.breaker.open === null || room === 0) return due
  const probe = oldestQueue(owned)
  const none = { fresh: 0, retry: 0, replay: 0, limit: room }
  return probe === undefined ? none : { ...none, [probe]: 1 }
}

function oldestQueue({ queues }: OwnedEndpoint): QueueKind | undefined {
  let oldest: QueueKind | undefined
  for (const queue of QUEUE_KINDS) {
    const head = queues[queue][0]
    const best = oldest && queues[oldest][0]
    if (head && (!best || head.due_at < best.due_at)) oldest = queue
  }
  return oldest
}

/**
 * What should be read for the endpoint: nothing while nothing may be sent there. A queue with enough in it is left out,
 * unless `fromHead` asks for the head of each queue. Where the database is known to have more, the next read continues
 * where the last one ended, and only when the queue runs low.
 */
export function asksOf(
  owned: OwnedEndpoint,
  options: { limit: number; quota: number; now: Instant; fromHead: boolean },
): Ask[] {
  const room = roomIn(owned, options.limit, options.now)
  if (room === 0) return []
  const isProbing = owned.breaker.open !== null
  // While few attempts may be under way, reading far ahead would only fill the memory.
  const quota = isProbing ? 1 : Math.min(options.quota, room * 16)
  const { partnerId, endpointId, queues, readUpTo, passedBy, countOf: count } = owned
  return QUEUE_KINDS.flatMap(queue => {
    const missing = quota - queues[queue].length
    const position = readUpTo[queue]
    // A delivery that was parked, and whose turn has come, is found before that position.
    const isFromHead = position === undefined || isProbing || owned.endpoint.ordering === 'user'
    if (!isFromHead && options.fromHead && position.dueAt > options.now - LATE_MS)
      return [{ partnerId, endpointId, queue, after: undefined, quota: count[queue] + HEAD_QUOTA }]
    if (isFromHead && (missing <= 0 || (!options.fromHead && queues[queue].length >= enoughOf(quota)))) {
      passedBy[queue] = true
      return []
    }
    const after = isFromHead ? undefined : position
    if (after && (missing <= 0 || !isLow(owned, queue, quota))) return []
    passedBy[queue] = false
    // A read from the head also returns the deliveries that are in memory already, so ask for that many more.
    return [{ partnerId, endpointId, queue, after, quota: after ? missing : missing + count[queue] }]
  })
}

/** Puts a delivery that was read into its queue, unless it is in memory already. */
export function queueItem(owned: OwnedEndpoint, item: Item): void {
  if (owned.items.has(item.event_id)) return
  owned.items.set(item.event_id, item)
  owned.countOf[item.queue] += 1
  owned.queues[item.queue].push(item)
}

/** Forgets a delivery that is not queued. */
export function forgetItem(owned: OwnedEndpoint, item: Item): void {
  if (owned.items.delete(item.event_id)) owned.countOf[item.queue] -= 1
}

function enoughOf(quota: number): number {
  return Math.min(ENOUGH, quota / 4)
}

/** Whether a queue is short although the database has, or may have, more of it. */
export function runsLow(owned: OwnedEndpoint, quota: number): boolean {
  return QUEUE_KINDS.some(queue => isLow(owned, queue, quota))
}

function isLow(owned: OwnedEndpoint, queue: QueueKind, quota: number): boolean {
  return (
    (owned.readUpTo[queue] !== undefined && owned.queues[queue].length <= quota / 2) ||
    (owned.passedBy[queue] && owned.queues[queue].length < enoughOf(quota))
  )
}

/** The part of the endpoint's state that is stored. */
export function healthOf(owned: OwnedEndpoint): HealthRecord {
  return {
    revision: owned.endpoint.revision,
    breaker: owned.breaker,
    failingSince: owned.health.failingSince,
    notices: owned.health.notices,
    pausedUntil: owned.pausedUntil,
    acceptedPair: owned.acceptedPair,
    nextAcceptedAt: owned.nextAcceptedAt,
    certificateEndsAt: owned.certificateEndsAt,
  }
}
