import { OperatorError } from '../operator-error.ts'
import { namesOfCells } from './cells.ts'
import type { Database, Executor } from './database.ts'
import { failureOf } from './failure.ts'
import { tablesOfCells } from './migrations.ts'
import { liftLimits, plain } from './session.ts'
import { sql } from './sql.ts'

/** A cell: its node, `HOST:PORT`, and how many partners belong to it. */
export type Cell = { readonly cell: string; readonly node: string; readonly partners: number }

/** The cells of a cluster, in the order of their numbers; none on plain PostgreSQL. */
export async function listCells(db: Executor): Promise<readonly Cell[]> {
  const names = await namesOfCells(db)
  if (names.length === 0) return []
  return db.query<Cell>(sql`
    select c.name as cell, min(n.nodename || ':' || n.nodeport) as node,
      (select count(*) from public.partners p where p.cell = c.name)::integer as partners
    from unnest(${names}::text[]) with ordinality as c (name, number)
    join pg_dist_schema s on s.schemaid = c.name::regnamespace
    join pg_dist_partition t on t.colocationid = s.colocationid
    join pg_dist_shard h on h.logicalrelid = t.logicalrelid
    join pg_dist_placement l on l.shardid = h.shardid
    join pg_dist_node n on n.groupid = l.groupid and n.noderole = 'primary'
    group by c.name, c.number order by c.number`)
}

/** The partners that are in no cell: each is on its way to another, or the command that moved it was killed. */
export async function partnersInNone(db: Executor): Promise<readonly string[]> {
  const rows = await db.query<{ id: string }>(
    sql`select partner_id as id from public.partners where cell = '' order by partner_id`,
  )
  return rows.map(({ id }) => id)
}

/** Says that a partner is in no cell, or in which: every process learns it within four seconds. */
export async function setCell(db: Executor, partnerId: string, cell: string): Promise<void> {
  await db.query(sql`update public.partners set cell = ${cell} where partner_id = ${partnerId}`)
}

/**
 * Moves the rows of a partner who is in no cell to a cell, in one transaction over both nodes, and says that it is there; returns
 * how many rows. Without a cell the partner is put where its rows are. Throws OperatorError when the partner is in a cell again, as
 * another command has ended, and while another session has the partner: what a killed command had sent may still be under way.
 */
export async function moveRows(database: Database, partnerId: string, wanted?: string): Promise<number> {
  const tables = await tablesOfCells()
  return database.alone(async session => {
    await liftLimits(session)
    await session.query(plain('begin'))
    try {
      // The commit is that of this row, so whoever has locked it decides where the partner is.
      const [row] = await session.query<{ cell: string }>(
        sql`select cell from public.partners where partner_id = ${partnerId} for no key update`,
      )
      if (row?.cell !== '') throw new OperatorError('Another command has put the partner into a cell.')
      const from = await cellWithRows(session, partnerId)
      const to = wanted ?? from
      const count = from === to ? 0 : await copyRows(session, tables, { partnerId, from, to })
      await setCell(session, partnerId, to)
      await session.query(plain('commit'))
      return count
    } catch (error) {
      if (!failureOf(error).lockTimedOut) throw error
      throw new OperatorError(
        'The partner is being moved, or the cluster still ends a move that was broken off: try again in a minute.',
      )
    }
  })
}

/** The cell that has the rows of a partner, of which every partner has one. */
async function cellWithRows(session: Executor, partnerId: string): Promise<string> {
  for (const cell of await namesOfCells(session)) {
    const rows = await session.query(
      plain(`select 1 from ${cell}.event_log_heads where partner_id = '${partnerId}'`),
    )
    if (rows.length > 0) return cell
  }
  throw new OperatorError('No cell has rows of this partner.')
}

async function copyRows(
  session: Executor,
  tables: readonly string[],
  { partnerId, from, to }: { readonly partnerId: string; readonly from: string; readonly to: string },
): Promise<number> {
  const own = `where partner_id = '${partnerId}'`
  let count = 0
  // First, so that the result of an attempt that a dispatcher still had under way finds its row gone, and not copied.
  for (const name of tables) await session.query(plain(`select 1 from ${from}.${name} ${own} for update`))
  for (const name of tables) {
    await session.query(plain(`insert into ${to}.${name} select * from ${from}.${name} ${own}`))
    const [moved] = await session.query<{ rows: number }>(
      plain(`select count(*)::double precision as rows from ${to}.${name} ${own}`),
    )
    count += moved?.rows ?? 0
  }
  for (const name of tables.toReversed()) await session.query(plain(`delete from ${from}.${name} ${own}`))
  return count
}
