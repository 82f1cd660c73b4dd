import { type Tracing, tracing } from '../tracing.ts'

/** The result of one call of a batch; a failed one does not fail its neighbors. */
export type Settled<Result> = { ok: true; value: Result } | { ok: false; error: unknown }

/** A call that waits for its batch. */
type Waiting<Call, Result> = {
  call: Call
  settled: (result: Settled<Result>) => void
  /** The span within which it was made. */
  span: ReturnType<Tracing['active']>
}

/** A function whose concurrent calls are gathered into batches. */
type Coalesced<Call, Result> = {
  (call: Call): Promise<Result>
  /** The same without a promise, for frequent calls: `settled` must not throw. */
  enqueue(call: Call, settled: (result: Settled<Result>) => void): void
  /** How many calls wait or are under way. */
  pending(): number
}

/** How calls are gathered and run. */
type Coalescing<Call, Result> = {
  /** What its batches are called where they are traced. */
  readonly name: string
  readonly maxBatch: number
  /**
   * The least time between the starts of two batches, for calls that nothing waits for; a lone call starts at once.
   */
  readonly paceMs?: number
  /**
   * A batch does not start while each turn of the event loop brings further calls, but waits no longer than this; absent:
   * it starts after the turn of its first call.
   */
  readonly gatherMs?: number
  /** When a second batch may run beside the first; absent: never. */
  readonly beside?: Beside<Call>
  /** A result may itself be a promise: that call is answered later and delays no batch. */
  readonly run: (calls: Call[]) => Promise<(Settled<Result> | Promise<Settled<Result>>)[]>
}

/** A second batch runs beside the first when it is large, or when the first takes long. */
type Beside<Call> = {
  /** The fewest calls for a second batch: small batches cost more for each call than they gain by starting early. */
  readonly least: number
  /** After a batch has taken this long, the next one may start whatever its size. */
  readonly afterMs: number
  /** Calls of the same name are never in two batches at once, and keep their order. */
  readonly nameOf: (call: Call) => string
}

/**
 * Gathers the calls that arrive while a batch is under way and runs them as the next batch. A batch starts once
 * everything is read that the sockets hold in this turn of the event loop; with `gatherMs` once a turn brings no
 * further call. There is no other wait, so a lone call starts at once, and batches grow with the load, which lowers the
 * cost of each call. When `run` rejects, every call of that batch rejects with the same error.
 */
