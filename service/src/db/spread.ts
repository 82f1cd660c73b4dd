import { DAY_MS } from '../calendar/time.ts'
import { OperatorError } from '../operator-error.ts'
import type { Database, Executor } from './database.ts'
import { SERVICE_SESSIONS } from './pool.ts'
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
 * Spreads every table that is not spread yet, with its rows, and returns their names. Runs inside a transaction that
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

/**
 * Spreads a database whose tables were created and filled on one node, with all its rows, and returns the names of the
 * tables; none if they are spread already. Throws OperatorError without Citus, and while the tables are in use.
 */
export async function spreadGrown(database: Database): Promise<readonly string[]> {
  const state = await spreadState(database)
  if (state === 'plain')
    throw new OperatorError(
      'This database has no Citus extension: `create extension citus` and add its nodes first (docs/scaling.md).',
    )
  if (state === 'spread') return []
  return database.alone(async session => {
    await liftLimits(session)
    await session.query(sql`select set_config('client_min_messages', 'warning', false)`)
    await session.query(plain('begin'))
    try {
      await beginSpreading(session)
      await lockAll(session)
      await refuseServices(session)
      const names = await spreadTables(session)
      await session.query(plain('commit'))
      return names
    } catch (error) {
      await session.query(plain('rollback')).catch(() => {})
      if ((error as { code?: string }).code === '55P03')
        throw new OperatorError(
          'The tables are in use: stop every process of the service, then run `enrolment migrate --spread` again. Nothing was changed.',
        )
      throw error
    }
  })
}

/** All tables are locked at once, or none: rows written to a table while it is spread would be lost. */
async function lockAll(tx: Executor): Promise<void> {
  const names = [...tableDistribution.keys()]
  await tx.query(plain(`lock table ${names.join(', ')} in access exclusive mode`))
}

/**
 * A process that runs on knows the tables only as they lay on one node, and would answer every request with 500. One that
 * starts meanwhile waits for the locks, and gives up.
 */
async function refuseServices(tx: Executor): Promise<void> {
  const services = await tx.query(sql`
    select 1 from pg_stat_activity where datname = current_database() and application_name = ${SERVICE_SESSIONS}`)
  if (services.length > 0)
    throw new OperatorError(
      'A service is still connected to this database: stop every process, then run `enrolment migrate --spread` again. Nothing was changed.',
    )
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
  for (const part of await tablesWithRows(tx, name))
    await tx.query(unhurried(sql`select truncate_local_data_after_distributing_table(${part}::regclass)`))
}

/** The table whose partners decide where the rows of all others are stored. */
const ANCHOR = 'users'

/** The old rows stay on the coordinator, hidden behind the spread table, until they are removed. */
async function tablesWithRows(tx: Executor, name: string): Promise<readonly string[]> {
  const rows = await tx.query<{ part: string }>(sql`
    select c.oid::regclass::text as part from pg_class c
    where c.relkind = 'r' and pg_relation_size(c.oid) > 0
      and (c.oid = ${name}::regclass or c.oid in (select relid from pg_partition_tree(${name}::regclass)))`)
  return rows.map(row => row.part)
}

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
