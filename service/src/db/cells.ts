/**
 * A cluster keeps the tables of partners in cells: schemas that Citus holds whole on one node each, and moves. Every node answers
 * for every cell, so the service has one address, and for each cell a pool whose connections see that cell's tables. A node that
 * hangs holds the connections of its own cells, and no others.
 */
import { uuidsIn } from './binary-array.ts'
import { Unavailable } from './failure.ts'
import { readMigrations, tablesOfCells } from './migrations.ts'
import type { Pool } from './pool.ts'
import { plain } from './session.ts'
import { type Query, sql } from './sql.ts'
import type { Executor } from './types.ts'

/** The partner of what belongs to none, such as the entries of the audit log about operators: it is in the first cell. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** How many cells a cluster gets unless the operator says so: enough for a start, and few enough for every node. */
export const CELLS_OF_A_CLUSTER = 16

/** How often a process reads which cells there are and who is in them, and for how long at most it believes what it read. */
const READ_EVERY_MS = 2000
const BELIEVED_MS = 4000

/** The cells of a cluster, as they were when last read. */
export type Cells = {
  /** In the order of their numbers. */
  names(): readonly string[]
  /** The name of a partner's cell; of a partner that is not known, or is in none, its own id. */
  cellOf(partnerId: string): string
  pool(cell: string): Pool
  pools(): readonly Pool[]
  /** The pool of a partner's cell. Throws `Unavailable` for a partner that is in none. */
  poolOf(partnerId: string): Pool | Promise<Pool>
  renew(): Promise<void>
  /** The tables that each cell has. */
  readonly tables: ReadonlySet<string>
  /** Reads nothing more by itself. */
  close(): void
}

type Read = { readonly names: readonly string[]; readonly partners: ReadonlyMap<string, string> }

/** Opens the cells of a database; `undefined` on plain PostgreSQL, and on a cluster that has none yet. */
export async function openCells(db: Executor, openPool: (cell: string) => Pool): Promise<Cells | undefined> {
  let known = await readCells(db)
  if (!known) return undefined
  const tables = new Set(await tablesOfCells())
  let readAt = performance.now()
  let renewing: Promise<void> | undefined
  const pools = new Map<string, Pool>()
  const pool = (cell: string) => {
    const own = pools.get(cell) ?? openPool(cell)
    pools.set(cell, own)
    return own
  }
  const renew = () => {
    const begunAt = performance.now()
    renewing ??= readCells(db)
      .then(read => {
        known = read ?? known
        readAt = begunAt
      })
      .finally(() => {
        renewing = undefined
      })
    return renewing
  }
  const timer = setInterval(() => renew().catch(() => {}), READ_EVERY_MS).unref()
  const cellOf = (partnerId: string) =>
    partnerId === NOBODY ? known?.names[0] : known?.partners.get(partnerId)
  const poolOf = (partnerId: string) => {
    const cell = cellOf(partnerId)
    if (cell !== undefined && performance.now() - readAt < BELIEVED_MS) return pool(cell)
    return renew().then(() => {
      const now = cellOf(partnerId)
      if (now === undefined) throw new Unavailable('the partner is in no cell')
      return pool(now)
    })
  }
  return {
    names: () => known?.names ?? [],
    cellOf: partnerId => cellOf(partnerId) ?? partnerId,
    pool,
    pools: () => [...pools.values()],
    poolOf,
    renew,
    tables,
    close: () => clearInterval(timer),
  }
}

async function readCells(db: Executor): Promise<Read | undefined> {
  const made = await namesOfCells(db)
  if (made.length === 0) return undefined
  // A cell that `migrate` is making beside this process lacks some tables; before its last migration has run, none is whole.
  newest ??= readMigrations().then(migrations => migrations.at(-1)?.name ?? '')
  const end = `/${await newest}`
  const rows = await db.query<{ name: string }>(
    sql`select name from public.migrations where name like ${`%${end}`}`,
  )
  const whole = new Set(rows.map(({ name }) => name.slice(0, -end.length)))
  const names = whole.size > 0 ? made.filter(name => whole.has(name)) : made
  const partners = await db.query<{ partner_id: string; cell: string }>(
    sql`select partner_id, cell from public.partners where cell <> ''`,
  )
  return { names, partners: new Map(partners.map(row => [row.partner_id, row.cell])) }
}

let newest: Promise<string> | undefined

/** The cells of a cluster, in the order of their numbers; none on plain PostgreSQL. */
export async function namesOfCells(db: Executor): Promise<string[]> {
  const rows = await db.query<{ name: string }>(sql`
    select nspname::text as name from pg_namespace where nspname ~ '^cell_[1-9][0-9]{0,3}$' order by length(nspname), nspname`)
  return rows.map(row => row.name)
}

/** Whether the database has the Citus extension. */
export async function isCluster(db: Executor): Promise<boolean> {
  const rows = await db.query(sql`select 1 from pg_extension where extname = 'citus'`)
  return rows.length > 0
}

/** Makes cells up to a number. What all cells share stands in `public`. */
export async function makeCells(databaseSession: Executor, count = CELLS_OF_A_CLUSTER): Promise<void> {
  await databaseSession.query(plain('create extension if not exists btree_gist schema public'))
  await databaseSession.query(plain('set citus.enable_schema_based_sharding to on'))
  await databaseSession.query(plain('begin'))
  for (let number = 1; number <= count; number += 1)
    await databaseSession.query(plain(`create schema if not exists cell_${number}`))
  await databaseSession.query(plain('commit'))
}

/** What a statement about tables of cells names that has no place for a partner. */
export const EVERYONE: readonly string[] = []

/**
 * The partners whose cells a statement is for: the value or the list that stands in its text as a `partner_id`, compared, inserted
 * or unnested; `EVERYONE` where there is no such place, and `undefined` where it is only about what all cells share.
 */
export function partnersNamed(
  { text, values }: Query,
  tables: ReadonlySet<string>,
): readonly string[] | undefined {
  let place = places.get(text)
  if (place === undefined) {
    const isOfCells = [...text.matchAll(TABLE)].some(([, table = '']) => tables.has(table))
    const [, ...found] = NAMED.exec(text) ?? []
    place = isOfCells ? Number(found.find(Boolean) ?? NOWHERE) : SHARED
    places.set(text, place)
  }
  if (place === SHARED) return undefined
  if (place === NOWHERE) return EVERYONE
  const value = values[place - 1]
  if (Buffer.isBuffer(value)) return uuidsIn(value)
  return Array.isArray(value) ? value : [`${value}`]
}

const TABLE = /\b(?:from|join|into|update)\s+(\w+)/g
const NAMED = new RegExp(
  [
    String.raw`\$(\d+)::uuid as partner_id\b`,
    String.raw`\bpartner_id = (?:any\s*\(\s*(?:\(\s*select )?)?\$(\d+)`,
    String.raw`\binsert into \w+(?: as \w+)? \(\s*partner_id\b[^)]*\)\s*values\s*\(\s*\$(\d+)`,
    String.raw`\bunnest\(\s*(?:\(\s*select )?\$(\d+)::uuid\[\](?:(?!\bas \w+ \()[^;])*\bas \w+ \(\s*partner_id\b`,
    String.raw`\binsert into \w+(?: as \w+)? \(\s*partner_id\b[^)]*\)\s*select (?:\* from unnest\()?\$(\d+)::uuid`,
  ].join('|'),
)
/** Of each statement, the place of the value that names its partner among its values, from 1. */
const places = new Map<string, number>()
const SHARED = 0
const NOWHERE = -1
