/**
 * The turns of one process. At most `atOnce` requests are under way; others wait, and the next one is that of the caller
 * which has used the least time of the event loop lately; all strangers together are one caller. While the loop is busy,
 * a caller also waits as long as somebody is served who has used less than half of what it has. Nobody is refused for a
 * share: a request is refused only when it has waited for `patienceMs`, or when memory ends.
 */
export type Turns = {
  /** Whether a request of this caller, a partner's id or "" for a stranger, begins without waiting; it is no turn yet. */
  isOpen(caller: string): boolean
  /**
   * Calls `begin(end)` when it is the caller's turn: in each of its lanes one request after the other, the lanes by turns.
   * The request is under way until `end` is called; `begin` returns false when nothing began that is to be counted, so that
   * another takes the turn. Calls `begin(undefined)` when the request must be refused. Of a lane that is `narrow` one is under way at
   * a time.
   */
  wait(
    request: {
      readonly caller: string
      readonly lane: string
      readonly weight?: number
      readonly isNarrow?: true
    },
    begin: Begin,
  ): void
  /** Counts a request as under way, whoever waits, until the returned function is called. */
  begin(caller: string, weight?: number): () => void
  /** Records the time of the event loop that a request of this caller took. */
  charge(caller: string, ms: number): void
  /**
   * Divides the time of the event loop that nobody was charged for among the requests since the last call, forgets a part of what was
   * used, and refuses what has waited for too long. Called ten times a second.
   */
  tick(): void
  numbers(): TurnNumbers
}

/** Why a request was refused: it waited for too long, or memory ends. */
export type ShedReason = 'wait' | 'memory'

/** What turns report to the operator; the refusals are those since the start. */
export type TurnNumbers = {
  readonly underWay: number
  readonly waiting: number
  readonly shed: Readonly<Record<ShedReason, number>>
}

/** How many requests are under way at most, and for how long one waits before it is refused. */
export type TurnLimits = { readonly atOnce: number; readonly patienceMs: number }

/** What turns learn about their process: the time, for how long the event loop has worked, whether it is busy, and whether memory ends. */
export type ProcessLoad = {
  readonly now: () => number
  readonly workedMs: () => number
  readonly isBusy: () => boolean
  readonly isMemoryShort: () => boolean
}

/** Opens the turns of one process. */
export function openTurns(
  { atOnce, patienceMs }: TurnLimits,
  { now, workedMs, isBusy, isMemoryShort }: ProcessLoad,
): Turns {
  const callers = new Map<string, Caller>()
  // In the order in which they began.
  const underWay = new Set<UnderWay>()
  const shed = { wait: 0, memory: 0 }
  let weightUnderWay = 0
  let waiting = 0
  let isBeginning = false
  let isRetrying = false
  let begunMs = 0
  const sinceTick = { workedMs: workedMs(), charged: 0, begun: 0 }
  let nextTurn: NodeJS.Immediate | undefined
  const callerOf = (name: string): Caller => {
    const known = callers.get(name)
    if (known) return known
    const caller = newCaller()
    callers.set(name, caller)
    return caller
  }
  const mayBegin = (caller: Caller) =>
    weightUnderWay < atOnce &&
    (begunMs < LOOP_TURN_MS || callers.size === 1) &&
    !(hasLighter(callers, caller, now() - SERVED_FOR_MS) && isBusy())
  const stopCounting = (one: UnderWay) => {
    if (!underWay.delete(one)) return
    weightUnderWay -= one.weight
    one.caller.underWay -= 1
    one.caller.servedAt = now()
  }
  const count = (caller: Caller, weight: number) => {
    const one = { caller, weight, since: now() }
    underWay.add(one)
    weightUnderWay += weight
    caller.underWay += 1
    return () => {
      stopCounting(one)
      if (waiting > 0) beginSome()
    }
  }
  // However much it costs it counts as one: others may begin beside it.
  const countNarrow = (caller: Caller, lane: string) => {
    caller.narrow.add(lane)
    const end = count(caller, 1)
    return () => {
      caller.narrow.delete(lane)
      end()
    }
  }
  const note = (caller: Caller, weight: number) => {
    caller.begun += weight
    caller.begunNow += weight
    sinceTick.begun += weight
    begunMs += (caller.used / caller.begun) * weight
    nextTurn ??= setImmediate(goOn)
  }
  const beginSome = () => {
    if (isBeginning) return
    isBeginning = true
    while (waiting > 0) {
      const next = leastUsed(callers.values())
      if (!next) break
      if (!mayBegin(next)) {
        // Nothing tells when the loop is less busy. While all turns are taken, an end or a tick begins the next.
        if (weightUnderWay < atOnce && !nextTurn && !isRetrying) {
          isRetrying = true
          setTimeout(again, RETRY_MS).unref()
        }
        break
      }
      waiting -= 1
      const [lane, { begin, weight, isNarrow }] = takeFirst(next)
      note(next, weight)
      const end = isNarrow ? countNarrow(next, lane) : count(next, weight)
      if (!begin(end)) end()
    }
    isBeginning = false
  }
  const again = () => {
    isRetrying = false
    beginSome()
  }
  const goOn = () => {
    nextTurn = undefined
    begunMs = 0
    if (waiting > 0) beginSome()
  }
  const chargeRest = () => {
    const worked = workedMs()
    const rest = Math.max(0, worked - sinceTick.workedMs - sinceTick.charged)
    for (const caller of callers.values()) {
      if (caller.begunNow > 0) caller.used += (rest * caller.begunNow) / sinceTick.begun
      caller.begunNow = 0
    }
    Object.assign(sinceTick, { workedMs: worked, charged: 0, begun: 0 })
  }
  const refuse = (begin: Begin, reason: ShedReason) => {
    shed[reason] += 1
    begin(undefined)
  }
  return {
    isOpen: name => {
      if (waiting > 0 || isMemoryShort()) return false
      const caller = callerOf(name)
      if (!mayBegin(caller)) return false
      note(caller, 1)
      return true
    },
    wait({ caller: name, lane, weight = 1, isNarrow }, begin) {
      if (isMemoryShort()) {
        refuse(begin, 'memory')
        return
      }
      const { lanes } = callerOf(name)
      const one = { begin, weight, isNarrow, since: now() }
      const queue = lanes.get(lane)
      if (queue) queue.push(one)
      else lanes.set(lane, [one])
      waiting += 1
      beginSome()
    },
    begin: (name, weight = 1) => count(callerOf(name), weight),
    charge(name, ms) {
      callerOf(name).used += ms
      sinceTick.charged += ms
    },
    tick() {
      const at = now()
      chargeRest()
      for (const one of underWay) {
        if (at - one.since < LONGEST_COUNTED_MS) break
        stopCounting(one)
      }
      for (const [name, caller] of callers) {
        caller.used *= KEPT_EACH_TICK
        caller.begun *= KEPT_EACH_TICK
        for (const late of takeLate(caller.lanes, at - patienceMs)) {
          waiting -= 1
          refuse(late.begin, 'wait')
        }
        if (
          caller.used < FORGOTTEN_BELOW_MS &&
          caller.underWay === 0 &&
          caller.lanes.size + caller.narrow.size === 0
        )
          callers.delete(name)
      }
      beginSome()
    },
    numbers: () => ({ underWay: weightUnderWay, waiting, shed: { ...shed } }),
  }
}

