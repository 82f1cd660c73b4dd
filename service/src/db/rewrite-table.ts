import pg from 'pg'
import type { DatabaseAddress } from './database.ts'

/** Whether anything of deleted rows is left in the table’s file, and in the log files. */
export type Rewritten = { readonly isTableClean: boolean; readonly isLogClean: boolean }

/**
 * Rewrites a table, so that nothing of deleted rows stays in its file, and makes PostgreSQL start a new log file if
 * this role may; on a cluster both on every node that holds a part of the table. A plain VACUUM leaves bytes behind. Reads
 * and writes of the table wait meanwhile. Rejects when the table was in use for two seconds, or belongs to another role.
 */
export async function rewriteTable(address: DatabaseAddress, table: string): Promise<Rewritten> {
  const client = new pg.Client({
    ...('url' in address ? { connectionString: address.url } : { ...address, ssl: false }),
    connectionTimeoutMillis: 5000,
    options: '-c lock_timeout=2000 -c statement_timeout=0',
  })
  client.on('error', () => undefined)
  let left: number | undefined
  client.on('notice', notice => {
    // Rows that an open transaction may still see are copied; this notice reports it in every language of the server.
    const dead = /^(\d+) /.exec(notice.detail ?? '')?.[1]
    if (dead !== undefined) left = (left ?? 0) + Number(dead)
  })
  await client.connect()
  try {
    await client.query(`vacuum (full, verbose) ${pg.escapeIdentifier(table)}`)
    const isSpread = await isOnNodes(client, table)
    const isTableClean = left === 0 && (!isSpread || (await isCleanOnNodes(client, table)))
    return { isTableClean, isLogClean: isTableClean && (await leaveLog(client, isSpread)) }
  } finally {
    await client.end()
  }
}

async function isOnNodes(client: pg.Client, table: string): Promise<boolean> {
  const { rows: found } = await client.query("select 1 from pg_extension where extname = 'citus'")
  if (found.length === 0) return false
  const { rows } = await client.query('select 1 from pg_dist_partition where logicalrelid = $1::regclass', [
    table,
  ])
  return rows.length > 0
}

/**
 * Whether no node has kept deleted rows of a spread table for an open transaction of its own. Citus passes no notices on from
 * the nodes, but a plain VACUUM counts the rows that it had to leave. A node that does not answer has kept some.
 */
async function isCleanOnNodes(client: pg.Client, table: string): Promise<boolean> {
  await client.query(`vacuum ${pg.escapeIdentifier(table)}`)
  const { rows } = await client.query<{ is_clean: boolean }>(
    `select bool_and(success and result = '0') as is_clean from run_command_on_placements($1::regclass,
      $$ select n_dead_tup from pg_stat_all_tables where relid = '%s'::regclass $$)`,
    [table],
  )
  return rows[0]?.is_clean === true
}

/** Starts a new log file and releases the older ones; false where this role may not. */
async function leaveLog(client: pg.Client, isSpread: boolean): Promise<boolean> {
  for (const command of ['select pg_switch_wal()', 'checkpoint']) {
    const isDone = isSpread ? await doneOnNodes(client, command) : await done(client, command)
    if (!isDone) return false
  }
  return true
}

async function done(client: pg.Client, command: string): Promise<boolean> {
  try {
    await client.query(command)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === '42501') return false
    throw error
  }
}

async function doneOnNodes(client: pg.Client, command: string): Promise<boolean> {
  const { rows } = await client.query<{ is_done: boolean }>(
    'select bool_and(success) as is_done from run_command_on_all_nodes($1)',
    [command],
  )
  return rows[0]?.is_done === true
}
