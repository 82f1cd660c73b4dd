import { type NodeAddress, readCells } from './cells.ts'
import type { Database, Executor } from './database.ts'
import { readMigrations, tablesOf } from './migrations.ts'
import { liftLimits, plain } from './session.ts'
import { sql } from './sql.ts'

/** A cell: its node, and how many partners belong to it. */
export type Cell = { readonly cell: string; readonly node: string; readonly partners: number }

/** The cells of a cluster, in the order of their numbers; none on plain PostgreSQL. */
export async function listCells(db: Executor): Promise<readonly Cell[]> {
  const map = await readCells(db)
  const names = map ? [...map.nodes] : []
  const counted = [...(map?.partners.values() ?? [])]
  return names.map(([cell, node]) => ({
    cell,
    node: nameOf(node),
    partners: counted.filter(one => one === cell).length,
  }))
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
  database: Database,
  partnerId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<number> {
  const tables = [...tablesOf(await readMigrations())].filter(([, place]) => place === 'in each cell')
  const names = tables.map(([name]) => name).filter(name => name !== 'dispatchers')
  return database.define(async tx => {
    await tx.query(plain('set local statement_timeout = 0'))
    await tx.query(
      plain(
        `update ${from}.endpoint_leases set owner = null, epoch = epoch + 1 where partner_id = '${partnerId}'`,
      ),
    )
    let count = 0
    for (const name of names) {
      const own = `where partner_id = '${partnerId}'`
      await tx.query(plain(`insert into ${to}.${name} select * from ${from}.${name} ${own}`))
      const [moved] = await tx.query<{ rows: number }>(
        plain(`select count(*)::double precision as rows from ${to}.${name} ${own}`),
      )
      count += moved?.rows ?? 0
    }
    for (const name of names.reverse())
      await tx.query(plain(`delete from ${from}.${name} where partner_id = '${partnerId}'`))
    await setCell(tx, partnerId, to)
    return count
  })
}
