import { type Command, neededText, valued } from '@benefit-enrolment/command'
import { withDatabase } from '@benefit-enrolment/embedded-postgres'
import { isCluster } from '../db/cells.ts'
import { checkConnection } from '../db/connection-check.ts'
import { copyDatabase } from '../db/copy-database.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../db/database.ts'
import { SERVICE_SESSIONS } from '../db/pool.ts'
import { fragment, sql } from '../db/sql.ts'
import { isMarked } from '../installation.ts'
import { OperatorError } from '../operator-error.ts'
import { makeQuiet } from '../quiet.ts'
import { lackingBeside, noteMaking } from './making-copies.ts'
import { reach } from './reach.ts'
import { onDatabase } from './workspace.ts'

/** `enrolment copy`: moves house, from any database of the service to any other. */
export const copy: Command = {
  name: 'copy',
  summary: 'Copy the whole database into an empty one, of whatever version or cluster; the copy is quiet.',
  options: {
    to: valued('URL', 'the empty PostgreSQL to fill, or a directory for an embedded one (needed)'),
  },
  run: input =>
    onDatabase(input, { makes: false, starts: true }, async ({ config, database, address }) => {
      await reach(database, 'take')
      const to = neededText(input, 'to')
      const isOfCluster = await isCluster(database)
      const isServed = await isInUse(database, isOfCluster)
      if (isServed && isOfCluster)
        throw new OperatorError(
          'A service is still connected to this database, and the nodes of a cluster are not read as of one instant: stop every process first.',
        )
      const startedAt = Date.now()
      await noteMaking(address, { action: 'copy', result: 'begun', at: startedAt })
      const progress = openProgress()
      const tables = await into(to, async destination => {
        await prepare(destination)
        return copyDatabase(address, destination, {
          end: tx => makeQuiet(tx, Date.now()),
          onTable: progress.onTable,
        })
      })
        .catch(async error => {
          await noteMaking(address, { action: 'copy', result: 'failed', at: Date.now() })
          throw error
        })
        .finally(progress.end)
      await noteMaking(address, { action: 'copy', result: 'done', at: Date.now() })
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      const asOf = new Date(startedAt).toISOString()
      input.print({ asof: asOf, quiet: true, rows, tables }, [
        `copied ${rows} rows of ${tables.length} tables as of ${asOf}, each table read back and compared`,
        ...(isServed ? ['A service is connected here: what it writes from now on is not in the copy.'] : []),
        ...(isDirectory(to) ? lackingBeside(config, to) : []),
        'The copy is quiet: reads work, and nothing is written or sent until `enrolment resume` there.',
      ])
    }),
}

function isDirectory(to: string): boolean {
  return !/^postgres(ql)?:/.test(to)
}

/** Runs work on the destination: a URL, or the embedded database of a directory, which is made if there is none. */
async function into<T>(to: string, work: (destination: DatabaseAddress) => Promise<T>): Promise<T> {
  return isDirectory(to) ? withDatabase({ dataDir: to }, work) : work({ url: to })
}

/** Makes the schema at the destination, with cells if that is a cluster. Throws OperatorError when a database is there already. */
async function prepare(destination: DatabaseAddress): Promise<void> {
  await checkConnection(destination)
  const database = openDatabase(destination, { max: 1, onError: () => {}, statementTimeoutMs: 60_000 })
  try {
    await reach(database, 'bring up')
    if (await isMarked(database))
      throw new OperatorError('The destination holds a database of this service already: name an empty one.')
  } finally {
    await database.close()
  }
}

async function isInUse(database: Database, isOfCluster: boolean): Promise<boolean> {
  const sessions = isOfCluster ? fragment`citus_stat_activity` : fragment`pg_stat_activity`
  const services = await database.query(sql`
    select 1 from ${sessions} where datname = current_database() and application_name = ${SERVICE_SESSIONS}`)
  return services.length > 0
}

/** Tells which table is done, and how fast rows are copied: on a terminal each, elsewhere one every ten seconds. */
function openProgress() {
  const begunAt = performance.now()
  let toldAt = begunAt
  let rows = 0
  return {
    onTable(copied: { readonly table: string; readonly rows: number }, number: number, of: number) {
      rows += copied.rows
      const now = performance.now()
      const rate = Math.round((1000 * rows) / (now - begunAt))
      const done = `${number} of ${of} tables: ${copied.table}, ${rows} rows, ${rate} a second`
      if (process.stderr.isTTY) process.stderr.write(`\r${done}\x1b[K`)
      else if (now - toldAt >= TOLD_EVERY_MS) {
        toldAt = now
        process.stderr.write(`${done}\n`)
      }
    },
    end() {
      if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
    },
  }
}

const TOLD_EVERY_MS = 10_000
