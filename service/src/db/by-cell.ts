import type { Database } from './database.ts'
import { openTasks } from './each-task.ts'
import { SilentNode } from './failure.ts'
import { sql } from './sql.ts'

/** The database of a partner's cell; the given one where it is that, as on plain PostgreSQL. */
export function ofPartner(database: Database, partnerId: string): Database {
  return database.cellOf(partnerId) === database.cell ? database : database.inCellOf(partnerId)
}

/** The databases of all cells; on plain PostgreSQL the given one alone. */
export function cellsOf(database: Database): readonly Database[] {
  const cells = database.cells()
  return cells.length > 0 ? cells : [database]
}

/** Those of these things whose partners share a cell; one group on plain PostgreSQL, none where there is nothing. */
export function groupsByCell<Item extends { readonly partnerId: string }>(
  { cellOf }: Pick<Database, 'cellOf'>,
  items: readonly Item[],
): (readonly [Item, ...Item[]])[] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const cell = cellOf(item.partnerId)
    const group = groups.get(cell)
    if (group) group.push(item)
    else groups.set(cell, [item])
  }
  return [...groups.values()]
}

/**
 * What is found cell by cell for things of many partners. A cell whose node does not answer is left out, as the log and a metric
 * say; rejects when no cell answers, and on any other failure.
 */
export async function byCell<Item extends { readonly partnerId: string }, Found>(
  database: Database,
  items: readonly Item[],
  find: (cell: Database, items: readonly Item[]) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const groups = groupsByCell(database, items)
  return answered(groups.map(group => find(ofPartner(database, group[0].partnerId), group)))
}

/** The same in all cells. */
export function inAnsweringCells<Found>(
  database: Database,
  find: (cell: Database) => Promise<readonly Found[]>,
): Promise<Found[]> {
  return answered(cellsOf(database).map(find))
}

async function answered<Found>(asked: readonly Promise<readonly Found[]>[]): Promise<Found[]> {
  const settled = await Promise.allSettled(asked)
  const failures = settled.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  const [fault] = failures.filter(error => !(error instanceof SilentNode))
  if (fault !== undefined) throw fault
  if (failures.length > 0 && failures.length === settled.length) throw failures[0]
  return settled.flatMap(result => (result.status === 'fulfilled' ? result.value : []))
}

/** What is found in all cells. Rejects when one does not answer: with `SilentNode`, which names its node. */
export async function inAllCells<Found>(
  database: Database,
  find: (cell: Database) => Promise<readonly Found[]>,
): Promise<Found[]> {
  return (await Promise.all(cellsOf(database).map(find))).flat()
}

/** Rejects with `SilentNode` when a cell does not answer. */
export async function requireAllCells(database: Database): Promise<void> {
  const [silent] = await silentNodes(database)
  if (silent) throw new SilentNode(silent.node)
}

/** Asks every cell whether it answers; returns the nodes that do not, and their cells. */
export async function silentNodes(database: Database): Promise<ReturnType<Database['silent']>> {
  await Promise.allSettled(database.cells().map(cell => cell.query(sql`select 1 as one`)))
  return database.silent()
}

/** Does work in one cell after the other, whether or not it fails in another; the failure is thrown at the end. Returns the sum. */
export async function inEachCell(
  database: Database,
  work: (cell: Database) => Promise<unknown>,
): Promise<number> {
  const tasks = openTasks()
  let total = 0
  for (const cell of cellsOf(database)) total += await tasks.run(() => work(cell))
  tasks.end()
  return total
}

/** Writes things cell by cell, each cell's at once. Rejects when a cell refuses; what the others wrote stands. */
export async function writeByCell<Item extends { readonly partnerId: string }>(
  database: Database,
  items: readonly Item[],
  write: (cell: Database, items: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  const groups = groupsByCell(database, items)
  await Promise.all(groups.map(group => write(ofPartner(database, group[0].partnerId), group)))
}
