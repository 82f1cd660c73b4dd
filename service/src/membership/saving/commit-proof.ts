import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'
import type { BatchWrites } from './batch-writes.ts'

/**
 * Finds a row that only this batch could have written; `undefined` when there is no such row. All writes are in one
 * transaction, so that one row proves that all were committed.
 */
export function proofOf({ events, keys }: BatchWrites): Query | undefined {
  const [event] = events
  if (event)
    return sql`select 1 from events where partner_id = ${event.user.partnerId} and event_id = ${event.id}`
  const [key] = keys
  return (
    key &&
    sql`
    select 1 from idempotency_keys where partner_id = ${key.partnerId} and operation = ${key.operation}
      and key_hash = ${key.keyHash} and attempt_id = ${key.attemptId}`
  )
}

const PATIENCE_MS = 3000

/**
 * Whether a batch was committed, though the answer to its commit was lost. Waits for a database that is away, and
 * returns false when it stays away.
 */
export async function wasCommitted(database: Database, proof: Query | undefined): Promise<boolean> {
  if (!proof) return false
  const deadline = performance.now() + PATIENCE_MS
  let looks = 0
  while (performance.now() < deadline) {
    try {
      if ((await database.query(proof)).length > 0) return true
      looks += 1
      if (looks > 2) return false
    } catch {
      // The database does not answer yet: ask again.
    }
    await sleep(150)
  }
  return false
}
