import type { Database } from '../../db/database.ts'

/** The rest of the pool, and of the cores of the database's machine, is left to partners' requests. */
const MOST_STATEMENTS = 2

/**
 * The same database, in which at most two statements run at once, however many operators are at work; the others wait
 * here, without a connection, in the order of asking. Transactions are not counted: two that held both places while each
 * waited for another statement would wait forever.
 */
export function withFewStatements(database: Database): Database {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    ...database,
    async query(query) {
      if (running < MOST_STATEMENTS) running += 1
      else await new Promise<void>(resolve => waiting.push(resolve))
      try {
        return await database.query(query)
      } finally {
        // A turn is handed on without being free in between, so nobody who comes later is earlier.
        const next = waiting.shift()
        if (next) next()
        else running -= 1
      }
    },
  }
}
