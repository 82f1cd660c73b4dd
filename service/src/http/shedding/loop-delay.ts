/** How late the event loop is. */
export type LoopDelay = {
  /** Records by how much a timer was late. */
  note(lateMs: number): void
  /** The lasting delay: the least of the last few samples. */
  lastingMs(): number
}

const kept = 3

/**
 * Judges the delay of the event loop by the least of the last three samples: a garbage collection or a sudden burst makes
 * one sample late, an overloaded process makes all three late.
 */
export function judgeLoopDelay(): LoopDelay {
  const late = new Array<number>(kept).fill(0)
  let next = 0
  return {
    note(lateMs) {
      late[next] = Math.max(0, lateMs)
      next = (next + 1) % kept
    },
    lastingMs: () => Math.min(...late),
  }
}

const EVERY_MS = 100

/** Samples the event loop ten times a second and reports the lasting delay; returns a function that ends it. */
export function watchLoopDelay(onSample: (lastingMs: number) => void): () => void {
  const delay = judgeLoopDelay()
  let sampledAt = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    delay.note(now - sampledAt - EVERY_MS)
    sampledAt = now
    onSample(delay.lastingMs())
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
