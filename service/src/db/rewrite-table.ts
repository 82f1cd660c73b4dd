import pg from 'pg'
import type { DatabaseAddress } from './database.ts'

/** How a rewrite went: whether nothing of deleted rows is left in the table's file, and in the log files. */
export type Rewritten = { readonly isTableClean: boolean; readonly isLogClean: boolean }

/**
 * Writes a table anew, so that nothing of deleted rows stays in its file, and lets PostgreSQL go on in a new log file
 * where it may be told to. A plain VACUUM leaves bytes behind. Who reads or writes the table waits meanwhile; rejects when
 * it was in use for two seconds, or is not ours.
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
    // Rows that some open transaction may still see are copied; this notice tells it, whatever language the server speaks.
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

/** Goes on in a new log file and gives up those before; false where this role may not. */
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
