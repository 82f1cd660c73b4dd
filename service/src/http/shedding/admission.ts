/** The load from which on a process refuses requests (contract §13). */
export type AdmissionLimits = {
  /** Requests in flight from which on only a partner that holds less than its share is admitted. */
  readonly inFlight: number
  /** How many of them are kept for the operations that are refused last. */
  readonly reserved: number
  /** Lasting event-loop delay, in milliseconds, from which on there is less room. */
  readonly loopDelayMs: number
  /**
   * The share of the event loop, from 0 to 1, that requests may take before a partner above its equal part of it is
   * refused while others ask; absent or 1: no such bound.
   */
  readonly loopShare?: number
}

/** The limits where the operator sets none. */
export const defaultLimits: AdmissionLimits = {
  inFlight: 2000,
  reserved: 400,
  loopDelayMs: 500,
  loopShare: 0.75,
}

/**
 * What a request is worth when not all can be served: `urgent` (token, cancel, erase) is refused last, `prefill` before
 * it, so that a flood of prefills leaves room for a cancel, `ordinary` first.
 */
export type Rank = 'ordinary' | 'prefill' | 'urgent'

/** The load of a process right now. */
export type Load = {
  readonly inFlight: number
  /** Partners with requests in flight, the one that asks included. */
  readonly partners: number
  /** The lasting delay of the event loop. */
  readonly loopDelayMs: number
}

/**
 * Why a request is refused: there is no room, its partner holds its share of it while others wait, its partner takes
 * more than its share of the event loop, or the process is late.
 */
export type ShedReason = 'full' | 'share' | 'time' | 'delay'

/** What requests took of the event loop lately, by a mean that forgets half of it in 1.4 s. */
export type LoopUse = {
  readonly ownMs: number
  readonly allMs: number
  /** Partners whose requests took any, the one that asks included. */
  readonly partners: number
}

/**
 * The time constant of that mean: a loop that does nothing but requests of one partner shows as this much use. Long enough
 * that one slow request, such as the first after a start on a busy machine, is not taken for a partner that floods.
 */
export const loopMemoryMs = 2000

/** The use up to which nobody is refused for time; urgent requests have half of what is left besides. */
export function loopRoomFor(rank: Rank, { loopShare = 1 }: AdmissionLimits): number {
  // What is charged is an estimate, and may be more than the whole.
  if (loopShare >= 1) return Number.POSITIVE_INFINITY
  return loopMemoryMs * (rank === 'urgent' ? (1 + loopShare) / 2 : loopShare)
}

/** A partner takes too much beyond this multiple of its equal part, so that partners that take about the same all go on. */
const overPart = 1.25

/**
 * Whether a partner takes too much time to begin one more request: the loop is busier than the room, others are active,
 * and the partner is well above its equal part of what all take. So a partner takes all that others leave of the room,
 * and one that is alone is never refused for time.
 */
export function takesTooMuchTime(use: LoopUse, room: number): boolean {
  return use.partners > 1 && use.allMs >= room && use.ownMs * use.partners >= overPart * use.allMs
}

/** The requests in flight up to which nobody is refused; a process that is late has less room, in proportion. */
export function roomFor(rank: Rank, limits: AdmissionLimits, loopDelayMs: number): number {
  return sizeOf(rank, limits) / Math.max(1, loopDelayMs / limits.loopDelayMs)
}

function sizeOf(rank: Rank, { inFlight, reserved }: AdmissionLimits): number {
  return rank === 'urgent' ? inFlight : rank === 'prefill' ? inFlight - reserved / 2 : inFlight - reserved
}

/**
 * Whether a partner that holds `held` requests in flight may begin one more: `undefined`, or why not. Beyond the room
 * only partners below their equal share of it are admitted, up to twice the bound in all.
 */
export function refusalFor(
  asker: { readonly rank: Rank; readonly held: number },
  load: Load,
  limits: AdmissionLimits,
): ShedReason | undefined {
  const size = sizeOf(asker.rank, limits)
  if (load.inFlight >= limits.inFlight + size) return 'full'
  const isRefused = (room: number) => load.inFlight >= room && asker.held * load.partners >= room
  if (!isRefused(roomFor(asker.rank, limits, load.loopDelayMs))) return undefined
  if (!isRefused(size)) return 'delay'
  return load.partners > 1 ? 'share' : 'full'
}

/** The seconds to wait after refusal number `refusals`: different ones, so that callers refused together do not return together. */
export function retryAfterSeconds(refusals: number): number {
  return 1 + (refusals % 3)
}

/** How long a refusal for time is delayed, because a caller that ignores Retry-After returns as fast as it is refused. */
export const timeRefusalHeldMs = 250

// Measured on two cores with handlers that did nothing: 20,000 requests, or 650 MB, a second.
const msOfRequest = 0.05
const msOfKib = 0.0015

/** The time of the event loop that the server takes, beyond what is measured, to read a request or to write an answer. */
export function transportMs(bytes: number): number {
  return msOfRequest + (bytes / 1024) * msOfKib
}
