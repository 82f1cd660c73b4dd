import pg from 'pg'
import type { DatabaseAddress } from './database.ts'

/** Whether anything of deleted rows is left in the table’s file, and in the log files. */
export type Rewritten = { readonly isTableClean: boolean; readonly isLogClean: boolean }

/**
 * Rewrites a table, so that nothing of deleted rows stays in its file, and makes PostgreSQL start a new log file if
 * this role may; of a cell, both on its node. A plain VACUUM leaves bytes behind. Reads
 * and writes of the table wait meanwhile. Rejects when the table was in use for two seconds, or belongs to another role.
 */
export async function rewriteTable(
  address: DatabaseAddress,
  { table, cell }: { readonly table: string; readonly cell: string },
): Promise<Rewritten> {
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
    const name = [...(cell === '' ? [] : [cell]), table].map(pg.escapeIdentifier).join('.')
    await client.query(`vacuum (full, verbose) ${name}`)
    const isTableClean = cell === '' ? left === 0 : await isCleanOnNodes(client, name)
    return { isTableClean, isLogClean: isTableClean && (await leaveLog(client, cell !== '')) }
  } finally {
    await client.end()
  }
}

/**
 * Whether no node has kept deleted rows of a cell's table for an open transaction of its own. Citus passes no notices on from
 * the nodes, but a plain VACUUM counts the rows that it had to leave. A node that does not answer has kept some.
 */
async function isCleanOnNodes(client: pg.Client, table: string): Promise<boolean> {
  await client.query(`vacuum ${table}`)
  const { rows } = await client.query<{ is_clean: boolean }>(
    `select bool_and(success and result = '0') as is_clean from run_command_on_placements($1::regclass,
      $$ select n_dead_tup from pg_stat_all_tables where relid = '%s'::regclass $$)`,
    [table],
  )
  return rows[0]?.is_clean === true
}

/** Starts a new log file and releases the older ones; false where this role may not. */
async function leaveLog(client: pg.Client, isCluster: boolean): Promise<boolean> {
  for (const command of ['select pg_switch_wal()', 'checkpoint']) {
    const isDone = isCluster ? await doneOnNodes(client, command) : await done(client, command)
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
