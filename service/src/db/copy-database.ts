import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { OperatorError } from '../operator-error.ts'
import type { DatabaseAddress, Executor } from './database.ts'
import { asVerified } from './pool.ts'
import type { Query } from './sql.ts'
import { tableDistribution } from './table-distribution.ts'

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

/** The migrations of the destination are its own. */
const tables = [...tableDistribution.keys()].filter(name => name !== 'migrations' && name !== LAST)

/**
 * Copies the rows of all tables as of one instant, and compares each table's rows with the original by count and hash. Both
 * databases have this version's schema. **Whatever is at the destination is removed first**, as a copy that was broken off may
 * have left rows. Throws OperatorError when a table is not equal afterwards.
 */
export async function copyDatabase(
  from: DatabaseAddress,
  to: DatabaseAddress,
  { end, onTable }: CopyOptions,
): Promise<readonly CopiedTable[]> {
  await using source = await connect(from)
  await using destination = await connect(to)
  await destination.rows(`truncate ${tables.join(', ')}`)
  await source.rows('begin isolation level repeatable read read only')
  const order = [...(await parentsFirst(source)), LAST]
  const copied: CopiedTable[] = []
  for (const [index, table] of order.entries()) {
    await destination.rows('begin')
    const columns = await columnsOf(destination, table)
    await pipeline(
      source.client.query(copyTo(`copy (select ${columns} from ${table}) to stdout`)),
      destination.client.query(copyFrom(`copy ${table} (${columns}) from stdin`)),
    )
    const original = await fingerprintOf(source, table, columns)
    const copy = await fingerprintOf(destination, table, columns)
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

type Session = Executor &
  AsyncDisposable & {
    readonly client: pg.Client
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
  return {
    client,
    layout: { isSpread: false },
    query: async <Row>(query: Query) => (await client.query(query)).rows as Row[],
    rows: async <Row>(text: string) => (await client.query(text)).rows as Row[],
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** The tables in an order in which each comes after those that its foreign keys name. */
async function parentsFirst(source: Session): Promise<string[]> {
  const keys = await source.rows<{ child: string; parent: string }>(`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent
    from pg_constraint where contype = 'f' and conparentid = 0`)
  const ordered: string[] = []
  const add = (table: string) => {
    if (ordered.includes(table)) return
    for (const { child, parent } of keys) if (child === table) add(parent)
    ordered.push(table)
  }
  for (const table of tables) add(table)
  return ordered
}

async function columnsOf(session: Session, table: string): Promise<string> {
  const [row] = await session.rows<{ columns: string }>(`
    select string_agg(quote_ident(attname), ', ' order by attnum) as columns
    from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`)
  return row?.columns ?? ''
}

/** How many rows a table has, and a sum over all of them that does not depend on their order. */
async function fingerprintOf(
  session: Session,
  table: string,
  columns: string,
): Promise<{ rows: number; hash: string }> {
  const [row] = await session.rows<{ rows: string; hash: string }>(`
    select count(*) as rows, coalesce(sum(('x' || left(md5(row(${columns})::text), 15))::bit(60)::bigint::numeric), 0) as hash
    from ${table}`)
  return { rows: Number(row?.rows), hash: row?.hash ?? '' }
}
