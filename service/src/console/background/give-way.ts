import { setImmediate } from 'node:timers/promises'

/**
 * For how long the console may hold the event loop before the service's other work has a turn: requests of partners are
 * answered on the same loop, and each waits for whatever holds it.
 */
const SLICE_MS = 1

/** Since when the console has worked in this turn of the event loop; `undefined`: not yet. */
let heldSince: number | undefined

/** Fulfilled at once while the console has not worked for long in this turn of the event loop, otherwise in a later turn. */
export async function giveWay(): Promise<void> {
  // All screens share a slice: of those that go on in the same turn, the first works, and the others wait for another.
  while (isOver()) await setImmediate()
}

/** Makes something of each row, and gives way between them. Rejects as `make` throws. */
export async function inSlices<Row, Made>(rows: Iterable<Row>, make: (row: Row) => Made): Promise<Made[]> {
  const made: Made[] = []
  for (const row of rows) {
    if (isOver()) await giveWay()
    made.push(make(row))
  }
  return made
}

function isOver(): boolean {
  if (heldSince !== undefined) return performance.now() - heldSince >= SLICE_MS
  heldSince = performance.now()
  // Runs in the next turn, before whatever gives way in this one.
  globalThis.setImmediate(() => {
    heldSince = undefined
  })
  return false
}
