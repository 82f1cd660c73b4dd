import { NOBODY } from './cells.ts'
import type { Database } from './database.ts'
import { sql } from './sql.ts'

const HELD_MS = 5000

/**
 * Tells whether the database takes writes, by a small one of its own: a database that was made read-only, or whose disk
 * is full, still answers reads. Asked often, it writes once in five seconds; after a failure it tries at the next
 * question, so that readiness comes back with the database.
 */
export function probeWrites(
  database: Database,
  now: () => number = () => performance.now(),
): () => Promise<boolean> {
  let known: { readonly answer: Promise<boolean>; readonly until: number } | undefined
  return async () => {
    if (known && now() < known.until) return known.answer
    const answer = attemptWrite(database)
    known = { answer, until: now() + HELD_MS }
    const canWrite = await answer
    if (!canWrite) known = undefined
    return canWrite
  }
}

/**
 * Writes a row unchanged: a transaction like any other, down to the flush of its commit. While one node of a cluster is away,
 * the partners of the others must still be sent to this process: so it is enough that one cell takes writes.
 */
async function attemptWrite(database: Database): Promise<boolean> {
  const attempts = database.cells().map(cell =>
    cell.query(sql`
    insert into event_log_heads as h (partner_id) values (${NOBODY}) on conflict (partner_id) do update set last = h.last`),
  )
  return Promise.any(attempts).then(
    () => true,
    () => false,
  )
}
