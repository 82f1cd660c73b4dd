/** Real time for a service under test, which a test moves forward. */
export type MovedClock = { readonly now: () => number; readonly advance: (ms: number) => void }

/** Another clock, moved by an offset. */
export function movedClock(now: () => number): MovedClock {
  let offset = 0
  return {
    now: () => now() + offset,
    advance: ms => {
      offset += ms
    },
  }
}

/** Continues even when a test replaces `performance`. */
const machineTime = performance.now.bind(performance)
const SLOWNESS = 100

/**
 * A clock that hardly moves by itself: a time to which nobody has advanced never comes, on however slow a machine. It
 * does not stand still either, so that times that should differ can differ.
 */
export function slowClock(startAt = Date.now()): MovedClock {
  const began = machineTime()
  return movedClock(() => startAt + Math.floor((machineTime() - began) / SLOWNESS))
}
