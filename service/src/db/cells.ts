import { uuidsIn } from './binary-array.ts'
import { ownMigrations, readMigrations } from './migrations.ts'
import { type Query, sql } from './sql.ts'
import type { Executor } from './types.ts'

/** The partner of what belongs to none, such as the entries of the audit log about operators: it is in the first cell. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** The comment on the schema of a cell that is one partner's own. Only the coordinator has it, where new partners are made. */
export const OWN_CELL = 'one partner has this cell of its own, and new partners stay out of it'

/** The address of a node of a cluster. */
export type NodeAddress = { readonly host: string; readonly port: number }

/** Where the cells of a cluster are, and which partners belong to each. */
export type CellMap = {
  readonly nodes: ReadonlyMap<string, NodeAddress>
  readonly partners: Map<string, string>
}

/** The names of cells, which also stand in texts of statements. */
export function isCellName(name: string): boolean {
  return /^cell_[1-9]\d{0,3}$/.test(name)
}

/**
 * Reads from any node where each cell is, and which partners belong to it; `undefined` on plain PostgreSQL, and on a cluster
 * without cells.
 */
export async function readCells(db: Executor): Promise<CellMap | undefined> {
  const [citus] = await db.query(sql`select 1 from pg_extension where extname = 'citus'`)
  if (!citus) return undefined
  const cells = await db.query<{ cell: string; host: string; port: number }>(sql`
    select distinct n.nspname::text as cell, node.nodename as host, node.nodeport as port
    from pg_dist_schema s
    join pg_namespace n on n.oid = s.schemaid
    join pg_dist_partition t on t.colocationid = s.colocationid
    join pg_dist_shard shard on shard.logicalrelid = t.logicalrelid
    join pg_dist_placement placement on placement.shardid = shard.shardid
    join pg_dist_node node on node.groupid = placement.groupid and node.noderole = 'primary'
    order by cell`)
  const all = cells.filter(({ cell }) => isCellName(cell))
  if (all.length === 0) return undefined
  const whole = await wholeCells(db)
  // In a database that an earlier version made, none is whole yet.
  const own = whole.size > 0 ? all.filter(({ cell }) => whole.has(cell)) : all
  const partners = await db.query<{ partner_id: string; cell: string }>(
    sql`select partner_id, cell from public.partners`,
  )
  return {
    nodes: new Map(byNumber(own).map(({ cell, host, port }) => [cell, { host, port }])),
    // One that is on its way to another cell has none.
    partners: new Map(partners.flatMap(row => (isCellName(row.cell) ? [[row.partner_id, row.cell]] : []))),
  }
}

/** The cells that have all that this version needs: one that `migrate` is making beside it has its first tables before its last. */
async function wholeCells(db: Executor): Promise<ReadonlySet<string>> {
  newest ??= readMigrations(ownMigrations).then(migrations => migrations.at(-1)?.name ?? '')
  const end = `/${await newest}`
  const rows = await db.query<{ name: string }>(
    sql`select name from public.migrations where name like ${`%${end}`}`,
  )
  return new Set(rows.map(({ name }) => name.slice(0, -end.length)))
}

let newest: Promise<string> | undefined

function byNumber<Row extends { readonly cell: string }>(rows: readonly Row[]): Row[] {
  const numberOf = ({ cell }: Row) => Number(cell.slice('cell_'.length))
  return [...rows].sort((a, b) => numberOf(a) - numberOf(b))
}

/** The cells of the partners that a statement names, among its values or in a list of them. */
export function cellsNamed(
  { values }: Pick<Query, 'values'>,
  { nodes, partners }: CellMap,
): ReadonlySet<string> {
  const found = new Set<string>()
  const look = (value: unknown) => {
    if (typeof value !== 'string' || value.length !== NOBODY.length) return
    const cell = value === NOBODY ? [...nodes.keys()][0] : partners.get(value)
    if (cell !== undefined) found.add(cell)
  }
  for (const value of values) {
    if (Array.isArray(value)) value.forEach(look)
    else if (Buffer.isBuffer(value)) uuidsIn(value).forEach(look)
    else look(value)
  }
  return found
}

/** Whether a statement has an empty list among its values. If it names no partner, it finds nothing in any cell. */
export function hasEmptyList({ values }: Pick<Query, 'values'>): boolean {
  return values.some(value => Array.isArray(value) && value.length === 0)
}

/**
 * The cell of the partner that a statement names; `undefined` where it names none. Every statement on the data of partners
 * names its partner. Throws where it names partners of several cells: what writes goes cell by cell. The id of nobody is also that of
 * no user, so beside a partner of another cell it names none: notices and the first slice of a month's statement have it.
 */
export function cellNamed(query: Pick<Query, 'values'>, map: CellMap): string | undefined {
  const [cell, ...others] = cellsNamed(query, map)
  if (others.length === 0) return cell
  const [own, ...several] = cellsNamed(query, { ...map, nodes: new Map() })
  if (several.length > 0) throw new Error('a statement names partners of several cells')
  return own
}