/** A tenth of a second later 0.95 of it is left, after 1.4 s a half. */
const KEPT_EACH_TICK = 0.95
const FORGOTTEN_BELOW_MS = 0.01
/**
 * A request that takes long is waiting for something else, such as a locked row. It stops counting then: otherwise a few
 * such requests would keep all others from beginning.
 */
const LONGEST_COUNTED_MS = 300
/** A caller that sends one request after the other is served in between, too. */
const SERVED_FOR_MS = 20
const RETRY_MS = 1
/**
 * How much work begins in one turn of the event loop while several callers ask. Beside 20 connections that send 60 KB with faults,
 * another partner's reads take 194 times as long as alone without this limit, and 1.5 times with it (`bench:fair`).
 */
const LOOP_TURN_MS = 1

type UnderWay = { readonly caller: Caller; readonly weight: number; readonly since: number }

/** Begins a request, and returns whether it is to be counted; without `end` refuses it. */
type Begin = (end: (() => void) | undefined) => boolean
/** A request that waits for its turn. */
type Waiting = {
  readonly begin: Begin
  readonly weight: number
  readonly isNarrow: true | undefined
  readonly since: number
}
/** A map lists its keys in the order in which they were added, so the first lane is next. No lane is empty. */
type Lanes = Map<string, Waiting[]>
/**
 * A partner, or all strangers: what it has used and how many requests it has begun, which both fade; how many it has begun since the last
 * tick, how many are under way, and when one last ended; its requests that wait, in lanes, and the narrow lanes of which one is under way.
 */
type Caller = {
  used: number
  begun: number
  begunNow: number
  underWay: number
  servedAt: number
  readonly lanes: Lanes
  readonly narrow: Set<string>
}

/** A caller of whom nothing is known yet. */
function newCaller(): Caller {
  return {
    used: 0,
    begun: 0,
    begunNow: 0,
    underWay: 0,
    servedAt: Number.NEGATIVE_INFINITY,
    lanes: new Map(),
    narrow: new Set(),
  }
}

/**
 * Whether a caller is served, or was since then, that has used less than half of what this one has. Beside 20 connections that send
 * 60 KB with faults, another partner's reads take 27 times as long as alone when nobody waits for such a caller, and 1.5 times when
 * the others do (`bench:fair`).
 */
function hasLighter(callers: ReadonlyMap<string, Caller>, { used }: Caller, since: number): boolean {
  for (const other of callers.values())
    if (other.used * 2 < used && (other.underWay > 0 || other.servedAt > since)) return true
  return false
}

/** Of the callers with a request that waits the one that has used the least. */
function leastUsed(callers: Iterable<Caller>): Caller | undefined {
  let least: Caller | undefined
  for (const caller of callers) if (openLane(caller) && !(least && least.used <= caller.used)) least = caller
  return least
}

/** The first lane of which a request may begin. */
function openLane({ lanes, narrow }: Caller): [string, Waiting[]] | undefined {
  for (const entry of lanes) if (!narrow.has(entry[0])) return entry
  return undefined
}

/** Takes the first request of the first such lane, which is then last if it has more. */
function takeFirst(caller: Caller): [string, Waiting] {
  const [name, queue] = openLane(caller) as [string, Waiting[]]
  caller.lanes.delete(name)
  if (queue.length > 1) caller.lanes.set(name, queue)
  return [name, queue.shift() as Waiting]
}

/** Takes the requests that have waited since this time or before. */
function takeLate(lanes: Lanes, since: number): Waiting[] {
  const late: Waiting[] = []
  for (const [name, queue] of lanes) {
    while (queue[0] && queue[0].since <= since) late.push(queue.shift() as Waiting)
    if (queue.length === 0) lanes.delete(name)
  }
  return late
}
