import type { Instant } from '../../calendar/calendar.ts'
import type { WireCredentials } from '../endpoint/credentials.ts'
import type { EndpointRow } from '../endpoint/endpoint.ts'
import { QUEUE_KINDS, type QueueKind } from '../log/deliveries.ts'
import type { Ask, DueRow } from './due.ts'
import type { LoadedEndpoint } from './endpoint-loader.ts'
import type { Due } from './fairness.ts'
import { type ModeState, roomIn } from './mode.ts'
import { paced } from './pace.ts'
import type { EndpointLease, HealthRecord } from './result.ts'

/** A delivery in this process's memory: queued, under way, or with a result that is being written. */
export type Item = Pick<DueRow, 'event_id' | 'attempts' | 'due_at'> & {
  readonly traceparent?: string | null
  readonly queue: QueueKind
  readonly body: Buffer
  readonly created_at: Instant
}

/**
 * A queue as long as this is not read. Otherwise each new event for an endpoint that accepts nothing would make the reader
 * fetch its whole, growing queue again.
 */
const ENOUGH = 64

/** One queue of an endpoint, as far as it is in memory. */
type Queue = {
  /** What waits for its turn, oldest first. */
  readonly waiting: Item[]
  /** How many of its deliveries are in memory: those that wait, and those that are under way. */
  inMemory: number
  /** Whether the database may have more: the last read returned as many as it could, or left this queue out. */
  hasMore: boolean
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
  /** Where it has a rate: when the next delivery may begin, by the clock of `performance.now()`. */
  nextAt: number
  /** Whether others were told that it fails, and not yet that it has recovered. */
  isReported: boolean
  readonly queues: Readonly<Record<QueueKind, Queue>>
  /** The events in memory; changed by `queueItem` and `forgetItem` only. */
  readonly inMemory: Set<string>
  /** Until when it is read often, because something was due a moment ago; on the clock of `performance.now()`. */
  activeUntil: number
  /**
   * The events that were forgotten since the last read began, which that read may still return as due. Replaced when
   * queues are emptied: the answer to an older read is then ignored.
   */
  forgotten: Set<string>
  /** How many writes set aside what a read returned and cannot be sent: until their end a read would return it again. */
  settingAside: number
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
    nextAt: 0,
    isReported: endpoint.reported !== null,
    queues: { fresh: emptyQueue(), retry: emptyQueue(), replay: emptyQueue() },
    inMemory: new Set(),
    activeUntil: 0,
    forgotten: new Set(),
    settingAside: 0,
  }
}

function emptyQueue(): Queue {
  return { waiting: [], inMemory: 0, hasMore: false }
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
  for (const { waiting } of Object.values(owned.queues))
    for (const item of waiting.splice(0)) forgetItem(owned, item)
  owned.forgotten = new Set()
}

/** One ask of a read, and the events that were forgotten since it began. */
export type OwnedAsk = Ask & { readonly owned: OwnedEndpoint; readonly forgotten: ReadonlySet<string> }

/**
 * Begins a read of the endpoint, and returns what should be read: nothing while nothing may be sent there, or while
 * something is being set aside. `limit` is how many attempts may be under way at the endpoint, `quota` how many
 * deliveries of a kind may be in memory.
 */
export function beginRead(
  owned: OwnedEndpoint,
  { limit, now, ...options }: { limit: number; quota: number; now: Instant },
): OwnedAsk[] {
  const room = owned.settingAside > 0 ? 0 : roomIn(owned, limit, now)
  if (room === 0) return []
  const isProbed = owned.health.breaker.open !== null
  // While few attempts may be under way, reading far ahead would only fill the memory.
  const quota = isProbed ? 1 : Math.min(options.quota, room * 16)
  const { partnerId, endpointId } = owned
  const forgotten = new Set<string>()
  owned.forgotten = forgotten
  return QUEUE_KINDS.flatMap(kind => {
    const queue = owned.queues[kind]
    const waiting = queue.waiting.length
    queue.hasMore = waiting >= enoughOf(quota)
    if (queue.hasMore) return []
    // The deliveries that are in memory already are returned, too, so ask for that many more, and for at least as many
    // new ones: among many endpoints the quota is small, and a read would return little but what is under way.
    const ahead = isProbed ? 1 : Math.max(quota, queue.inMemory)
    return [{ partnerId, endpointId, queue: kind, quota: ahead - waiting + queue.inMemory, owned, forgotten }]
  })
}

/** Whether a queue is short although the database has, or may have, more of it. */
export function runsLow(owned: OwnedEndpoint, quota: number): boolean {
  return Object.values(owned.queues).some(
    ({ waiting, hasMore }) => hasMore && waiting.length < enoughOf(quota),
  )
}

function enoughOf(quota: number): number {
  return Math.min(ENOUGH, quota / 4)
}

/** Puts a delivery that was read into its queue. */
export function queueItem(owned: OwnedEndpoint, item: Item): void {
  owned.inMemory.add(item.event_id)
  owned.queues[item.queue].inMemory += 1
  owned.queues[item.queue].waiting.push(item)
}

/** Forgets a delivery that is not queued: its result is written, or it will be read again. */
export function forgetItem(owned: OwnedEndpoint, item: Item): void {
  owned.forgotten.add(item.event_id)
  if (owned.inMemory.delete(item.event_id)) owned.queues[item.queue].inMemory -= 1
}

/** For how many milliseconds its rate still holds back what is due. */
export function heldMs({ endpoint, nextAt }: OwnedEndpoint): number {
  return endpoint.rate_limit === null ? 0 : Math.max(0, nextAt - performance.now())
}

/** Counts a delivery that begins now against the rate of the endpoint. */
export function countStart(owned: OwnedEndpoint, rate: number): void {
  owned.nextAt = paced(owned.nextAt, rate, performance.now())
}

/** What the endpoint offers for turns. While it is probed, or has a rate, that is its oldest due delivery alone. */
export function dueIn(owned: OwnedEndpoint, limit: number, now: Instant): Due {
  const { fresh, retry, replay } = owned.queues
  const due = {
    fresh: fresh.waiting.length,
    retry: retry.waiting.length,
    replay: replay.waiting.length,
    limit: roomIn(owned, limit, now),
  }
  if (owned.health.breaker.open === null && owned.endpoint.rate_limit === null) return due
  const dueAt = (kind: QueueKind) => owned.queues[kind].waiting[0]?.due_at ?? Number.POSITIVE_INFINITY
  const oldest = QUEUE_KINDS.reduce((found, kind) => (dueAt(kind) < dueAt(found) ? kind : found))
  const offered = heldMs(owned) > 0 ? 0 : Math.min(1, due[oldest])
  return { fresh: 0, retry: 0, replay: 0, limit: due.limit, [oldest]: offered }
}
