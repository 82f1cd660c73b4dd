import {
  type AdmissionLimits,
  LOOP_MEMORY_MS,
  type LoopUse,
  loopRoomFor,
  type Rank,
  refusalFor,
  retryAfterSeconds,
  roomFor,
  type ShedReason,
  takesTooMuchTime,
} from './admission.ts'

/**
 * The asking partner's id, or `@` and the network address of a caller whose partner is unknown. All unknown callers
 * together have one partner's share; each address's part of it decides which of them is refused.
 */
export type Asker = string

/** Counts the requests in flight and decides which may begin. */
export type Gate = {
  /** Whether there is room for everybody, so that it does not matter who asks. */
  isOpenTo(rank: Rank): boolean
  /** Why this asker may not begin a request; `undefined` when it may. */
  refusalOf(asker: Asker, rank: Rank): ShedReason | undefined
  /** Counts a request of this asker, with a weight of one unless `weight` says otherwise. */
  enter(asker: Asker, weight?: number): void
  leave(asker: Asker, weight?: number): void
  /** Records the event-loop time that a request of this asker took. */
  charge(asker: Asker, ms: number): void
  /** Counts a refusal; returns the seconds that its caller must wait. */
  noteRefusal(reason: ShedReason): number
  /** Records the lasting delay of the event loop, and for how long the loop was busy since the last call. */
  noteDelay(loopDelayMs: number, busyMs?: number): void
  numbers(): GateNumbers
}

/** What a gate reports to the operator. */
export type GateNumbers = {
  readonly inFlight: number
  readonly partners: number
  readonly loopDelayMs: number
  /** Refusals since the start. */
  readonly shed: Readonly<Record<ShedReason, number>>
}

/** Opens a gate. */
export function openGate(limits: AdmissionLimits, now: () => number = () => performance.now()): Gate {
  const byPartner = new Map<string, number>()
  const shed = { full: 0, share: 0, time: 0, delay: 0 }
  const time = openTimes(now)
  let inFlight = 0
  let refusals = 0
  let loopDelayMs = 0
  const hasRoom = (rank: Rank) => inFlight < roomFor(rank, limits, loopDelayMs)
  return {
    isOpenTo: rank => hasRoom(rank) && !time.isBeyond(loopRoomFor(rank, limits)),
    refusalOf(asker, rank) {
      const loopRoom = loopRoomFor(rank, limits)
      if (time.isBeyond(loopRoom) && time.isTooMuch(asker, loopRoom)) return 'time'
      if (hasRoom(rank)) return undefined
      const own = byPartner.get(partnerOf(asker))
      const partners = own === undefined ? byPartner.size + 1 : byPartner.size
      return refusalFor({ rank, ownInFlight: own ?? 0 }, { inFlight, partners, loopDelayMs }, limits)
    },
    enter(asker, weight = 1) {
      const partnerId = partnerOf(asker)
      inFlight += weight
      byPartner.set(partnerId, (byPartner.get(partnerId) ?? 0) + weight)
    },
    leave(asker, weight = 1) {
      const partnerId = partnerOf(asker)
      inFlight -= weight
      const left = (byPartner.get(partnerId) ?? 0) - weight
      if (left > 0) byPartner.set(partnerId, left)
      else byPartner.delete(partnerId)
    },
    charge: time.charge,
    noteRefusal(reason) {
      shed[reason] += 1
      refusals += 1
      return retryAfterSeconds(refusals)
    },
    noteDelay(lastingMs, busyMs) {
      loopDelayMs = lastingMs
      if (busyMs !== undefined) time.calibrate(busyMs)
      time.forgetIdle()
    },
    numbers: () => ({ inFlight, partners: byPartner.size, loopDelayMs, shed: { ...shed } }),
  }
}

/** The asker's partner; "" when that is unknown. */
export function partnerOf(asker: Asker): string {
  return asker.startsWith('@') ? '' : asker
}

type Use = { ms: number; at: number; chargedAt: number }
/** An asker without a request for this long is forgotten: the others then share the whole event loop. */
const IDLE_AFTER_MS = 500

const MOST_SCALE = 4
/** Two means of the same charges that were read at different times differ by rounding. */
const ROUNDING_OF_MEANS = 0.999

/** The event-loop time that requests took, by partner, by unknown address, and in all, as means that fade. */
function openTimes(now: () => number) {
  const partners = new Map<string, Use>()
  const addresses = new Map<string, Use>()
  const all: Use = { ms: 0, at: now(), chargedAt: now() }
  let scale = 1
  let charged = 0
  const fade = (use: Use, at: number): Use => {
    use.ms *= Math.exp((use.at - at) / LOOP_MEMORY_MS)
    use.at = at
    return use
  }
  const add = (uses: Map<string, Use>, name: string, { ms, at }: { ms: number; at: number }) => {
    const use = uses.get(name)
    if (use) {
      fade(use, at).ms += ms
      use.chargedAt = at
    } else uses.set(name, { ms, at, chargedAt: at })
  }
  const useOf = (uses: Map<string, Use>, name: string, all: { ms: number; at: number }): LoopUse => {
    const own = uses.get(name)
    const ownMs = own ? fade(own, all.at).ms : 0
    return { ownMs, allMs: all.ms, partners: own ? uses.size : uses.size + 1 }
  }
  return {
    charge(asker: Asker, measuredMs: number): void {
      charged += measuredMs
      const charge = { ms: measuredMs * scale, at: now() }
      fade(all, charge.at).ms += charge.ms
      add(partners, partnerOf(asker), charge)
      if (asker.startsWith('@')) add(addresses, asker, charge)
    },
    /** Whether the loop is busier than this while more than one partner is active. */
    isBeyond: (room: number): boolean => partners.size > 1 && all.ms >= room && fade(all, now()).ms >= room,
    isTooMuch(asker: Asker, room: number): boolean {
      // All means are compared at one instant: a mean that has faded for a moment longer is below one that equals it.
      const at = now()
      const use = useOf(partners, partnerOf(asker), fade(all, at))
      if (!takesTooMuchTime(use, room)) return false
      if (!asker.startsWith('@')) return true
      // Unknown callers have one share together: only an address that takes at least its equal part of it is refused.
      const own = useOf(addresses, asker, { ms: use.ownMs, at })
      return own.ownMs * own.partners >= own.allMs * ROUNDING_OF_MEANS
    },
    /**
     * A busy event loop works almost only for requests, but only part of that time can be measured. So charges are
     * scaled until they explain the whole time, at most fourfold, because the loop may be busy with something else.
     */
    calibrate(busyMs: number): void {
      const wanted = charged > 0 ? Math.min(MOST_SCALE, Math.max(1, busyMs / charged)) : 1
      scale = (scale + wanted) / 2
      charged = 0
    },
    forgetIdle(): void {
      for (const uses of [partners, addresses])
        for (const [name, use] of uses) if (now() - use.chargedAt > IDLE_AFTER_MS) uses.delete(name)
    },
  }
}
