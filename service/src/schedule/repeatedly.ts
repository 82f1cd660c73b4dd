/** Runs `work` repeatedly from `start` until `close`: each run begins `ms` after the last one ended. */
export function every(ms: number, work: () => Promise<unknown>): { start(): void; close(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> = Promise.resolve()
  let isClosed = false
  const next = () => {
    if (isClosed) return
    timer = setTimeout(() => {
      running = work().finally(next)
    }, ms)
  }
  return {
    start: next,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}
