import { setTimeout as sleep } from 'node:timers/promises'

/** Work of the console that takes many statements, such as files and counts of what is due. */
export type SlowWork = {
  /**
   * Runs one slice of such work, after the slices that were asked for earlier. Rejects as the slice does, and without
   * running it once the console closes.
   */
  inTurn<T>(slice: () => Promise<T>): Promise<T>
  /** Lets the running slice end, and refuses all others. */
  close(): Promise<void>
}

/** The console closes: the rest of the work is not done. */
export class ConsoleCloses extends Error {
  override name = 'ConsoleCloses'
}

const RESTS = 3

/**
 * Runs one slice at a time in this process, and rests after each for three times as long as it took: so all files and
 * counts together take at most a quarter of one connection, and partners' requests keep the rest.
 */
export function openSlowWork(): SlowWork {
  const closing = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  return {
    inTurn: slice => {
      let ms = 0
      const turn = last.then(async () => {
        if (closing.signal.aborted) throw new ConsoleCloses('the console closes')
        const begunAt = performance.now()
        try {
          return await slice()
        } finally {
          ms = performance.now() - begunAt
        }
      })
      last = turn
        .catch(ignore)
        .then(() => sleep(ms * RESTS, undefined, { signal: closing.signal }))
        .catch(ignore)
      return turn
    },
    close: async () => {
      closing.abort()
      await last
    },
  }
}

function ignore() {}
