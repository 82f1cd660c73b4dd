import type { Database } from '../../db/database.ts'

/** The rest of the pool, and of the cores of the database's machine, is left to partners' requests. */
const MOST_STATEMENTS = 2
/** Nearly every statement of the console takes less; a longer one does not hold up the other operators. */
const PATIENCE_MS = 50

/**
 * The same database, in which one statement runs at a time, however many operators are at work; the others wait here,
 * without a connection, in the order of asking. Beside one that takes long a second may run. Transactions are not
 * counted: two that held both places while each waited for another statement would wait forever.
 */
export function withFewStatements(database: Database): Database {
  const waiting: { readonly since: number; readonly start: () => void }[] = []
  let running = 0
  const startNext = () => {
    const next = waiting[0]
    const mayStart = running === 0 || (next && performance.now() - next.since >= PATIENCE_MS)
    if (!next || !mayStart || running >= MOST_STATEMENTS) return
    waiting.shift()
    running += 1
    next.start()
  }
  const turn = () =>
    new Promise<void>(resolve => {
      // A millisecond later, because a timer may be early by a part of one.
      const timer = setTimeout(startNext, PATIENCE_MS + 1)
      const start = () => {
        clearTimeout(timer)
        resolve()
      }
      waiting.push({ since: performance.now(), start })
    })
  return {
    ...database,
    async query(query) {
      if (running === 0) running += 1
      else await turn()
      try {
        return await database.query(query)
      } finally {
        running -= 1
        startNext()
      }
    },
  }
}
