import type { Instant } from '../../calendar/calendar.ts'
import type { WireCredentials } from '../endpoint/credentials.ts'
import type { EndpointRow } from '../endpoint/endpoint.ts'
import type { Ask, DueRow, QueuePosition } from './due.ts'
import type { LoadedEndpoint } from './endpoint-loader.ts'
import type { Due, QueueKind } from './fairness.ts'
import { type ModeState, roomIn } from './mode.ts'
import type { EndpointLease, HealthRecord } from './result.ts'

/** A delivery in this process's memory: queued, under way, or with a result that is being written. */
export type Item = Omit<DueRow, 'behind' | 'version' | 'body' | 'created_at'> & {
  readonly body: Buffer
  readonly created_at: Instant
}

/**
 * How long after it was raised an event may be committed: transactions last for seconds, and clocks differ. Nothing new
 * can appear before a position that is older than this, so the head of such a queue is not read again.
 */
const LATE_MS = 60_000
/** How often the head of a long queue is read again: a delivery that was committed late appears there. */
const HEAD_MS = 5000
/** How many deliveries that were committed late one read of a head may return; the next read returns the rest. */
const HEAD_QUOTA = 32

/**
 * A queue as long as this is not read from its head. Otherwise each new event for an endpoint that accepts nothing would
 * make the reader fetch its whole, growing queue again.
 */
const ENOUGH = 64

const QUEUE_KINDS: readonly QueueKind[] = ['fresh', 'retry', 'replay']

/** One queue of an endpoint: what of it is in memory, and what the database may have besides. */
type Queue = {
  /** What waits for its turn, oldest first. */
  readonly waiting: Item[]
  /** How many of its deliveries are in memory: those that wait, and those that are under way. */
  inMemory: number
  /** If the database has more: the position up to which it was read. */
  readUpTo: QueuePosition | undefined
  /** Whether a read of the endpoint left this queue out, as enough of it was in memory, and none has taken it in since. */
  isPassedBy: boolean
}

/** One endpoint that this process owns: its queues and its health. Plain state, without input or output. */
export type OwnedEndpoint = EndpointLease & {
  readonly lease: EndpointLease
  endpoint: EndpointRow
  credentials: WireCredentials
  /** Its stored state, replaced as a whole. */
  health: HealthRecord
  /** Changed by `beginLeaving`, `beginRelease` and `endRelease` only. */
  phase: ModeState['phase']
  /** How many faults on our side happened in a row, and until when the endpoint pauses because of them. */
  ownFaults: number
  ownFaultUntil: Instant
  readonly queues: Readonly<Record<QueueKind, Queue>>
  /** The events in memory; changed by `queueItem` and `forgetItem` only. */
  readonly inMemory: Set<string>
  /** Until when it is read often, because something was due a moment ago; on the clock of `performance.now()`. */
  activeUntil: number
  /** When the last read of it began, and when the heads of long queues are to be read again; on the same clock. */
  readAt: number
  headsDueAt: number
  /** Raised when the queues are emptied: the answer to an older read is then ignored. */
  generation: number
  /** While it is read: the events that were forgotten since the read began, which it may still return as due. */
  forgottenMeanwhile: Set<string> | undefined
  /** Whether something that a read returned is being set aside: until then a read would return it again. */
  isSettingAside: boolean
}

/** The state of an endpoint whose lease this process has just taken. */
export function ownEndpoint({ endpoint, credentials }: LoadedEndpoint, epoch: number): OwnedEndpoint {
  const lease = { partnerId: endpoint.partner_id, endpointId: endpoint.endpoint_id, epoch }
  return {
    ...lease,
    lease,
    endpoint,
    credentials,
    health: healthOf(endpoint),
    phase: 'sending',
    ownFaults: 0,
    ownFaultUntil: 0,
    queues: { fresh: emptyQueue(), retry: emptyQueue(), replay: emptyQueue() },
    inMemory: new Set(),
    activeUntil: 0,
    readAt: Number.NEGATIVE_INFINITY,
    headsDueAt: 0,
    generation: 0,
    forgottenMeanwhile: undefined,
    isSettingAside: false,
  }
}

function emptyQueue(): Queue {
  return { waiting: [], inMemory: 0, readUpTo: undefined, isPassedBy: false }
}

/** Replaces the endpoint by the version that somebody changed it to; what was queued is read again for that version. */
export function replaceEndpoint(owned: OwnedEndpoint, { endpoint, credentials }: LoadedEndpoint): void {
  // What this process knows of the health is newer than what is stored, unless the health was reset.
  if (endpoint.revision !== owned.health.revision) owned.health = healthOf(endpoint)
  owned.endpoint = endpoint
  owned.credentials = credentials
  emptyQueues(owned)
}

function healthOf(endpoint: EndpointRow): HealthRecord {
  return {
    revision: endpoint.revision,
    breaker: endpoint.breaker,
    failingSince: endpoint.failing_since,
    notices: endpoint.notices,
    pausedUntil: endpoint.paused_until,
    acceptedPair: endpoint.accepted_pair,
    nextAcceptedAt: endpoint.next_accepted_at,
    certificateEndsAt: endpoint.certificate_ends_at,
  }
}

