import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { OperatorError } from '../operator-error.ts'
import { namesOfCells } from './cells.ts'
import type { DatabaseAddress, Executor } from './database.ts'
import { readMigrations, tablesOf, tablesOfCells } from './migrations.ts'
import { asVerified } from './pool.ts'
import type { Query } from './sql.ts'

/** A table that was copied. */
type CopiedTable = { readonly table: string; readonly rows: number }

/** What the caller of a copy decides. */
type CopyOptions = {
  /** Runs at the destination in the transaction that ends the copy. */
  readonly end: (tx: Executor) => Promise<void>
  /** Called after each table. */
  readonly onTable: (copied: CopiedTable, number: number, of: number) => void
}

/**
 * The table that is copied last, so that a destination without a row in it holds no database of anybody: it is empty, or a copy
 * was broken off.
 */
const LAST = 'installation'

/**
 * Copies the rows of all tables as of one instant, and compares each table's rows with the original by count and hash. Both
 * databases have this version's schema, with as many cells as they like: the partners are divided evenly among those of the
 * destination. **Whatever is at the destination is removed first**, as a copy that was broken off may have left rows. Throws
 * OperatorError when a table is not equal afterwards.
 */
export async function copyDatabase(
  from: DatabaseAddress,
  to: DatabaseAddress,
  { end, onTable }: CopyOptions,
): Promise<readonly CopiedTable[]> {
  await using source = await connect(from)
  await using destination = await connect(to)
  const tables = [...tablesOf(await readMigrations()).keys()]
  const ofCells = new Set(await tablesOfCells())
  const ordered = await parentsFirst(
    source,
    tables.filter(name => name !== LAST),
  )
  await empty(destination, ordered, name => ofCells.has(name))
  await source.rows('begin isolation level repeatable read read only')
  const partners = await divide(source, destination.cells)
  const order = [...ordered, LAST]
  const copied: CopiedTable[] = []
  for (const [index, table] of order.entries()) {
    await destination.rows('begin')
    const isOfCells = ofCells.has(table)
    const columns = await columnsOf(destination, table)
    for (const cell of isOfCells ? source.cells : ['']) {
      await source.enter(cell)
      for (const share of isOfCells ? partners : [{ cell: '', condition: 'true' }]) {
        await destination.enter(share.cell)
        await pipeline(
          source.client.query(
            copyTo(`copy (select ${columns} from ${table} where ${share.condition}) to stdout`),
          ),
          destination.client.query(copyFrom(`copy ${table} (${columns}) from stdin`)),
        )
      }
    }
    if (table === 'partners')
      for (const share of partners)
        await destination.rows(`update partners set cell = '${share.cell}' where ${share.condition}`)
    const original = await fingerprintOf(source, { table, columns, isOfCells })
    const copy = await fingerprintOf(destination, { table, columns, isOfCells })
    if (original.hash !== copy.hash || original.rows !== copy.rows)
      throw new OperatorError(
        `${table} differs after it was copied (${copy.rows} rows of ${original.rows}): the copy is not complete. Run the command again.`,
      )
    if (table === LAST) await end(destination)
    await destination.rows('commit')
    copied.push({ table, rows: original.rows })
    onTable({ table, rows: original.rows }, index + 1, order.length)
  }
  await destination.rows('analyze')
  return copied
}

/** Which rows go to a cell of the destination. */
type Share = { readonly cell: string; readonly condition: string }

/** Rows of no partner, and those that are kept of one who left, go to the first cell. */
async function divide(source: Session, cells: readonly string[]): Promise<readonly Share[]> {
  const rows = await source.rows<{ id: string }>(
    'select partner_id as id from partners order by created_at, partner_id',
  )
  const lists = cells.map((_, place) =>
    rows.filter((_, index) => index % cells.length === place).map(({ id }) => id),
  )
  return cells.map((cell, place) => {
    const isFirst = place === 0
    const named = isFirst ? lists.slice(1).flat() : (lists[place] ?? [])
    const list = `partner_id = any ('{${named.join(',')}}'::uuid[])`
    return { cell, condition: isFirst ? `not ${list}` : list }
  })
}

async function empty(
  { cells, enter, rows }: Session,
  ordered: readonly string[],
  isOfCells: (table: string) => boolean,
): Promise<void> {
  for (const cell of cells) {
    await enter(cell)
    await rows(`truncate ${ordered.filter(isOfCells).join(', ')}`)
  }
  for (const table of ordered.filter(name => !isOfCells(name)).reverse()) await rows(`delete from ${table}`)
}

type Session = Executor &
  AsyncDisposable & {
    readonly client: pg.Client
    /** The cells of the database; `''` alone where it has none. */
    readonly cells: readonly string[]
    /** Looks from now on for tables in a cell first. */
    enter(cell: string): Promise<void>
    rows<Row>(text: string): Promise<Row[]>
  }

/** A session without limits of time, in which both sides write rows as the same text. */
async function connect(address: DatabaseAddress): Promise<Session> {
  const client = new pg.Client({
    ...('url' in address ? { connectionString: asVerified(address.url) } : address),
    application_name: 'enrolment copy',
    options:
      '-c timezone=UTC -c datestyle=ISO -c intervalstyle=postgres -c bytea_output=hex -c extra_float_digits=1',
  })
  await client.connect()
  const query = async <Row>(one: Query) => (await client.query(one)).rows as Row[]
  const found = await namesOfCells({ query })
  const cells = found.length > 0 ? found : ['']
  const enter = async (cell: string) => {
    if (cell !== '') await client.query(`set search_path to ${cell}, public`)
  }
  await enter(cells[0] ?? '')
  return {
    client,
    cells,
    enter,
    query,
    rows: async <Row>(text: string) => (await client.query(text)).rows as Row[],
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** The tables in an order in which each comes after those that its foreign keys name. */
async function parentsFirst(source: Session, tables: readonly string[]): Promise<string[]> {
  const keys = await source.rows<{ child: string; parent: string }>(`
    select distinct child.relname as child, parent.relname as parent from pg_constraint c
    join pg_class child on child.oid = c.conrelid join pg_class parent on parent.oid = c.confrelid
    where c.contype = 'f' and c.conparentid = 0`)
  const ordered: string[] = []
  const add = (table: string) => {
    if (ordered.includes(table) || !tables.includes(table)) return
    for (const { child, parent } of keys) if (child === table) add(parent)
    ordered.push(table)
  }
  for (const table of tables) add(table)
  return ordered
}

/** All columns but the cell, which each database chooses for itself. */
async function columnsOf(session: Session, table: string): Promise<string> {
  const [row] = await session.rows<{ columns: string }>(`
    select string_agg(quote_ident(attname), ', ' order by attnum) as columns
    from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped and attname <> 'cell'`)
  return row?.columns ?? ''
}

/** How many rows a table has, and a sum over all of them that does not depend on their order. */
async function fingerprintOf(
  session: Session,
  of: { readonly table: string; readonly columns: string; readonly isOfCells: boolean },
): Promise<{ rows: number; hash: string }> {
  let rows = 0
  let hash = 0n
  for (const cell of of.isOfCells ? session.cells : ['']) {
    await session.enter(cell)
    const [row] = await session.rows<{ rows: string; hash: string }>(`
      select count(*) as rows,
        coalesce(sum(('x' || left(md5(row(${of.columns})::text), 15))::bit(60)::bigint::numeric), 0) as hash
      from ${of.table}`)
    rows += Number(row?.rows)
    hash += BigInt(row?.hash ?? 0)
  }
  return { rows, hash: `${hash}` }
}
