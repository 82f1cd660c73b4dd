import type { Database } from './database.ts'
import { isUnavailable } from './failure.ts'

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
 * What is found cell by cell for things of many partners. A cell that cannot serve now is left out; rejects when none can, and on
 * any other failure.
 */
export async function byCell<Item extends { readonly partnerId: string }, Found>(
  database: Database,
  items: readonly Item[],
  find: (cell: Database, items: readonly Item[]) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const groups = groupsByCell(database, items)
  const settled = await Promise.allSettled(groups.map(group => find(database.of(group[0].partnerId), group)))
  const failures = settled.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  const fault = failures.find(error => failures.length === settled.length || !isUnavailable(error))
  if (fault !== undefined) throw fault
  return settled.flatMap(result => (result.status === 'fulfilled' ? result.value : []))
}

/** What is found in all cells. Rejects when one fails. */
export async function inAllCells<Found>(
  database: Database,
  find: (cell: Database) => Promise<readonly Found[]>,
): Promise<Found[]> {
  return (await Promise.all(database.cells().map(find))).flat()
}

/**
 * What is in one cell alone, of unknown partners among these: as soon as their first cell has it. Rejects when none has it and one
 * of them fails, where it may be.
 */
export async function inOneCell<Found>(
  database: Database,
  partnerIds: readonly string[],
  find: (cell: Database) => Promise<readonly Found[]>,
): Promise<readonly Found[]> {
  const cells = new Map(partnerIds.map(id => [database.cellOf(id), database.of(id)]))
  let failure: unknown
  const found = [...cells.values()].map(async cell => {
    const rows = await find(cell).catch((error: unknown) => {
      failure ??= error
      return []
    })
    return rows.length > 0 ? rows : Promise.reject(NOTHING)
  })
  return Promise.any(found).catch(() => {
    if (failure !== undefined) throw failure
    return []
  })
}

const NOTHING = new Error('nothing')

/** Does work in all cells at once, whether or not it fails in another; the first failure is thrown at the end. Returns the sum. */
export async function inEachCell(
  database: Database,
  work: (cell: Database) => Promise<unknown>,
): Promise<number> {
  const settled = await Promise.allSettled(database.cells().map(work))
  const failed = settled.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
  return settled.reduce(
    (sum, result) =>
      sum + (result.status === 'fulfilled' && typeof result.value === 'number' ? result.value : 0),
    0,
  )
}

/** Writes things cell by cell, each cell's at once. Rejects when a cell refuses; what the others wrote stands. */
export async function writeByCell<Item extends { readonly partnerId: string }>(
  database: Database,
  items: readonly Item[],
  write: (cell: Database, items: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  const groups = groupsByCell(database, items)
  await Promise.all(groups.map(group => write(database.of(group[0].partnerId), group)))
}
