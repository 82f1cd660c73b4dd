import { inEachCell } from './by-cell.ts'
import type { Database } from './database.ts'
import { sql } from './sql.ts'

/** Keeps the planner’s statistics up to date for tables that grow quickly. */
export type Statistics = {
  /** Counts the users whom a commit has changed. */
  noteUsers(count: number): void
  /** Fulfills when no table is being analyzed. */
  idle(): Promise<void>
}

/** The tables that grow with each user and each change. */
const TABLES = [
  'users',
  'data_keys',
  'sealed_records',
  'enrolments',
  'consents',
  'history',
  'events',
  'deliveries',
  'idempotency_keys',
  'page_sessions',
]

/**
 * The counts of users that this process has written at which it checks the tables; after the last, the database’s own
 * schedule is fast enough.
 */
const CHECKED_AT: readonly number[] = [64, 512, 4096, 32_768]

/**
 * Watches how many rows the planner believes a table to have. PostgreSQL keeps plans; one made while a table was
 * nearly empty may read all users of a partner to find one, until the table is analyzed, which happens minutes later
 * by itself. Tables whose size the planner knows well enough are left alone.
 */
export function openStatistics(database: Database, onError: (error: unknown) => void): Statistics {
  let users = 0
  let checks = 0
  let underWay: Promise<void> | undefined

  const noteUsers = (count: number) => {
    users += count
    if (underWay || users < (CHECKED_AT[checks] ?? Number.POSITIVE_INFINITY)) return
    while (users >= (CHECKED_AT[checks] ?? Number.POSITIVE_INFINITY)) checks += 1
    underWay = inEachCell(database, cell => analyze(cell, users))
      .then(() => undefined)
      .catch(onError)
      .finally(() => {
        underWay = undefined
        noteUsers(0)
      })
  }
  return { noteUsers, idle: async () => underWay }
}

/** Analyzes the tables that the planner believes to have fewer rows than this. */
async function analyze(database: Database, rows: number): Promise<void> {
  const unknown = await database.query<{ name: string }>(sql`
    select c.relname as name from pg_class c
    where c.oid = any (array(select to_regclass(name) from unnest(${TABLES}::text[]) as name))
      and c.reltuples < ${rows}`)
  const names = TABLES.filter(name => unknown.some(table => table.name === name))
  if (names.length > 0) await database.script(`analyze ${names.join(', ')}`)
}
