import { isCellName } from './cells.ts'
import type { Executor } from './database.ts'
import { plain } from './session.ts'
import { sql } from './sql.ts'

/** How many cells a cluster gets unless the operator says so: enough for a start, and few enough for every node. */
export const CELLS_OF_A_CLUSTER = 16

/** Whether the database has the Citus extension. */
export async function isCluster(db: Executor): Promise<boolean> {
  const rows = await db.query(sql`select 1 from pg_extension where extname = 'citus'`)
  return rows.length > 0
}

/** The cells of a cluster, in the order of their numbers; none on plain PostgreSQL. */
export async function namesOfCells(db: Executor): Promise<string[]> {
  const rows = await db.query<{ name: string }>(sql`
    select nspname::text as name from pg_namespace where nspname like 'cell%' order by length(nspname), nspname`)
  return rows.map(row => row.name).filter(isCellName)
}

/**
 * Makes cells up to a number: schemas whose tables Citus keeps together on one node each. What all cells share stands in
 * `public`.
 */
export async function makeCells(databaseSession: Executor, count = CELLS_OF_A_CLUSTER): Promise<void> {
  await databaseSession.query(plain('create extension if not exists btree_gist schema public'))
  await databaseSession.query(plain('set citus.enable_schema_based_sharding to on'))
  await databaseSession.query(plain('begin'))
  for (let number = 1; number <= count; number += 1)
    await databaseSession.query(plain(`create schema if not exists cell_${number}`))
  await databaseSession.query(plain('commit'))
}
