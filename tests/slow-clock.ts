/** Real time, as a service under test is given it, which a test moves forward. */
export type MovedClock = { readonly now: () => number; readonly advance: (ms: number) => void }

/** Another clock, moved. */
export function movedClock(now: () => number): MovedClock {
  let offset = 0
  return {
    now: () => now() + offset,
    advance: ms => {
      offset += ms
    },
  }
}

/** Goes on also where a test takes `performance` over. */
const machineTime = performance.now.bind(performance)
const SLOWNESS = 100

/**
 * A clock that hardly moves by itself: what nobody has advanced to never comes due, on however slow a machine. It does not
 * stand still either, so that times that should differ can.
 */
export function slowClock(startAt = Date.now()): MovedClock {
  const began = machineTime()
  return movedClock(() => startAt + Math.floor((machineTime() - began) / SLOWNESS))
}
