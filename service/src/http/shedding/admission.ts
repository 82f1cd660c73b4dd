/** The load at which a process begins to refuse requests (contract §13). */
export type AdmissionLimits = {
  /** The number of requests in flight from which only a partner with less than its share is admitted. */
  readonly inFlight: number
  /** How many of them are reserved for the operations that are refused last. */
  readonly reserved: number
  /** The lasting event-loop delay, in milliseconds, above which there is less room. */
  readonly loopDelayMs: number
  /**
   * The share of the event loop, from 0 to 1, that requests may use before a partner with more than its equal part is
   * refused while others ask; absent or 1: no such limit.
   */
  readonly loopShare?: number
}

/** The limits when the operator sets none. */
export const defaultLimits: AdmissionLimits = {
  inFlight: 2000,
  reserved: 400,
  loopDelayMs: 500,
  loopShare: 0.75,
}

/**
 * The rank of a request when not all can be served: `urgent` (token, cancel, erase) is refused last, then `prefill`, so
 * that a flood of prefills leaves room for a cancel; `ordinary` is refused first.
 */
export type Rank = 'ordinary' | 'prefill' | 'urgent'

/** The present load of a process. */
export type Load = {
  readonly inFlight: number
  /** The partners with requests in flight, including the one that asks. */
  readonly partners: number
  /** The lasting delay of the event loop. */
  readonly loopDelayMs: number
}

/**
 * Why a request is refused: there is no room (`full`), its partner has used up its share while others wait (`share`),
 * its partner takes more than its share of the event loop (`time`), or the process is late (`delay`).
 */
export type ShedReason = 'full' | 'share' | 'time' | 'delay'

/** The event-loop time that requests took lately, as a mean that forgets half of it in 1.4 s. */
export type LoopUse = {
  readonly ownMs: number
  readonly allMs: number
  /** The partners whose requests took any of it, including the one that asks. */
  readonly partners: number
}

/**
 * The time constant of that mean: an event loop that does nothing but one partner's requests reaches this value. It is
 * long enough that one slow request, such as the first after a start on a busy machine, does not look like a flood.
 */
export const LOOP_MEMORY_MS = 2000

/** The use up to which nobody is refused for time; urgent requests may also use half of the rest. */
export function loopRoomFor(rank: Rank, { loopShare = 1 }: AdmissionLimits): number {
  // The charged time is an estimate, and may exceed the real time.
  if (loopShare >= 1) return Number.POSITIVE_INFINITY
  return LOOP_MEMORY_MS * (rank === 'urgent' ? (1 + loopShare) / 2 : loopShare)
}

/**
 * A partner takes too much above this multiple of its equal part, so that partners with about equal use all continue.
 */
const OVER_PART = 1.25

/**
 * The part of the event loop up to which nobody is refused for time. Among a thousand partners the equal part is so small
 * that one garbage collection, charged to the request in which it falls, would exceed it.
 */
const HARMLESS_PART = 0.05

/**
 * Whether a partner takes too much time to begin another request: the loop is busier than its room, other partners are
 * active, and this partner is well above its equal part and takes enough to slow the others. So a partner may use all
 * the room that others leave, and a partner that is alone is never refused for time.
 */
export function takesTooMuchTime(use: LoopUse, room: number): boolean {
  return (
    use.partners > 1 &&
    use.allMs >= room &&
    use.ownMs >= HARMLESS_PART * LOOP_MEMORY_MS &&
    use.ownMs * use.partners >= OVER_PART * use.allMs
  )
}

/**
 * The number of requests in flight up to which nobody is refused; a process that is late has less room, in proportion.
 */
export function roomFor(rank: Rank, limits: AdmissionLimits, loopDelayMs: number): number {
  return sizeOf(rank, limits) / Math.max(1, loopDelayMs / limits.loopDelayMs)
}

function sizeOf(rank: Rank, { inFlight, reserved }: AdmissionLimits): number {
  return rank === 'urgent' ? inFlight : rank === 'prefill' ? inFlight - reserved / 2 : inFlight - reserved
}

/**
 * Whether a partner with `ownInFlight` requests in flight may begin another: `undefined`, or why not. Above the room only
 * partners below their equal share are admitted, and at most `inFlight` requests more than a process that is not late
 * has room for.
 */
export function refusalFor(
  asker: { readonly rank: Rank; readonly ownInFlight: number },
  load: Load,
  limits: AdmissionLimits,
): ShedReason | undefined {
  const size = sizeOf(asker.rank, limits)
  if (load.inFlight >= limits.inFlight + size) return 'full'
  const isRefused = (room: number) => load.inFlight >= room && asker.ownInFlight * load.partners >= room
  if (!isRefused(roomFor(asker.rank, limits, load.loopDelayMs))) return undefined
  if (!isRefused(size)) return 'delay'
  return load.partners > 1 ? 'share' : 'full'
}

/**
 * The seconds to wait after refusal number `refusals`. They differ, so that callers that were refused together do not
 * return together.
 */
export function retryAfterSeconds(refusals: number): number {
  return 1 + (refusals % 3)
}

/** How long a refusal for time is delayed, because a caller that ignores Retry-After returns as fast as it is refused. */
export const TIME_REFUSAL_HELD_MS = 250

// Measured on two cores with handlers that did nothing: 20,000 requests, or 650 MB, per second.
const MS_OF_REQUEST = 0.05
const MS_OF_KIB = 0.0015

/** The event-loop time, beyond the measured time, in which the server reads a request or writes an answer. */
export function transportMs(bytes: number): number {
  return MS_OF_REQUEST + (bytes / 1024) * MS_OF_KIB
}
