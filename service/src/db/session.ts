import { DAY_MS } from '../calendar/time.ts'
import { type Query, sql } from './sql.ts'
import type { Executor } from './types.ts'

/** Text without bound values, as a statement without the pool's own limit, which node-postgres reads from the query. */
export function plain(text: string): Query {
  const query: Query & { query_timeout: number } = { name: '', text, values: [], query_timeout: DAY_MS }
  return query
}

/** Lifts the limits of a session whose work may take long. */
export async function liftLimits(databaseSession: Executor): Promise<void> {
  await databaseSession.query(sql`select set_config('statement_timeout', '0', false),
    set_config('idle_in_transaction_session_timeout', '0', false)`)
}
