/** Real time for a service under test, which a test moves forward. */
export type MovedClock = { readonly now: () => number; readonly advance: (ms: number) => void }

/** Another clock, moved by an offset. */
function movedClock(now: () => number): MovedClock {
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

/** The middle of a day, of a month and of a plan year, on which everything may be done. */
export const ORDINARY_DAY = Date.UTC(2027, 2, 10, 15)

/**
 * A clock that hardly moves by itself: a time to which nobody has advanced never comes, on however slow a machine. It
 * does not stand still either, so that times that should differ can differ. It begins on the same day whenever a test
 * runs, as on the last day of a month a plan may not change.
 */
export function slowClock(startAt = ORDINARY_DAY): MovedClock {
  const began = machineTime()
  return movedClock(() => startAt + Math.floor((machineTime() - began) / SLOWNESS))
}

/** Real times by what a test needs of them. */
export const clocks = {
  slow: slowClock,
  still: (startAt = ORDINARY_DAY) => movedClock(() => startAt),
  machine: () => movedClock(() => Date.now()),
} satisfies Record<string, (startAt?: number) => MovedClock>
