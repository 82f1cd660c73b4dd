import { HOUR_MS } from '../../calendar/time.ts'

/** Timers by name, at most one of each. */
export type Timers = {
  /** Calls `run` after this many milliseconds, an hour at most; ignored if the timer of this name fires before that. */
  set(name: string, ms: number, run: () => void): void
  clear(name: string): void
  /** Clears all timers; later ones are ignored. */
  close(): void
  count(): number
}

/** The longest time of a timer; a caller that waits for longer is called early and sets it again. */
const LONGEST_MS = HOUR_MS
/** Timers may fire a moment early, when the caller would find nothing yet. */
const EARLY_MS = 2

/** Opens a set of timers. */
export function openTimers(): Timers {
  const timers = new Map<string, { readonly firesAt: number; readonly timeout: NodeJS.Timeout }>()
  let isClosed = false
  const clear = (name: string) => {
    clearTimeout(timers.get(name)?.timeout)
    timers.delete(name)
  }
  return {
    set(name, ms, run) {
      const waitMs = Math.min(Math.max(0, ms), LONGEST_MS) + EARLY_MS
      const firesAt = performance.now() + waitMs
      if (isClosed || (timers.get(name)?.firesAt ?? Number.POSITIVE_INFINITY) <= firesAt) return
      clear(name)
      const fire = () => {
        timers.delete(name)
        run()
      }
      timers.set(name, { firesAt, timeout: setTimeout(fire, waitMs) })
    },
    clear,
    close() {
      isClosed = true
      for (const name of [...timers.keys()]) clear(name)
    },
    count: () => timers.size,
  }
}