export function coalesce<Call, Result>(options: Coalescing<Call, Result>): Coalesced<Call, Result> {
  const { maxBatch, paceMs = 0, gatherMs = 0, beside } = options
  const running = new Set<readonly Waiting<Call, Result>[]>()
  let queue: Waiting<Call, Result>[] = []
  let underWay = 0
  let begunAt = 0
  let isPacing = false
  let isGathering = false
  let gathered = 0
  let gatheringSince = 0
  let late: NodeJS.Timeout | undefined

  const mayBegin = (): boolean => {
    if (queue.length === 0 || isPacing) return false
    if (running.size === 0) return true
    if (!beside || running.size > 1) return false
    if (queue.length >= beside.least) return true
    const remainingMs = begunAt + beside.afterMs - performance.now()
    if (remainingMs > 0) late ??= setTimeout(wake, Math.ceil(remainingMs))
    return remainingMs <= 0
  }
  const wake = () => {
    late = undefined
    begin()
  }
  const nextBatch = (): Waiting<Call, Result>[] => {
    if (!beside || running.size === 0) return queue.splice(0, maxBatch)
    const busy = new Set<string>()
    for (const batch of running) for (const { call } of batch) busy.add(beside.nameOf(call))
    const taken: Waiting<Call, Result>[] = []
    const left: Waiting<Call, Result>[] = []
    for (const waiting of queue)
      (taken.length < maxBatch && !busy.has(beside.nameOf(waiting.call)) ? taken : left).push(waiting)
    queue = left
    return taken
  }
  const begin = () => {
    while (mayBegin()) {
      const batch = nextBatch()
      if (batch.length === 0) return
      void finish(batch)
    }
  }
  const finish = async (batch: Waiting<Call, Result>[]): Promise<void> => {
    running.add(batch)
    underWay += batch.length
    begunAt = performance.now()
    const mayGoOnAt = begunAt + paceMs
    try {
      const results = await runBatch(options, batch)
      batch.forEach((waiting, index) => {
        const result = results[index]
        if (!result) waiting.settled(failed(new Error('a batch answered fewer results than calls')))
        else if (result instanceof Promise)
          result.then(waiting.settled, error => waiting.settled(failed(error)))
        else waiting.settled(result)
      })
    } catch (error) {
      for (const waiting of batch) waiting.settled(failed(error))
    }
    running.delete(batch)
    underWay -= batch.length
    if (late && running.size === 0) {
      clearTimeout(late)
      late = undefined
    }
    isPacing = paceMs > 0 && performance.now() < mayGoOnAt
    if (isPacing) setTimeout(goOn, mayGoOnAt - performance.now())
    // The callers that were just answered often call again at once.
    else if (gatherMs > 0) gather()
    else begin()
  }

  const goOn = () => {
    isPacing = false
    begin()
  }
  const gather = () => {
    if (isGathering) return
    isGathering = true
    gathered = 0
    gatheringSince = performance.now()
    setImmediate(endGathering)
  }
  const endGathering = () => {
    const mayGrow = queue.length > gathered && queue.length < maxBatch
    if (mayGrow && performance.now() < gatheringSince + gatherMs) {
      gathered = queue.length
      setImmediate(endGathering)
      return
    }
    isGathering = false
    begin()
  }

  const enqueue = (call: Call, settled: (result: Settled<Result>) => void) => {
    queue.push({ call, settled, span: tracing?.active() })
    if (isPacing || (running.size > 0 && !beside)) return
    gather()
  }
  return coalesced(enqueue, () => queue.length + underWay)
}

/** Runs a batch; where it is traced, as a part of the first of its calls that is, with a link to each of the others. */
function runBatch<Call, Result>({ name, run }: Coalescing<Call, Result>, batch: Waiting<Call, Result>[]) {
  const calls = batch.map(waiting => waiting.call)
  if (!tracing) return run(calls)
  const [under, ...links] = batch.flatMap(({ span }) => span ?? [])
  if (!under) return tracing.apart(() => run(calls))
  const start = { name, kind: 'INTERNAL', attributes: { 'batch.size': calls.length }, under, links } as const
  return tracing.run(start, () => run(calls))
}

/** How many empty queues are kept, because forgetting one costs a turn of the event loop. */
const FEW_QUEUES = 64

/**
 * The same with a queue for each name that `queueOf` returns: calls of different queues never share a batch and never
 * wait for each other. Empty queues are forgotten, because callers may choose the names.
 */
export function coalesceApart<Call, Result>(
  queueOf: (call: Call) => string,
  options: Coalescing<Call, Result>,
): Coalesced<Call, Result> {
  const queues = new Map<string, Coalesced<Call, Result>>()
  const enqueue = (call: Call, settled: (result: Settled<Result>) => void) => {
    const name = queueOf(call)
    const queue = queues.get(name) ?? coalesce(options)
    queues.set(name, queue)
    if (queues.size <= FEW_QUEUES) {
      queue.enqueue(call, settled)
      return
    }
    queue.enqueue(call, result => {
      settled(result)
      // The batch ends a moment after the last of its calls.
      setImmediate(() => queue.pending() === 0 && queues.get(name) === queue && queues.delete(name))
    })
  }
  return coalesced(enqueue, () => {
    let sum = 0
    for (const queue of queues.values()) sum += queue.pending()
    return sum
  })
}

function coalesced<Call, Result>(
  enqueue: Coalesced<Call, Result>['enqueue'],
  pending: () => number,
): Coalesced<Call, Result> {
  const call = (call: Call) =>
    new Promise<Result>((resolve, reject) =>
      enqueue(call, settled => (settled.ok ? resolve(settled.value) : reject(settled.error))),
    )
  return Object.assign(call, { enqueue, pending })
}

function failed(error: unknown): { ok: false; error: unknown } {
  return { ok: false, error }
}
