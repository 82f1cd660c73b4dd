import { HOUR_MS } from '../../calendar/time.ts'

/** Timers by name: setting one again replaces it. */
export type Timers = {
  /** Calls `run` after this many milliseconds, an hour at most. */
  set(name: string, ms: number, run: () => void): void
  has(name: string): boolean
  clear(name: string): void
  /** Clears all timers; later ones are ignored. */
  close(): void
  count(): number
}

/** The longest time of a timer; a caller that waits for longer is called early and sets it again. */
const LONGEST_MS = HOUR_MS

/** Opens a set of timers. */
export function openTimers(): Timers {
  const timers = new Map<string, NodeJS.Timeout>()
  let isClosed = false
  const clear = (name: string) => {
    clearTimeout(timers.get(name))
    timers.delete(name)
  }
  return {
    set(name, ms, run) {
      clear(name)
      if (isClosed) return
      const fire = () => {
        timers.delete(name)
        run()
      }
      timers.set(name, setTimeout(fire, Math.min(Math.max(0, ms), LONGEST_MS)))
    },
    has: name => timers.has(name),
    clear,
    close() {
      isClosed = true
      for (const name of [...timers.keys()]) clear(name)
    },
    count: () => timers.size,
  }
}
