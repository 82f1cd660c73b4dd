/** Work that is repeated until it is closed. */
export type Repeated = {
  start(): void
  /** Ends the current run; no further run begins. */
  close(): Promise<void>
}

/** Runs `work` repeatedly, at first `firstMs` after the start; each run resolves to the pause until the next one. */
export function repeatedly(firstMs: number, work: () => Promise<number>): Repeated {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> = Promise.resolve()
  let isClosed = false
  const runAfter = (ms: number) => {
    if (isClosed) return
    timer = setTimeout(() => {
      running = work().then(runAfter)
    }, ms)
  }
  return {
    start: () => runAfter(firstMs),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}
