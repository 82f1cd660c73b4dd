import { setTimeout as pause } from 'node:timers/promises'
import { OperatorError } from '../operator-error.ts'
import { serviceVersion } from '../version.ts'
import { isCluster, makeCells, namesOfCells } from './cells.ts'
import type { Database, Executor } from './database.ts'
import { failureOf } from './failure.ts'
import { type Migration, ownMigrations, type PartPlace, readMigrations, runsBeside } from './migrations.ts'
import { liftLimits, plain } from './session.ts'
import { sql } from './sql.ts'

/** How the schema of the database compares with this version. */
type SchemaState =
  | { readonly kind: 'empty' | 'current' }
  | { readonly kind: 'old'; readonly missing: readonly string[] }
  | { readonly kind: 'future'; readonly unknown: readonly string[] }

/** How long a migration waits for a lock, and how often it tries again. */
type Patience = { readonly lockTimeoutMs: number; readonly tries: number; readonly pauseMs: number }

// While a migration waits for a table, every request that needs the table waits behind it. Requests wait two seconds for a
// lock, so a migration that gives up after one second delays them and fails none.
const PATIENCE: Patience = { lockTimeoutMs: 1000, tries: 40, pauseMs: 1000 }

/** How to migrate. */
export type MigrateOptions = {
  readonly folder?: URL
  readonly patience?: Patience
  /** How many cells a cluster is to have at least; absent: an empty one gets sixteen. */
  readonly cells?: number
  /** Called whenever a migration could not get its locks in time. */
  readonly onHeldUp?: (name: string) => void
}

/**
 * Applies the missing migrations and returns their names. It is safe to run twice at once, and beside a service that
 * serves. It needs no right to create tables when nothing is missing. Throws OperatorError on a schema of a newer
 * version, and when a table stays locked for too long.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<readonly string[]> {
  const { folder = ownMigrations } = options
  const migrations = await readMigrations(folder)
  const state = await schemaState(database, migrations)
  refuseFuture(state)
  if (state.kind === 'current' && options.cells === undefined) return []
  return database.alone(async databaseSession => {
    await liftLimits(databaseSession)
    await waitForTurn(databaseSession)
    const applied: string[] = []
    const isFirst = (await appliedNames(databaseSession)).size === 0
    const hasCells = (await namesOfCells(databaseSession)).length > 0
    if (hasCells ? options.cells !== undefined : isFirst && (await isCluster(databaseSession)))
      await makeCells(databaseSession, options.cells)
    const places = placesOf(await namesOfCells(databaseSession))
    const done = await appliedNames(databaseSession)
    for (const migration of migrations) {
      const lacking = places.filter(place => !done.has(nameAt(place, migration)))
      for (const place of lacking) {
        await whenLocksAllow(migration.name, options, () =>
          apply(databaseSession, { migration, place, options }),
        )
      }
      if (lacking.length > 0) applied.push(migration.name)
    }
    return applied
  })
}

/** Where the parts of a migration run, one place after the other, and what comes before its name where that is noted. */
type MigrationPlace = { readonly prefix: string; readonly schema: string; readonly has: readonly PartPlace[] }

/** On one PostgreSQL all parts run at once. */
function placesOf(cells: readonly string[]): MigrationPlace[] {
  if (cells.length === 0) return [{ prefix: '', schema: '', has: ['on every node', 'in each cell'] }]
  return [
    { prefix: '', schema: 'public', has: ['on every node'] },
    ...cells.map(
      (cell): MigrationPlace => ({ prefix: `${cell}/`, schema: `${cell}, public`, has: ['in each cell'] }),
    ),
  ]
}

function nameAt({ prefix }: MigrationPlace, { name }: Pick<Migration, 'name'>): string {
  return `${prefix}${name}`
}

/** Compares the schema of the database with the migrations of this version. */
export async function schemaState(db: Executor, migrations?: readonly Migration[]): Promise<SchemaState> {
  const known = migrations ?? (await readMigrations())
  const done = await appliedNames(db)
  const unknown = [...done]
    .filter(name => !known.some(one => name.endsWith(one.name)) && !runsBeside(name, serviceVersion))
    .sort()
  if (unknown.length > 0) return { kind: 'future', unknown }
  if (done.size === 0) return { kind: 'empty' }
  const places = placesOf(await namesOfCells(db))
  const lacking = known
    .filter(one => places.some(place => !done.has(nameAt(place, one))))
    .map(({ name }) => name)
  return lacking.length > 0 ? { kind: 'old', missing: lacking } : { kind: 'current' }
}

