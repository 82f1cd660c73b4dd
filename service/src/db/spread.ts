import { DAY_MS } from '../calendar/time.ts'
import type { Database, Executor } from './database.ts'
import { type Query, sql } from './sql.ts'
import { type Distribution, tableDistribution } from './table-distribution.ts'

/** Whether the tables are spread over the nodes of a Citus cluster; `plain` is PostgreSQL without that extension. */
type SpreadState = 'plain' | 'unspread' | 'spread'

/** How the tables of a database are stored. */
export async function spreadState(db: Executor): Promise<SpreadState> {
  const [citus] = await db.query(sql`select 1 from pg_extension where extname = 'citus'`)
  if (!citus) return 'plain'
  const [users] = await db.query<{ is_spread: boolean }>(sql`
    select exists (select from pg_dist_partition where logicalrelid = to_regclass('users')) as is_spread`)
  return users?.is_spread ? 'spread' : 'unspread'
}

/** Reads once how the tables are spread, and stores it in `database.layout`. */
export async function learnLayout(database: Database): Promise<void> {
  database.layout.isSpread = (await spreadState(database)) === 'spread'
}

/**
 * The rows in groups that one statement may hold: one group for each partner where tables are spread, else a single
 * group; no group where there are no rows.
 */
export function groupsOf<Row extends { readonly partnerId: string }>(
  { layout }: Pick<Database, 'layout'>,
  rows: readonly Row[],
): Row[][] {
  if (!layout.isSpread) return rows.length > 0 ? [[...rows]] : []
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.partnerId)
    if (group) group.push(row)
    else groups.set(row.partnerId, [row])
  }
  return [...groups.values()]
}

/**
 * Makes the running transaction reach one node after the other, as spreading tables with foreign keys to tables on
 * every node requires.
 */
export async function beginSpreading(tx: Executor): Promise<void> {
  await tx.query(sql`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`)
}

/**
 * Spreads every table that is not spread yet, before it has rows, and returns their names. Runs inside a transaction that
 * `beginSpreading` began.
 */
export async function spreadTables(tx: Executor): Promise<readonly string[]> {
  const present = await unspreadTables(tx)
  const wanted = [...tableDistribution].filter(([name]) => present.has(name))
  if (wanted.length === 0) return []
  // Citus accepts a foreign key only if both its tables are spread already.
  const keys = await foreignKeysOf(
    tx,
    wanted.map(([name]) => name),
  )
  for (const { table, name } of keys) await tx.query(plain(`alter table ${table} drop constraint ${name}`))
  for (const distribution of ['on every node', 'by partner'] as const) {
    for (const [name, of] of wanted) if (of === distribution) await spreadTable(tx, name, distribution)
  }
  for (const { table, name, definition } of keys) {
    await tx.query(plain(`alter table ${table} add constraint ${name} ${definition}`))
  }
  return wanted.map(([name]) => name)
}

async function unspreadTables(tx: Executor): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ name: string }>(sql`
    select c.relname as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname = any (${[...tableDistribution].filter(([, distribution]) => distribution !== 'on the coordinator').map(([name]) => name)}::text[])
      and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid)`)
  return new Set(rows.map(row => row.name))
}

type ForeignKey = { readonly table: string; readonly name: string; readonly definition: string }

function foreignKeysOf(tx: Executor, tables: readonly string[]): Promise<ForeignKey[]> {
  return tx.query<ForeignKey>(sql`
    select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and conparentid = 0
      and (conrelid = any (${tables}::text[]::regclass[]) or confrelid = any (${tables}::text[]::regclass[]))
    order by 1, 2`)
}

async function spreadTable(tx: Executor, name: string, distribution: Distribution): Promise<void> {
  if (distribution === 'on every node') {
    await tx.query(unhurried(sql`select create_reference_table(${name}::regclass)`))
  } else {
    // One group for all tables: a partner’s rows are on one node, so its transactions never leave that node.
    const group = name === ANCHOR ? 'none' : ANCHOR
    await tx.query(
      unhurried(
        sql`select create_distributed_table(${name}::regclass, 'partner_id', colocate_with => ${group})`,
      ),
    )
  }
}

/** The table whose partners decide where the rows of all others are stored. */
const ANCHOR = 'users'

/** Text without bound values, as a statement without the pool's own limit. */
export function plain(text: string): Query {
  return unhurried({ name: '', text, values: [] })
}

/** Lifts the limits of a session whose work may take long. */
export async function liftLimits(databaseSession: Executor): Promise<void> {
  await databaseSession.query(sql`select set_config('statement_timeout', '0', false),
    set_config('idle_in_transaction_session_timeout', '0', false)`)
}

/** The same statement without the pool's own limit, which node-postgres reads from the query. */
function unhurried<Q extends object>(query: Q): Q & { query_timeout: number } {
  return { ...query, query_timeout: DAY_MS }
}
