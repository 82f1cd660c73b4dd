/** Decides when an admitted request begins, so that a process works on as many at once as it does well, and no more. */
export type Turns = {
  /** Whether a request may begin now. */
  isOpen(): boolean
  /**
   * Calls `begin` when it is this partner's turn, and counts the request as under way until the function that it is given
   * is called. `begin` returns false when there is nothing left to begin.
   */
  wait(partnerId: string, request: object, begin: Begin): void
  /** Counts a request as under way until the returned function is called; `undefined` for one that waited, which is counted. */
  begin(request: object): (() => void) | undefined
  /** Begins the next period. */
  tick(): void
  /** Requests that wait for their turn. */
  waiting(): number
}

/** How many requests may be under way, and after how many ticks one that is still under way no longer counts. */
export type TurnLimits = { readonly atOnce: number; readonly longestTicks: number }

/**
 * Opens the turns of one server. Partners take turns, one request each, so that the many waiting requests of one hardly
 * delay another's; those of the same partner begin in the order in which they came.
 *
 * A request that takes long is waiting for something else, such as a locked row. It stops counting after some ticks:
 * otherwise a few such requests would keep all others from beginning.
 */
export function openTurns({ atOnce, longestTicks }: TurnLimits): Turns {
  // A map lists its keys in the order in which they were added, so the first partner is next. One that waits with more is
  // then added again, behind the others.
  const queues = new Map<string, Queue>()
  const waited = new WeakSet<object>()
  let underWay: Period[] = [{ count: 0 }]
  let waiting = 0
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
      const [[partnerId, queue]] = queues as Iterable<[string, Queue]> as [[string, Queue]]
      queues.delete(partnerId)
      const first = takeFirst(queue)
      if (queue.begun < queue.requests.length) queues.set(partnerId, queue)
      waiting -= 1
      const end = count()
      if (!first?.(end)) end()
    }
    isBeginning = false
  }
  return {
    isOpen: () => waiting === 0 && room() > 0,
    wait(partnerId, request, begin) {
      waiting += 1
      waited.add(request)
      const queue = queues.get(partnerId)
      if (queue) queue.requests.push(begin)
      else queues.set(partnerId, { requests: [begin], begun: 0 })
    },
    begin: request => (waited.has(request) ? undefined : count()),
    tick() {
      underWay = [{ count: 0 }, ...underWay.slice(0, longestTicks - 1)]
      if (waiting > 0) beginSome()
    },
    waiting: () => waiting,
  }
}

/** The requests that began in one period and are still under way. */
type Period = { count: number }

type Begin = (end: () => void) => boolean
/** The requests of one partner in order; the first `begun` of them wait no longer. */
type Queue = { requests: Begin[]; begun: number }

const forgottenAt = 256

/** Takes the first request that waits. Those before it are removed many at once, since each removal moves all others. */
function takeFirst(queue: Queue): Begin | undefined {
  const first = queue.requests[queue.begun]
  queue.begun += 1
  if (queue.begun === forgottenAt) {
    queue.requests = queue.requests.slice(forgottenAt)
    queue.begun = 0
  }
  return first
}
