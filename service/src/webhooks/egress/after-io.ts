let waiting: (() => void)[] = []

/**
 * Defers callbacks until every readable socket of this turn of the event loop has been read, and then runs them
 * together. Under load many answers arrive in one turn. Reading all of them before going on with any keeps the code of
 * each part in the processor's caches; going on with each at once delivers a tenth less in the same time.
 */
export function afterIo(run: () => void): void {
  if (waiting.push(run) === 1) setImmediate(runAll)
}

function runAll(): void {
  const runs = waiting
  waiting = []
  for (const run of runs) run()
}
