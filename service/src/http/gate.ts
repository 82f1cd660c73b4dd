import {
  type AdmissionLimits,
  type Rank,
  refusalFor,
  retryAfterSeconds,
  roomFor,
  type ShedReason,
} from './admission.ts'

/** Counts the requests in flight and says who may begin. */
export type Gate = {
  /** Whether there is room for anybody: then it does not matter who asks. */
  isOpenTo(rank: Rank): boolean
  /** Whether a partner may begin; "" stands for all who are not known. Gives the reason where it may not. */
  refusalOf(partnerId: string, rank: Rank): ShedReason | undefined
  enter(partnerId: string): void
  leave(partnerId: string): void
  /** Counts a refusal; gives the seconds that its caller is to wait. */
  noteRefusal(reason: ShedReason): number
  /** Takes the event-loop delay that stands. */
  noteDelay(loopDelayMs: number): void
  numbers(): GateNumbers
}

/** What a gate tells the operator. */
export type GateNumbers = {
  readonly inFlight: number
  readonly partners: number
  readonly loopDelayMs: number
  /** Refusals since the start. */
  readonly shed: Readonly<Record<ShedReason, number>>
}

/** Opens a gate. What it does for a request that finds room is a comparison and the counting. */
export const openGate = (limits: AdmissionLimits): Gate => {
  const held = new Map<string, number>()
  const shed = { full: 0, share: 0, delay: 0 }
  let inFlight = 0
  let loopDelayMs = 0
  let rooms = roomsAt(limits, 0)
  return {
    isOpenTo: rank => inFlight < rooms[rank],
    refusalOf(partnerId, rank) {
      if (inFlight < rooms[rank]) return undefined
      const own = held.get(partnerId)
      const partners = own === undefined ? held.size + 1 : held.size
      return refusalFor({ rank, held: own ?? 0 }, { inFlight, partners, loopDelayMs }, limits)
    },
    enter(partnerId) {
      inFlight += 1
      held.set(partnerId, (held.get(partnerId) ?? 0) + 1)
    },
    leave(partnerId) {
      inFlight -= 1
      const left = (held.get(partnerId) ?? 0) - 1
      if (left > 0) held.set(partnerId, left)
      else held.delete(partnerId)
    },
    noteRefusal(reason) {
      shed[reason] += 1
      return retryAfterSeconds(shed.full + shed.share + shed.delay)
    },
    noteDelay(standingMs) {
      loopDelayMs = standingMs
      rooms = roomsAt(limits, standingMs)
    },
    numbers: () => ({ inFlight, partners: held.size, loopDelayMs, shed: { ...shed } }),
  }
}

const roomsAt = (limits: AdmissionLimits, loopDelayMs: number): Readonly<Record<Rank, number>> => ({
  ordinary: roomFor('ordinary', limits, loopDelayMs),
  prefill: roomFor('prefill', limits, loopDelayMs),
  urgent: roomFor('urgent', limits, loopDelayMs),
})
