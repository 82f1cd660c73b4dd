const kept = 3

/**
 * Judges the delay of the event loop by the least of the last three samples: a garbage collection or a sudden burst makes
 * one sample late, an overloaded process makes all three late.
 */
export function judgeLoopDelay() {
  const late = new Array<number>(kept).fill(0)
  let next = 0
  return {
    /** Records by how much a timer was late. */
    note(lateMs: number) {
      late[next] = Math.max(0, lateMs)
      next = (next + 1) % kept
    },
    /** The lasting delay: the least of the last few samples. */
    lastingMs: () => Math.min(...late),
  }
}
