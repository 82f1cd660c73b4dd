import { QUEUE_KINDS, type QueueKind } from '../log/deliveries.ts'

/** What an endpoint has due, and how many attempts it may have under way at once: 0 while its breaker is open. */
export type Due = {
  fresh: number
  retry: number
  replay: number
  limit: number
}

/** The right to make one attempt now; it holds one slot until it is ended. */
export type Turn = {
  readonly endpointId: string
  readonly queue: QueueKind
  readonly startedAt: number
  /** Which share of the slots it uses. */
  readonly share: Share
  /** What was charged for it beforehand, in milliseconds. */
  readonly charged: number
}

/** Divides the slots for attempts among the endpoints that have something due. */
export type AttemptTurns = {
  /** Sets what an endpoint has due; replaces what was set before. */
  offer(endpointId: string, due: Due, now: number): void
  /** The next attempt to make; `undefined` when no slot is free for anything that is due. */
  next(now: number): Turn | undefined
  /** Frees the slot of an attempt that has ended and charges its endpoint for the time. */
  end(turn: Turn, now: number): void
  /** Drops what an endpoint has due, and its account; its turns may still be ended. */
  forget(endpointId: string): void
  /** How many slots are in use. */
  inUse(): number
}

/** `slow` and `unknown` are for all deliveries of endpoints that are slow, or of which no attempt has ended yet. */
type Share = QueueKind | 'slow' | 'unknown'

const SHARES: readonly Share[] = ['retry', 'replay', 'slow', 'unknown', 'fresh']

/**
 * The part of all slots that a share may use while fresh work of healthy endpoints waits. It is also a guarantee: up to
 * this part the share goes first, so that a flood of fresh events cannot delay it forever.
 */
const PART: Readonly<Record<Exclude<Share, 'fresh'>, number>> = {
  retry: 1 / 4,
  replay: 1 / 8,
  slow: 1 / 4,
  unknown: 1 / 8,
}

/** The part that only fresh work of healthy endpoints may use, so that it finds a free slot when it comes. */
const RESERVE = 1 / 4

/** An endpoint is slow when its attempts usually take longer, or one is taking longer right now. */
const SLOW_MS = 1000

/** What is added to an endpoint's account each time its turn comes, in milliseconds of a slot: about one attempt. */
const QUANTUM_MS: Readonly<Record<Share, number>> = {
  fresh: 20,
  retry: 20,
  replay: 20,
  unknown: 100,
  slow: SLOW_MS,
}

/** What the first attempt at an endpoint is charged beforehand. */
const UNKNOWN_MS = 100

/** The least that an attempt is charged, so that no endpoint sends for nothing. */
const LEAST_MS = 1

/**
 * An endpoint’s debt is at most one attempt that ran into the deadline, so that old waste does not count for long.
 */
const MOST_DEBT_MS = 15_000

/** How many attempts an endpoint may have under way before its first one has shown how long they take. */
const UNKNOWN_ROOM = 4

type EndpointQueue = {
  endpointId: string
  due: Due
  /** Milliseconds of a slot that it may still use in this round; negative after an expensive attempt. */
  account: number
  /** How long its attempts take, on a moving average; undefined before the first. */
  typicalMs: number | undefined
  /** Oldest first. */
  inFlight: Set<Turn>
  /** The queue of its last turn; used while all its deliveries are in one share. */
  lastQueue: QueueKind
}

/**
 * Deficit round robin in which the cost is the time for which a slot is used: while two endpoints both have work, they
 * get the same slot time, whatever their backlogs are. The work per attempt does not grow with the backlogs, and hardly
 * with the number of endpoints.
 */
