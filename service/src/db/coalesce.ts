/** The outcome of one call of a batch; a failed one does not fail its neighbours. */
export type Settled<Result> = { ok: true; value: Result } | { ok: false; error: unknown }

/** A call that waits for its batch. */
type Waiting<Call, Result> = { call: Call; settled: (result: Settled<Result>) => void }

/** A function whose concurrent calls travel together. */
export type Coalesced<Call, Result> = {
  (call: Call): Promise<Result>
  /** The same without a promise, for what is called very often: `settled` must not throw. */
  handIn(call: Call, settled: (result: Settled<Result>) => void): void
  /** Calls that wait or are under way. */
  pending(): number
}

/**
 * Gathers the calls that arrive while a batch is under way and hands them on as the next batch.
 * There is no timer: a lone call goes at once, and batches grow with the load, so the cost of a call falls as
 * load rises. One batch at a time.
 * A result of `run` may itself be a promise: that call is answered later, and holds up no batch.
 * When `run` rejects, every call of that batch rejects with the same error.
 * With `paceMs` two batches begin no sooner after each other than that, for calls that nobody waits for: a lone call goes
 * at once still.
 */
export const coalesce = <Call, Result>(options: {
  maxBatch: number
  paceMs?: number
  run: (calls: Call[]) => Promise<(Settled<Result> | Promise<Settled<Result>>)[]>
}): Coalesced<Call, Result> => {
  const queue: Waiting<Call, Result>[] = []
  let underWay = 0
  let isPacing = false

  const next = async (): Promise<void> => {
    const batch = queue.splice(0, options.maxBatch)
    underWay = batch.length
    const mayGoOnAt = performance.now() + (options.paceMs ?? 0)
    try {
      const results = await options.run(batch.map(waiting => waiting.call))
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
    underWay = 0
    isPacing = performance.now() < mayGoOnAt
    if (isPacing) setTimeout(goOn, mayGoOnAt - performance.now())
    else if (queue.length > 0) void next()
  }

  const goOn = () => {
    isPacing = false
    if (queue.length > 0) void next()
  }

  const handIn = (call: Call, settled: (result: Settled<Result>) => void) => {
    queue.push({ call, settled })
    // A microtask later, so that calls of one tick share the first batch.
    if (underWay === 0 && !isPacing && queue.length === 1)
      queueMicrotask(() => void (underWay === 0 && !isPacing && queue.length > 0 && next()))
  }
  const call = (call: Call) =>
    new Promise<Result>((resolve, reject) =>
      handIn(call, settled => (settled.ok ? resolve(settled.value) : reject(settled.error))),
    )
  return Object.assign(call, { handIn, pending: () => queue.length + underWay })
}

const failed = (error: unknown): { ok: false; error: unknown } => ({ ok: false, error })
