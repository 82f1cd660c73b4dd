/** Begins a request, and returns whether it is to be counted; without `end` refuses it. */
export type Begin = (end: (() => void) | undefined) => boolean
/** A request that waits for its turn. */
export type Waiting = { readonly begin: Begin; readonly weight: number; readonly since: number }
/** A map lists its keys in the order in which they were added, so the first lane is next. No lane is empty. */
type Lanes = Map<string, Waiting[]>
/**
 * A partner, or all strangers: what it has used and how many requests it has begun, which both fade; how many it has begun since the last
 * tick, how many are under way, and when one last ended; and its requests that wait, in lanes.
 */
export type Caller = {
  used: number
  begun: number
  begunNow: number
  underWay: number
  servedAt: number
  readonly lanes: Lanes
}

/** A caller of whom nothing is known yet. */
export function newCaller(): Caller {
  return {
    used: 0,
    begun: 0,
    begunNow: 0,
    underWay: 0,
    servedAt: Number.NEGATIVE_INFINITY,
    lanes: new Map(),
  }
}

/**
 * Whether a caller is served, or was since then, that has used less than half of what this one has. Beside 20 connections that send
 * 60 KB with faults, another partner's reads take 27 times as long as alone when nobody waits for such a caller, and 1.5 times when
 * the others do (`bench:fair`).
 */
export function hasLighter(callers: ReadonlyMap<string, Caller>, { used }: Caller, since: number): boolean {
  for (const other of callers.values())
    if (other.used * 2 < used && (other.underWay > 0 || other.servedAt > since)) return true
  return false
}

/** Of the callers with a request that waits the one that has used the least. */
export function leastUsed(callers: Iterable<Caller>): Caller | undefined {
  let least: Caller | undefined
  for (const caller of callers)
    if (caller.lanes.size > 0 && !(least && least.used <= caller.used)) least = caller
  return least
}

/** Takes the first request of the first lane, which is then last if it has more. */
export function takeFirst(lanes: Lanes): Waiting {
  const [[name, queue]] = lanes as Iterable<[string, Waiting[]]> as [[string, Waiting[]]]
  lanes.delete(name)
  if (queue.length > 1) lanes.set(name, queue)
  return queue.shift() as Waiting
}

/** Takes the requests that have waited since this time or before. */
export function takeLate(lanes: Lanes, since: number): Waiting[] {
  const late: Waiting[] = []
  for (const [name, queue] of lanes) {
    while (queue[0] && queue[0].since <= since) late.push(queue.shift() as Waiting)
    if (queue.length === 0) lanes.delete(name)
  }
  return late
}
