/** The outcome of one call of a batch; a failed one does not fail its neighbours. */
export type Settled<Result> = { ok: true; value: Result } | { ok: false; error: unknown }

/** A call that waits for its batch. */
type Waiting<Call, Result> = { call: Call; settled: (result: Settled<Result>) => void }

/** A function whose concurrent calls travel together. */
export type Coalesced<Call, Result> = {
  (call: Call): Promise<Result>
  /** The same without a promise, for what is called very often: `settled` must not throw. */
  enqueue(call: Call, settled: (result: Settled<Result>) => void): void
  /** Calls that wait or are under way. */
  pending(): number
}

/** How calls are gathered and run. */
export type Coalescing<Call, Result> = {
  readonly maxBatch: number
  /** Two batches begin no sooner after each other than that, for calls that nobody waits for; a lone call goes at once. */
  readonly paceMs?: number
  /** When a second batch may run beside the first; absent: never. */
  readonly beside?: Beside<Call>
  /** A result may itself be a promise: that call is answered later, and holds up no batch. */
  readonly run: (calls: Call[]) => Promise<(Settled<Result> | Promise<Settled<Result>>)[]>
}

/** A second batch runs beside the first when it is large, or when the first takes long. */
export type Beside<Call> = {
  /** So many calls have to wait: small batches cost more for each call than they gain by starting early. */
  readonly least: number
  /** A batch that has taken so long lets the next one start whatever its size. */
  readonly afterMs: number
  /** Calls of one name are never in two batches at once, and keep their order. */
  readonly nameOf: (call: Call) => string
}

/**
 * Gathers the calls that arrive while a batch is under way and hands them on as the next batch. A batch begins once all
 * that this turn of the event loop has received is read; there is no other wait: a lone call goes at once, and batches
 * grow with the load, so the cost of a call falls as load rises.
 * When `run` rejects, every call of that batch rejects with the same error.
 */
export function coalesce<Call, Result>(options: Coalescing<Call, Result>): Coalesced<Call, Result> {
  const { maxBatch, paceMs = 0, beside, run } = options
  const busy = new Set<string>()
  let queue: Waiting<Call, Result>[] = []
  let running = 0
  let underWay = 0
  let begunAt = 0
  let isPacing = false
  let isGathering = false
  let late: NodeJS.Timeout | undefined

  const mayBegin = (): boolean => {
    if (queue.length === 0 || isPacing) return false
    if (running === 0) return true
    if (!beside || running > 1) return false
    if (queue.length >= beside.least) return true
    const remainingMs = begunAt + beside.afterMs - performance.now()
    if (remainingMs > 0) late ??= setTimeout(wake, Math.ceil(remainingMs))
    return remainingMs <= 0
  }
  const wake = () => {
    late = undefined
    begin()
  }
  const take = (): Waiting<Call, Result>[] => {
    if (!beside || running === 0) return queue.splice(0, maxBatch)
    const taken: Waiting<Call, Result>[] = []
    const left: Waiting<Call, Result>[] = []
    for (const waiting of queue)
      (taken.length < maxBatch && !busy.has(beside.nameOf(waiting.call)) ? taken : left).push(waiting)
    queue = left
    return taken
  }
  const begin = () => {
    while (mayBegin()) {
      const batch = take()
      if (batch.length === 0) return
      void finish(batch)
    }
  }
  const finish = async (batch: Waiting<Call, Result>[]): Promise<void> => {
    running += 1
    underWay += batch.length
    begunAt = performance.now()
    const names = beside ? batch.map(({ call }) => beside.nameOf(call)) : []
    for (const name of names) busy.add(name)
    const mayGoOnAt = begunAt + paceMs
    try {
      const results = await run(batch.map(waiting => waiting.call))
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
    for (const name of names) busy.delete(name)
    running -= 1
    underWay -= batch.length
    if (late && running === 0) {
      clearTimeout(late)
      late = undefined
    }
    isPacing = paceMs > 0 && performance.now() < mayGoOnAt
    if (isPacing) setTimeout(goOn, mayGoOnAt - performance.now())
    else begin()
  }

  const goOn = () => {
    isPacing = false
    begin()
  }
  const endGathering = () => {
    isGathering = false
    begin()
  }

  const enqueue = (call: Call, settled: (result: Settled<Result>) => void) => {
    queue.push({ call, settled })
    if (isGathering || isPacing || (running > 0 && !beside)) return
    isGathering = true
    setImmediate(endGathering)
  }
  const call = (call: Call) =>
    new Promise<Result>((resolve, reject) =>
      enqueue(call, settled => (settled.ok ? resolve(settled.value) : reject(settled.error))),
    )
  return Object.assign(call, { enqueue, pending: () => queue.length + underWay })
}

/** So many queues are kept although they are empty: to forget one costs a turn of the event loop. */
const FEW_QUEUES = 64

/**
 * The same with a queue for each name that `queueOf` gives: calls of different queues never share a batch and never wait
 * for each other. A queue that is empty is forgotten, as names may be what a stranger sends.
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
    queue.enqueue(call, result => {
      settled(result)
      // Its batch ends a moment after the last of its calls.
      if (queues.size > FEW_QUEUES)
        setImmediate(() => queue.pending() === 0 && queues.get(name) === queue && queues.delete(name))
    })
  }
  const call = (call: Call) =>
    new Promise<Result>((resolve, reject) =>
      enqueue(call, settled => (settled.ok ? resolve(settled.value) : reject(settled.error))),
    )
  return Object.assign(call, {
    enqueue,
    pending: () => [...queues.values()].reduce((sum, queue) => sum + queue.pending(), 0),
  })
}

function failed(error: unknown): { ok: false; error: unknown } {
  return { ok: false, error }
}
