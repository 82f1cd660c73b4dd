let waiting: (() => void)[] = []

/**
 * Runs this when all that this turn of the event loop has received is read, together with the others that wait for that.
 * Under load many answers come in one turn. To read all of them and then to go on with all of them keeps the code of each
 * part in the processor's caches; to go on with each as it comes delivers a tenth less in the same time.
 */
export const atTurnEnd = (run: () => void): void => {
  if (waiting.push(run) === 1) setImmediate(runAll)
}

const runAll = () => {
  const runs = waiting
  waiting = []
  for (const run of runs) run()
}
