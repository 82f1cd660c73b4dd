import type { Database } from './database.ts'
import { sql } from './sql.ts'

/** Sees to it that the planner knows of tables that grow quickly. */
export type Statistics = {
  /** Says that so many events were committed: about as many users or changes of users. */
  noteEvents(count: number): void
  /** Fulfils when no table is being analysed. */
  idle(): Promise<void>
}

/** What grows with each user and each change. */
const TABLES = [
  'users',
  'data_keys',
  'documents',
  'enrolments',
  'consents',
  'history',
  'events',
  'deliveries',
  'idempotency_keys',
  'page_sessions',
]

/** After so many events of this process it checks the tables; later the database's own rhythm is quick enough. */
const CHECKED_AT: readonly number[] = [64, 512, 4096, 32_768]

/**
 * Opens the watch over what the planner knows. A plan is made once and kept, and one that was made while a table was new
 * or nearly empty may read all users of a partner for each of them: until the table is analysed, which the database by
 * itself does minutes later. Tables that it knows to be as large as what this process wrote are left alone.
 */
export function openStatistics(database: Database, onError: (error: unknown) => void): Statistics {
  let events = 0
  let checks = 0
  let underWay: Promise<void> | undefined

  const noteEvents = (count: number) => {
    events += count
    if (underWay || events < (CHECKED_AT[checks] ?? Number.POSITIVE_INFINITY)) return
    while (events >= (CHECKED_AT[checks] ?? Number.POSITIVE_INFINITY)) checks += 1
    underWay = analyse(database, events)
      .catch(onError)
      .finally(() => {
        underWay = undefined
        noteEvents(0)
      })
  }
  return { noteEvents, idle: async () => underWay }
}

/** Analyses the tables that the planner takes to have fewer rows than this. */
async function analyse(database: Database, rows: number): Promise<void> {
  const unknown = await database.query<{ name: string }>(sql`
    select c.relname as name from pg_class c
    where c.oid = any (array(select to_regclass(name) from unnest(${TABLES}::text[]) as name))
      and c.reltuples < ${rows}`)
  const names = TABLES.filter(name => unknown.some(table => table.name === name))
  if (names.length > 0) await database.script(`analyze ${names.join(', ')}`)
}