/** Forgets the deliveries that wait in memory; the database still has them. */
export function emptyQueues(owned: OwnedEndpoint): void {
  for (const kind of QUEUE_KINDS) {
    for (const item of owned.queues[kind].waiting.splice(0)) forgetItem(owned, item)
    readAgain(owned, kind)
  }
}

/** Makes the next read begin at the head of the queue, whatever was read before. */
export function readAgain(owned: OwnedEndpoint, kind: QueueKind): void {
  owned.queues[kind].readUpTo = undefined
  owned.generation += 1
}

/** What the endpoint offers for turns. While it is probed, that is its oldest due delivery alone. */
export function dueIn(owned: OwnedEndpoint, limit: number, now: Instant): Due {
  const { fresh, retry, replay } = owned.queues
  const due = {
    fresh: fresh.waiting.length,
    retry: retry.waiting.length,
    replay: replay.waiting.length,
    limit: roomIn(owned, limit, now),
  }
  if (owned.health.breaker.open === null) return due
  const dueAt = (kind: QueueKind) => owned.queues[kind].waiting[0]?.due_at ?? Number.POSITIVE_INFINITY
  const probe = QUEUE_KINDS.reduce((oldest, kind) => (dueAt(kind) < dueAt(oldest) ? kind : oldest))
  return { fresh: 0, retry: 0, replay: 0, limit: due.limit, [probe]: Math.min(1, due[probe]) }
}

/** One ask of a read, and the state of the endpoint for which it was made. */
export type OwnedAsk = Ask & { readonly owned: OwnedEndpoint; readonly generation: number }

/**
 * Begins a read of the endpoint, and returns what should be read: nothing while nothing may be sent there, or while
 * something is being set aside. `limit` is how many attempts may be under way at the endpoint, `quota` how many
 * deliveries of a kind may be in memory.
 */
export function beginRead(
  owned: OwnedEndpoint,
  { limit, now, ...options }: { limit: number; quota: number; now: Instant },
): OwnedAsk[] {
  owned.readAt = performance.now()
  owned.forgottenMeanwhile = new Set()
  if (owned.isSettingAside) return []
  const fromHead = owned.readAt >= owned.headsDueAt
  if (fromHead) owned.headsDueAt = owned.readAt + HEAD_MS
  const room = roomIn(owned, limit, now)
  if (room === 0) return []
  // While few attempts may be under way, reading far ahead would only fill the memory.
  const quota = owned.health.breaker.open === null ? Math.min(options.quota, room * 16) : 1
  const { partnerId, endpointId, generation } = owned
  return QUEUE_KINDS.flatMap(kind => {
    const range = rangeToRead(owned, owned.queues[kind], { quota, now, fromHead })
    return range ? [{ partnerId, endpointId, queue: kind, ...range, owned, generation }] : []
  })
}

function rangeToRead(
  owned: OwnedEndpoint,
  queue: Queue,
  { quota, now, fromHead }: { quota: number; now: Instant; fromHead: boolean },
): Pick<Ask, 'after' | 'quota'> | undefined {
  const { readUpTo, waiting, inMemory } = queue
  const missing = quota - waiting.length
  // A delivery that was parked, and whose turn has come, is found before the position.
  if (!readUpTo || owned.health.breaker.open !== null || owned.endpoint.ordering === 'user') {
    queue.isPassedBy = waiting.length >= (fromHead ? quota : enoughOf(quota))
    // A read from the head also returns the deliveries that are in memory already, so ask for that many more.
    return queue.isPassedBy ? undefined : { after: undefined, quota: missing + inMemory }
  }
  if (fromHead && readUpTo.dueAt > now - LATE_MS) return { after: undefined, quota: HEAD_QUOTA + inMemory }
  if (!isLow(queue, quota)) return undefined
  queue.isPassedBy = false
  return { after: readUpTo, quota: missing }
}

/** Whether a queue is short although the database has, or may have, more of it. */
export function runsLow(owned: OwnedEndpoint, quota: number): boolean {
  return QUEUE_KINDS.some(kind => isLow(owned.queues[kind], quota))
}

function isLow({ waiting: { length }, readUpTo, isPassedBy }: Queue, quota: number): boolean {
  return (readUpTo !== undefined && length <= quota / 2) || (isPassedBy && length < enoughOf(quota))
}

function enoughOf(quota: number): number {
  return Math.min(ENOUGH, quota / 4)
}

/** Puts a delivery that was read into its queue, unless it is in memory already. */
export function queueItem(owned: OwnedEndpoint, item: Item): void {
  if (owned.inMemory.has(item.event_id)) return
  owned.inMemory.add(item.event_id)
  owned.queues[item.queue].inMemory += 1
  owned.queues[item.queue].waiting.push(item)
}

/** Forgets a delivery that is not queued: its result is written, or it will be read again. */
export function forgetItem(owned: OwnedEndpoint, item: Item): void {
  owned.forgottenMeanwhile?.add(item.event_id)
  if (owned.inMemory.delete(item.event_id)) owned.queues[item.queue].inMemory -= 1
}
