import pg from 'pg'
import type { DatabaseAddress } from './database.ts'

/** Whether anything of deleted rows is left in the table’s file, and in the log files. */
export type Rewritten = { readonly isTableClean: boolean; readonly isLogClean: boolean }

/**
 * Rewrites a table, so that nothing of deleted rows stays in its file, and makes PostgreSQL start a new log file if
 * this role may. A plain VACUUM leaves bytes behind. Reads and writes of the table wait meanwhile. Rejects when the
 * table was in use for two seconds, or belongs to another role.
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
    return { isTableClean: left === 0, isLogClean: left === 0 && (await leaveLog(client)) }
  } finally {
    await client.end()
  }
}

/** Starts a new log file and releases the older ones; false where this role may not. */
async function leaveLog(client: pg.Client): Promise<boolean> {
  try {
    await client.query('select pg_switch_wal()')
    await client.query('checkpoint')
    return true
  } catch (error) {
    if ((error as { code?: string }).code === '42501') return false
    throw error
  }
}
