/** Decides when an admitted request begins, so that a process works on as many at once as it does well, and no more. */
export type Turns = {
  /** Whether a request may begin now. */
  isOpen(): boolean
  /**
   * Calls `begin(end)` when it is this partner's turn, and counts the request as under way until `end` is called. Calls
   * `begin()` without `end` when the request has waited for too long and must be refused. `begin` returns false when it began
   * nothing, or when the request does not count yet; the partner then keeps its turn.
   */
  wait(partnerId: string, request: object, begin: Begin): void
  /** Counts a request as under way until the returned function is called; `undefined` for one that `wait` counts already. */
  begin(request: object): (() => void) | undefined
  /** Begins the next period. */
  tick(): void
  /** Requests that wait for their turn. */
  waiting(): number
}

/**
 * How many requests may be under way, after how many ticks one that is still under way no longer counts, and after how
 * many one that waits is given up.
 */
export type TurnLimits = {
  readonly atOnce: number
  readonly longestTicks: number
  readonly patienceTicks: number
}

/**
 * Opens the turns of one server. Partners take turns, one request each, so that the many waiting requests of one hardly
 * delay another's; those of the same partner begin in the order in which they came.
 *
 * A request that takes long is waiting for something else, such as a locked row. It stops counting after some ticks:
 * otherwise a few such requests would keep all others from beginning.
 */
export function openTurns({ atOnce, longestTicks, patienceTicks }: TurnLimits): Turns {
  // A map lists its keys in the order in which they were added, so the first partner is next. One that waits with more is
  // then added again, behind the others.
  const queues = new Map<string, Waiting[]>()
  const waited = new WeakSet<object>()
  let underWay: Period[] = [{ count: 0 }]
  let waiting = 0
  let now = 0
  let isBeginning = false
  const room = () => atOnce - underWay.reduce((sum, { count }) => sum + count, 0)
  const count = () => {
    const [period] = underWay as [Period]
    period.count += 1
    return () => {
      period.count -= 1
      if (waiting > 0 && !isBeginning) beginSome()
    }
  }
  const beginSome = () => {
    isBeginning = true
    while (waiting > 0 && room() > 0) {
      const [[partnerId, queue]] = queues as Iterable<[string, Waiting[]]> as [[string, Waiting[]]]
      const first = queue.shift() as Waiting
      waiting -= 1
      waited.add(first.request)
      const end = count()
      const hasBegun = first.begin(end)
      if (!hasBegun) {
        end()
        waited.delete(first.request)
      }
      if (hasBegun || queue.length === 0) queues.delete(partnerId)
      if (hasBegun && queue.length > 0) queues.set(partnerId, queue)
    }
    isBeginning = false
  }
  const giveUpLate = () => {
    for (const [partnerId, queue] of queues) {
      while (now - (queue[0]?.since ?? now) >= patienceTicks) {
        waiting -= 1
        queue.shift()?.begin(undefined)
      }
      if (queue.length === 0) queues.delete(partnerId)
    }
  }
  return {
    isOpen: () => waiting === 0 && room() > 0,
    wait(partnerId, request, begin) {
      waiting += 1
      const one = { request, begin, since: now }
      const queue = queues.get(partnerId)
      if (queue) queue.push(one)
      else queues.set(partnerId, [one])
    },
    begin: request => (waited.has(request) ? undefined : count()),
    tick() {
      now += 1
      underWay = [{ count: 0 }, ...underWay.slice(0, longestTicks - 1)]
      if (waiting > 0) giveUpLate()
      if (waiting > 0) beginSome()
    },
    waiting: () => waiting,
  }
}

/** The requests that began in one period and are still under way. */
type Period = { count: number }

type Begin = (end: (() => void) | undefined) => boolean
/** A request with the tick since which it waits. */
type Waiting = { readonly request: object; readonly begin: Begin; readonly since: number }
