import { readdir, readFile } from 'node:fs/promises'
import type { Database } from './database.ts'
import { type Query, sql } from './sql.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** Brings the schema up and gives the names of the migrations it applied; safe to run twice at once. */
export const migrate = async (database: Database): Promise<string[]> => {
  const files = (await readdir(folder)).filter(name => /^\d{3}_.*\.sql$/.test(name)).sort()
  const texts = await Promise.all(files.map(name => readFile(new URL(name, folder), 'utf8')))
  return database.transaction(async tx => {
    // A migration takes what it takes, and so does waiting for another's.
    await tx.query(sql`set local statement_timeout = 0`)
    await tx.query(sql`set local lock_timeout = 0`)
    // Not a hot path: two commands that migrate at once take turns.
    await tx.query(unhurried(sql`select pg_advisory_xact_lock(7236549812)`))
    await tx.query(
      sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null)`,
    )
    const rows = await tx.query<{ name: string }>(sql`select name from migrations`)
    const done = new Set(rows.map(row => row.name))
    const fresh = files.filter(name => !done.has(name))
    for (const name of fresh) {
      await tx.query(unhurried({ name: '', text: texts[files.indexOf(name)] ?? '', values: [] }))
      await tx.query(sql`insert into migrations (name, applied_at) values (${name}, clock_timestamp())`)
    }
    return fresh
  })
}

/** The same statement without the pool's own limit, which node-postgres reads from the query. */
const unhurried = (query: Query): Query & { query_timeout: number } => ({
  ...query,
  query_timeout: 3_600_000,
})

/** The migrations that this version has and the database has not; empty when the schema is up to date. */
export const missingMigrations = async (database: Database): Promise<string[]> => {
  const files = (await readdir(folder)).filter(name => /^\d{3}_.*\.sql$/.test(name)).sort()
  const [table] = await database.query<{ exists: boolean }>(
    sql`select to_regclass('migrations') is not null as exists`,
  )
  if (!table?.exists) return files
  const rows = await database.query<{ name: string }>(sql`select name from migrations`)
  const done = new Set(rows.map(row => row.name))
  return files.filter(name => !done.has(name))
}
