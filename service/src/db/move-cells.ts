import { OperatorError } from '../operator-error.ts'
import { type NodeAddress, OWN_CELL, readCells } from './cells.ts'
import type { Database, Executor } from './database.ts'
import { failureOf } from './failure.ts'
import { readMigrations, tablesOf } from './migrations.ts'
import { liftLimits, plain } from './session.ts'
import { atCoordinator, sql } from './sql.ts'

/** A cell: its node, how many partners belong to it, and whether it is one partner's own, so that no new one comes into it. */
export type Cell = {
  readonly cell: string
  readonly node: string
  readonly partners: number
  readonly own: boolean
}

/** The cells of a cluster, in the order of their numbers; none on plain PostgreSQL. */
export async function listCells(db: Executor): Promise<readonly Cell[]> {
  const map = await readCells(db)
  const names = map ? [...map.nodes] : []
  const counted = [...(map?.partners.values() ?? [])]
  const marked = await db.query<{ cell: string }>(
    atCoordinator(sql`
    select nspname::text as cell from pg_namespace where obj_description(oid, 'pg_namespace') = ${OWN_CELL}`),
  )
  const own = new Set(marked.map(row => row.cell))
  return names.map(([cell, node]) => ({
    cell,
    node: nameOf(node),
    partners: counted.filter(one => one === cell).length,
    own: own.has(cell),
  }))
}

/**
 * Makes a cell one partner's own, so that no new partner comes into it, or ends that. Throws OperatorError for a user who does not
 * own the cell.
 */
export async function markOwn(databaseSession: Executor, cell: string, isOwn: boolean): Promise<void> {
  const comment = isOwn ? `'${OWN_CELL}'` : 'null'
  try {
    await databaseSession.query(plain(`comment on schema ${cell} is ${comment}`))
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new OperatorError(
      'The user of DATABASE_URL may not say whether new partners come into a cell: run this as the owner of the database.',
    )
  }
}

/** The nodes of a cluster that may have cells. */
export async function listNodes(db: Executor): Promise<readonly string[]> {
  const rows = await db.query<NodeAddress>(sql`
    select nodename as host, nodeport as port from pg_dist_node
    where isactive and shouldhaveshards and noderole = 'primary' order by nodename, nodeport`)
  return rows.map(nameOf)
}

function nameOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}

/** Moves a cell to another node, with all its partners, while it serves; for its last moment it takes no writes. */
export async function moveCell(database: Database, cell: string, node: string): Promise<void> {
  const [host = '', port = ''] = node.split(/:(?=\d+$)/)
  await database.alone(async session => {
    await liftLimits(session)
    const [level] = await session.query<{ wal: string }>(sql`select current_setting('wal_level') as wal`)
    const mode = level?.wal === 'logical' ? 'force_logical' : 'block_writes'
    await session.query(plain(`select citus_schema_move('${cell}', '${host}', ${Number(port)}, '${mode}')`))
  })
}

/** The partners of a cell; those of no cell, '', are on their way to another, or the command that moved them was killed. */
export async function partnersIn(db: Executor, cell: string): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    sql`select partner_id as id from public.partners where cell = ${cell} order by partner_id`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Runs work that moves a partner, in a session at the coordinator. Throws OperatorError while another session does so, even one
 * whose command was killed: what that had sent may still be under way.
 */
export function moving<T>(database: Database, work: (databaseSession: Executor) => Promise<T>): Promise<T> {
  return database.alone(async databaseSession => {
    await liftLimits(databaseSession)
    try {
      await databaseSession.query(sql`select pg_advisory_lock(7236549814)`)
    } catch (error) {
      if (!failureOf(error).lockTimedOut) throw error
      throw new OperatorError(
        'Another partner is being moved, or the cluster still ends a move that was broken off: try again in a minute.',
      )
    }
    return work(databaseSession)
  })
}

/** The cell that has the rows of a partner, of which every partner has one; `undefined` where none has. */
export async function cellWithRows(
  databaseSession: Executor,
  partnerId: string,
  cells: readonly Cell[],
): Promise<string | undefined> {
  for (const { cell } of cells) {
    const rows = await databaseSession.query(
      plain(`select 1 from ${cell}.event_log_heads where partner_id = '${partnerId}'`),
    )
    if (rows.length > 0) return cell
  }
  return undefined
}

/** Says that a partner is in no cell, or in which: every process learns it within two seconds. */
export async function setCell(db: Executor, partnerId: string, cell: string): Promise<void> {
  await db.query(sql`update public.partners set cell = ${cell} where partner_id = ${partnerId}`)
}

/**
 * Moves the rows of a partner, whom no request reads or writes meanwhile, to a cell on the same node, in one transaction. A
 * dispatcher may still have attempts under way: it loses its leases first, so that it writes no result to a row that has been
 * copied. Returns how many rows.
 */
export async function movePartnerRows(
  databaseSession: Executor,
  partnerId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<number> {
  const tables = [...tablesOf(await readMigrations())].filter(([, place]) => place === 'in each cell')
  const names = tables.map(([name]) => name).filter(name => name !== 'dispatchers')
  const own = `where partner_id = '${partnerId}'`
  let count = 0
  await databaseSession.query(plain('begin'))
  await databaseSession.query(
    plain(`update ${from}.endpoint_leases set owner = null, epoch = epoch + 1 ${own}`),
  )
  for (const name of names) {
    await databaseSession.query(plain(`insert into ${to}.${name} select * from ${from}.${name} ${own}`))
    const [moved] = await databaseSession.query<{ rows: number }>(
      plain(`select count(*)::double precision as rows from ${to}.${name} ${own}`),
    )
    count += moved?.rows ?? 0
  }
  for (const name of names.reverse()) await databaseSession.query(plain(`delete from ${from}.${name} ${own}`))
  await setCell(databaseSession, partnerId, to)
  await databaseSession.query(plain('commit'))
  return count
}
