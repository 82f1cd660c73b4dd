/** From where on a process sheds (contract §13). */
export type AdmissionLimits = {
  /** Requests in flight, from which on only who holds less than its share is admitted. */
  readonly inFlight: number
  /** How many of them are kept for the operations that are refused last. */
  readonly reserved: number
  /** Event-loop delay that stands, in milliseconds, from which on the room shrinks. */
  readonly loopDelayMs: number
}

/** The limits where the operator sets none. */
export const defaultLimits: AdmissionLimits = { inFlight: 2000, reserved: 400, loopDelayMs: 500 }

/**
 * What a request is worth when not all can be served: `urgent` (token, cancel, erase) is refused last, `prefill` before
 * it, so that a flood of prefills leaves room for a cancel, `ordinary` first.
 */
export type Rank = 'ordinary' | 'prefill' | 'urgent'

/** What a process has to do right now. */
export type Load = {
  readonly inFlight: number
  /** Partners with requests in flight, the one that asks included. */
  readonly partners: number
  /** The event-loop delay that stands. */
  readonly loopDelayMs: number
}

/** Why a request is refused: there is no room, its partner holds its share while others wait, or the process is late. */
export type ShedReason = 'full' | 'share' | 'delay'

/** The requests in flight up to which nobody is refused; a process that is late has less room, in proportion. */
export const roomFor = (rank: Rank, limits: AdmissionLimits, loopDelayMs: number): number =>
  sizeOf(rank, limits) / Math.max(1, loopDelayMs / limits.loopDelayMs)

const sizeOf = (rank: Rank, { inFlight, reserved }: AdmissionLimits): number =>
  rank === 'urgent' ? inFlight : rank === 'prefill' ? inFlight - reserved / 2 : inFlight - reserved

/**
 * Whether a partner that holds `held` requests in flight may begin one more: `undefined`, or why not. Beyond the room
 * only partners below their equal share of it are admitted, up to twice the bound in all.
 */
export const refusalFor = (
  asker: { readonly rank: Rank; readonly held: number },
  load: Load,
  limits: AdmissionLimits,
): ShedReason | undefined => {
  const size = sizeOf(asker.rank, limits)
  if (load.inFlight >= limits.inFlight + size) return 'full'
  const isRefused = (room: number) => load.inFlight >= room && asker.held * load.partners >= room
  if (!isRefused(roomFor(asker.rank, limits, load.loopDelayMs))) return undefined
  if (!isRefused(size)) return 'delay'
  return load.partners > 1 ? 'share' : 'full'
}

/** The seconds to wait after refusal number `refusals`: spread, so that those refused together do not come back together. */
export const retryAfterSeconds = (refusals: number): number => 1 + (refusals % 3)
