/** Tells how late a process is with what it has to do. */
export type LoopDelay = {
  /** Notes by how much a timer was late. */
  note(lateMs: number): void
  /** The delay that stands: the least of the last few. */
  standingMs(): number
}

const kept = 3

/**
 * Judges the delay of the event loop by the least of the last three looks: a garbage collection or a burst that arrives
 * at once makes one of them late, a process that has more to do than it can makes all of them late.
 */
export function judgeLoopDelay(): LoopDelay {
  const late = new Array<number>(kept).fill(0)
  let next = 0
  return {
    note(lateMs) {
      late[next] = Math.max(0, lateMs)
      next = (next + 1) % kept
    },
    standingMs: () => Math.min(...late),
  }
}

const everyMs = 100

/** Looks at the event loop ten times a second and tells the delay that stands; gives what ends it. */
export function watchLoopDelay(onLook: (standingMs: number) => void): () => void {
  const delay = judgeLoopDelay()
  let lookedAt = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    delay.note(now - lookedAt - everyMs)
    lookedAt = now
    onLook(delay.standingMs())
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