export function createTurns(slots: number): AttemptTurns {
  const queues = new Map<string, EndpointQueue>()
  const rings: Record<Share, Set<EndpointQueue>> = {
    fresh: new Set(),
    retry: new Set(),
    replay: new Set(),
    slow: new Set(),
    unknown: new Set(),
  }
  const used: Record<Share, number> = { fresh: 0, retry: 0, replay: 0, slow: 0, unknown: 0 }
  const inUse = () => used.fresh + used.retry + used.replay + used.slow + used.unknown

  const enqueue = (queue: EndpointQueue, now: number) => {
    const offered = sharesOf(queue, now)
    for (const share of SHARES) {
      if (offered.includes(share)) rings[share].add(queue)
      else rings[share].delete(queue)
    }
  }

  const mayUse = (share: Share): boolean => {
    if (rings[share].size === 0 || inUse() >= slots) return false
    if (share === 'fresh') return true
    if (used[share] < Math.max(1, Math.floor(slots * PART[share]))) return true
    return rings.fresh.size === 0 && inUse() < slots - Math.floor(slots * RESERVE)
  }

  const take = (queue: EndpointQueue, share: Share, now: number): Turn => {
    const kind = isQueueKind(share) ? share : nextQueue(queue)
    const charged = queue.typicalMs ?? UNKNOWN_MS
    const turn: Turn = { endpointId: queue.endpointId, queue: kind, startedAt: now, share, charged }
    queue.due[kind] -= 1
    queue.inFlight.add(turn)
    used[share] += 1
    queue.account -= charged
    enqueue(queue, now)
    return turn
  }

  const serve = (share: Share, now: number): Turn | undefined => {
    const ring = rings[share]
    for (const queue of ring) {
      enqueue(queue, now)
      if (!ring.has(queue)) continue
      if (queue.account > 0) return take(queue, share, now)
      queue.account += QUANTUM_MS[share]
      // A Set is walked in the order of insertion, and what is added during the walk comes at its end.
      ring.delete(queue)
      ring.add(queue)
    }
    return undefined
  }

  const walk = (now: number): Turn | undefined => {
    for (const share of SHARES) {
      const turn = mayUse(share) ? serve(share, now) : undefined
      if (turn !== undefined) return turn
    }
    return undefined
  }

  return {
    offer(endpointId, due, now) {
      let queue = queues.get(endpointId)
      if (queue === undefined) {
        queue = newQueue(endpointId)
        queues.set(endpointId, queue)
      }
      queue.due = { ...due }
      enqueue(queue, now)
    },
    next(now) {
      // Two walks, because the first may find an endpoint that has become slow, and move it to another share.
      return walk(now) ?? walk(now)
    },
    end(turn, now) {
      used[turn.share] -= 1
      const queue = queues.get(turn.endpointId)
      if (queue === undefined || !queue.inFlight.delete(turn)) return
      const took = Math.max(LEAST_MS, now - turn.startedAt)
      queue.typicalMs = queue.typicalMs === undefined ? took : queue.typicalMs * 0.75 + took * 0.25
      const settled = queue.account + turn.charged - took
      queue.account = Math.min(QUANTUM_MS[turn.share], Math.max(-MOST_DEBT_MS, settled))
      enqueue(queue, now)
    },
    forget(endpointId) {
      const queue = queues.get(endpointId)
      queues.delete(endpointId)
      for (const share of SHARES) if (queue !== undefined) rings[share].delete(queue)
    },
    inUse,
  }
}

function newQueue(endpointId: string): EndpointQueue {
  const due = { fresh: 0, retry: 0, replay: 0, limit: 0 }
  return {
    endpointId,
    due,
    account: 0,
    typicalMs: undefined,
    inFlight: new Set(),
    lastQueue: 'replay',
  }
}

function hasRoom({ due, typicalMs, inFlight }: EndpointQueue): boolean {
  return inFlight.size < (typicalMs === undefined ? Math.min(due.limit, UNKNOWN_ROOM) : due.limit)
}

const AFTER: Readonly<Record<QueueKind, readonly QueueKind[]>> = {
  fresh: ['retry', 'replay', 'fresh'],
  retry: ['replay', 'fresh', 'retry'],
  replay: ['fresh', 'retry', 'replay'],
}

/** When all deliveries of an endpoint are in one share, its queues take turns. */
function nextQueue(queue: EndpointQueue): QueueKind {
  queue.lastQueue = AFTER[queue.lastQueue].find(kind => queue.due[kind] > 0) ?? 'fresh'
  return queue.lastQueue
}

function isQueueKind(share: Share): share is QueueKind {
  return share !== 'slow' && share !== 'unknown'
}

/** The shares in which an endpoint has something that may be sent now. */
function sharesOf(queue: EndpointQueue, now: number): readonly Share[] {
  const kinds = QUEUE_KINDS.filter(kind => queue.due[kind] > 0)
  if (kinds.length === 0 || !hasRoom(queue)) return []
  const common = commonShare(queue, now)
  return common === undefined ? kinds : [common]
}

/** The share of all deliveries of an endpoint; `undefined` for one that is known to be fast. */
function commonShare({ typicalMs, inFlight }: EndpointQueue, now: number): 'slow' | 'unknown' | undefined {
  const [oldest] = inFlight
  if (oldest !== undefined && now - oldest.startedAt > SLOW_MS) return 'slow'
  if (typicalMs === undefined) return 'unknown'
  return typicalMs > SLOW_MS ? 'slow' : undefined
}