/** The newest migration that was applied, such as `001_baseline`; "" in an empty database. */
export async function newestMigration(db: Executor): Promise<string> {
  const newest =
    [...(await appliedNames(db))]
      .filter(name => !name.includes('/'))
      .sort()
      .at(-1) ?? ''
  return newest.replace(/\.sql$/, '')
}

/** Throws OperatorError on a schema from which a newer version has taken what this one needs. */
export function refuseFuture(state: SchemaState): void {
  if (state.kind !== 'future') return
  throw new OperatorError(
    `The schema of this database is newer than this version of the service, which needs what ${state.unknown.join(', ')} took away: install the version that made it.`,
  )
}

async function appliedNames(db: Executor): Promise<ReadonlySet<string>> {
  if (!(await hasMigrations(db))) return new Set()
  const rows = await db.query<{ name: string }>(sql`select name from migrations`)
  return new Set(rows.map(row => row.name))
}

async function hasMigrations(db: Executor): Promise<boolean> {
  const [table] = await db.query<{ exists: boolean }>(
    sql`select to_regclass('migrations') is not null as exists`,
  )
  return table?.exists === true
}

/** Two commands that migrate at the same time take turns. */
async function waitForTurn(databaseSession: Executor): Promise<void> {
  for (;;) {
    // It polls, because `create index concurrently` would wait for a statement that waits here.
    const [turn] = await databaseSession.query<{ mine: boolean }>(
      sql`select pg_try_advisory_lock(7236549812) as mine`,
    )
    if (turn?.mine) return
    await pause(100)
  }
}

/** Runs the parts of one file that belong to a place, and records that they were applied there. */
async function apply(
  databaseSession: Executor,
  {
    migration,
    place,
    options: { patience = PATIENCE },
  }: { readonly migration: Migration; readonly place: MigrationPlace; readonly options: MigrateOptions },
): Promise<void> {
  const isOne = migration.kind === 'one transaction'
  // Statements outside a transaction take no lock that stops reads or writes, so their waiting stops nothing.
  await databaseSession.query(
    sql`select set_config('lock_timeout', ${isOne ? `${patience.lockTimeoutMs}` : '0'}, false)`,
  )
  if (place.schema !== '') await databaseSession.query(plain(`set search_path to ${place.schema}`))
  if (isOne) await databaseSession.query(plain('begin'))
  try {
    for (const part of migration.parts) {
      if (!place.has.includes(part.place)) continue
      for (const text of part.statements) {
        await databaseSession.query(plain(text))
        const table = /^create table (\w+)/.exec(text)?.[1]
        if (table !== undefined && place.schema === 'public')
          await databaseSession.query(plain(`select create_reference_table('${table}')`))
      }
    }
    await note(databaseSession, place, migration)
    if (isOne) await databaseSession.query(plain('commit'))
  } catch (error) {
    if (isOne && !failureOf(error).connectionIsUnsafe) await databaseSession.query(plain('rollback'))
    throw error
  }
}

/** On a cluster every node has the table, as a process may be connected to any. */
async function note(databaseSession: Executor, place: MigrationPlace, migration: Migration): Promise<void> {
  if (!(await hasMigrations(databaseSession))) {
    await databaseSession.query(
      plain('create table migrations (name text primary key, applied_at timestamptz not null)'),
    )
    if (place.schema !== '') await databaseSession.query(plain("select create_reference_table('migrations')"))
  }
  await databaseSession.query(
    sql`insert into migrations (name, applied_at) values (${nameAt(place, migration)}, statement_timestamp())`,
  )
}

/** Runs the work again while others hold its locks. Throws OperatorError when they never let go. */
async function whenLocksAllow<T>(
  name: string,
  { patience = PATIENCE, onHeldUp }: MigrateOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const failure = failureOf(error)
      if (!failure.lockTimedOut && !failure.retryTransaction) throw error
      onHeldUp?.(name)
      if (tries >= patience.tries) {
        throw new OperatorError(
          `${name} could not be applied: another database session keeps a table locked that the migration changes, and did so at each of ${tries} attempts. The service goes on as before. Look for old transactions in pg_stat_activity, end them, and run \`enrolment migrate\` again.`,
        )
      }
      await pause(patience.pauseMs)
    }
  }
}
