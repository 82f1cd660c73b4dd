import pg from 'pg'
import { type Cells, EVERYONE, NOBODY, openCells, partnersNamed } from './cells.ts'
import { CommitUnknown, failureOf } from './failure.ts'
import { ask, atOnce, ignore, type Lent, openPool, type Pool } from './pool.ts'
import type { Query } from './sql.ts'
import type { Database, DatabaseAddress, Executor } from './types.ts'

export { CommitUnknown } from './failure.ts'
export type { Database, DatabaseAddress, Executor } from './types.ts'

/** How long a statement waits for a lock. */
export const LOCK_TIMEOUT_MS = 2000

/** How a database is used. */
type PoolOptions = {
  /** The most connections; on a cluster beside them a quarter as many for each cell. */
  readonly max: number
  readonly onError: (error: Error) => void
  readonly statementTimeoutMs?: number
  /** How long a caller waits for a connection, a new one or one in use. */
  readonly connectTimeoutMs?: number
  /** How long an unused connection stays open; half a minute unless it is given. */
  readonly idleTimeoutMs?: number
  /** What `pg_stat_activity` calls its sessions; `enrolment` unless it is given. */
  readonly sessionName?: string
}

/**
 * The most connections of a pool to one cell. Each cell has its own, so that a node which hangs takes none from the others; few,
 * because together they must fit into `max_connections` of a node (docs/scaling.md).
 */
export function connectionsOfCell(max: number): number {
  return Math.max(2, Math.ceil(max / 4))
}

/** Opens a pool whose statements and waits for locks are limited; it connects only with the first query. */
export function openDatabase(address: DatabaseAddress, options: PoolOptions): Database {
  const { statementTimeoutMs = 5000, connectTimeoutMs = 2000, idleTimeoutMs = 30_000, max } = options
  const { onError, sessionName } = options
  const times = { statementTimeoutMs, connectTimeoutMs, idleTimeoutMs, lockTimeoutMs: LOCK_TIMEOUT_MS }
  const open = (most: number, cell: string) =>
    openPool(address, { max: most, sessionName, cell, ...times }, onError)
  const home = open(max, '')
  let cells: Cells | undefined
  const pools = () => [home, ...(cells?.pools() ?? [])]
  const shared = {
    async close() {
      cells?.close()
      await Promise.all(pools().map(pool => pool.close()))
    },
    use: () => ({
      busy: sum(pools().map(({ pool }) => pool.totalCount - pool.idleCount)),
      waiting: sum(pools().map(({ pool }) => pool.waitingCount)),
      most: sum(pools().map(({ pool }) => pool.options.max)),
    }),
    lostConnections: () => sum(pools().map(pool => pool.lostConnections())),
    cellOf: (partnerId: string) => cells?.cellOf(partnerId) ?? '',
    // Where there is one cell it is this database, also for whoever has put something of their own around it.
    of(this: Database, partnerId: string): Database {
      const known = cells
      if (!known || known.cellOf(partnerId) === this.cell) return this
      return within(known.cellOf(partnerId), () => known.poolOf(partnerId))
    },
    cells(this: Database): readonly Database[] {
      const known = cells
      if (!known || this.cell !== '') return [this]
      return known.names().map(cell => within(cell, () => known.pool(cell)))
    },
    async learnCells() {
      if (cells) return cells.renew()
      cells = await openCells(own, cell => open(connectionsOfCell(max), cell))
      home.isCluster = cells !== undefined
    },
  }
  const within = (cell: string, choose: () => Pool | Promise<Pool>): Database => {
    return { ...statementsAt(choose), ...shared, cell }
  }
  const own = statementsAt(() => home)
  /** The pools of the cells that a statement is about; none for one about what all cells share. */
  const poolsOf = (known: Cells, query: Query): readonly (Pool | Promise<Pool>)[] => {
    const partners = partnersNamed(query, known.tables)
    if (!partners) return []
    if (partners === EVERYONE) return known.names().map(known.pool)
    // A list without a partner finds nothing in any cell.
    const named = new Map((partners.length > 0 ? partners : [NOBODY]).map(id => [known.cellOf(id), id]))
    return [...named.values()].map(known.poolOf)
  }
  /** The pool of a statement that must not be divided. */
  const undivided = ([pool = home, other]: readonly (Pool | Promise<Pool>)[], { text }: Query) => {
    if (other) throw new Error(`a statement is about several cells: ${text}`)
    return pool
  }
  const choose = (known: Cells, query: Query) => undivided(poolsOf(known, query), query)
  /** A read about several cells runs in each, as none has rows of the others' partners. */
  const queryOf = async <Row>(known: Cells, query: Query): Promise<Row[]> => {
    const pools = poolsOf(known, query)
    if (pools.length < 2 || !/^\s*select\b/.test(query.text))
      return (await undivided(pools, query)).query<Row>(query)
    return (await Promise.all(pools.map(async pool => (await pool).query<Row>(query)))).flat()
  }
  const database: Database = {
    ...shared,
    ...own,
    cell: '',
    query: query => (cells ? queryOf(cells, query) : own.query(query)),
    transaction(work) {
      const known = cells
      return known ? repeated(query => choose(known, query), work) : own.transaction(work)
    },
    async commit(statements, lockMs) {
      const known = cells
      if (!known) return own.commit(statements, lockMs)
      const chosen = await Promise.all(statements.map(query => choose(known, query)))
      const pool = chosen.find(({ cell }) => cell !== '') ?? home
      let cell = pool.cell
      const entered = statements.flatMap((query, index) => {
        const next = chosen[index]?.cell ?? ''
        if (next === '' || next === cell) return [query]
        cell = next
        return [enter(cell), query]
      })
      return commitAt(pool, entered, lockMs)
    },
    together: work => (cells ? work(database) : own.together(work)),
  }
  return database
}

/** What a database does with statements. */
type Statements = Pick<Database, 'query' | 'transaction' | 'commit' | 'together' | 'script' | 'alone'>

/** Sends statements over one pool. */
function statementsAt(choose: () => Pool | Promise<Pool>): Statements {
  const withPool = <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
    const pool = choose()
    return pool instanceof Promise ? pool.then(work) : work(pool)
  }
  return {
    query: <Row>(query: Query) => withPool(pool => pool.query<Row>(query)),
    transaction: work => repeated(choose, work),
    commit: (statements, lockMs) => withPool(pool => commitAt(pool, statements, lockMs)),
    together: work => withPool(pool => pool.withClient(client => atOnce(client, () => work(on(client))))),
    script: text =>
      withPool(pool =>
        pool.withClient(async client => {
          await client.query(text)
        }),
      ),
    alone: work => withPool(pool => pool.alone(client => work(on(client)))),
  }
}

function on(client: pg.PoolClient): Executor {
  return { query: query => ask(client, query) }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/** Chooses the pool of a statement. That of its first one is where a transaction runs. */
type Choose = (query: Query) => Pool | Promise<Pool>

/** What lets the rest of a transaction see the tables of another cell: a feed's run is one transaction about all partners. */
function enter(cell: string): Query {
  return { name: '', text: `set local search_path to ${cell}, public`, values: [] }
}

/** Runs `work` in one transaction, up to five times when the database asks to run it again. */
async function repeated<T>(choose: Choose, work: (tx: Executor) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(choose, work)
    } catch (error) {
      if (tries === 5 || !failureOf(error).retryTransaction) throw error
    }
  }
}

/** Runs `work` in one transaction, once. If the answer to the commit was lost, rejects with `CommitUnknown`. */
async function attempt<T>(choose: Choose, work: (tx: Executor) => Promise<T>): Promise<T> {
  const own: { session?: Promise<Session>; firstFailure?: unknown } = {}
  const tx: Executor = {
    async query<Row>(query: Query) {
      const chosen = choose(query)
      const pool = chosen instanceof Promise ? await chosen : chosen
      own.session ??= begin(pool)
      const session = await own.session
      const { client } = session
      if (pool.cell !== '' && pool.cell !== session.cell) {
        session.cell = pool.cell
        client.query(enter(pool.cell)).catch(ignore)
      }
      return ask<Row>(client, query).catch((error: unknown) => {
        own.firstFailure ??= error
        throw error
      })
    },
  }
  let result: T
  try {
    result = await work(tx)
    await (await own.session)?.begun
  } catch (thrown) {
    // The failure of a later statement may be reported first, but it is not the cause.
    const error = failureOf(thrown).followsAnother ? own.firstFailure : thrown
    await giveUp((await own.session?.catch(ignore)) || undefined, error)
    throw error
  }
  if (own.session) await commitSession(await own.session, own)
  return result
}

/** A connection on which a transaction has begun. */
type Session = Lent & { readonly begun: Promise<unknown>; readonly isCluster: boolean; cell: string }

/** `begin` is not awaited, so that the first statements travel with it. If it fails, the first of them fails, too. */
async function begin(pool: Pool): Promise<Session> {
  const { lend, isCluster, cell } = pool
  const lent = await lend()
  const [first, ...others] = beginning(pool)
  const begun = lent.client.query(first)
  begun.catch(ignore)
  for (const statement of others) lent.client.query(statement).catch(ignore)
  return { ...lent, begun, isCluster, cell }
}

async function giveUp(session: Session | undefined, failure: unknown): Promise<void> {
  if (!session) return
  try {
    if (!failureOf(failure).connectionIsUnsafe) await session.client.query('rollback')
    session.giveBack(failure)
  } catch (error) {
    session.giveBack(error)
    throw error
  }
}

async function commitSession(
  { client, giveBack, isCluster }: Session,
  { firstFailure }: { readonly firstFailure?: unknown },
): Promise<void> {
  let failure: unknown
  try {
    // A transaction that had failed is not committed, and the server says so without an error.
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') failure = firstFailure
  } catch (error) {
    // Only an answer of the server, on a connection that stays open, proves that nothing was committed.
    const isProven = error instanceof pg.DatabaseError && provesNoCommit(error, isCluster)
    failure = isProven ? error : new CommitUnknown('commit', { cause: error })
  }
  giveBack(failure)
  if (failure !== undefined) throw failure
}

/** Sends statements and their commit together as one transaction. */
async function commitAt(pool: Pool, statements: readonly Query[], lockMs: number | undefined): Promise<void> {
  const { withClient, isCluster } = pool
  await withClient(async client => {
    // The driver sends all of them before it waits for the first answer. After a failure PostgreSQL refuses the rest,
    // and turns the commit into a rollback.
    const all = [...beginning(pool, lockMs), ...statements, commitStatement]
    const answers = await atOnce(client, () =>
      Promise.allSettled(all.map(statement => client.query(statement))),
    )
    const index = answers.findIndex(answer => answer.status === 'rejected')
    if (index === -1) return
    const failure: unknown = (answers[index] as PromiseRejectedResult).reason
    // Only an answer of the server proves that nothing was committed; for the commit itself, only where
    // `provesNoCommit` says so.
    const isRefused =
      failure instanceof pg.DatabaseError && (index < all.length - 1 || provesNoCommit(failure, isCluster))
    if (!isRefused) throw new CommitUnknown('commit', { cause: failure })
    throw failure
  })
}

/** The first statements of a transaction. A cluster has to be told how long each may wait for a lock. */
function beginning(
  { isCluster, lockTimeoutMs }: Pool,
  lockMs = isCluster ? lockTimeoutMs : undefined,
): readonly [Statement, ...Statement[]] {
  if (lockMs === undefined) return [beginStatement]
  const limit = Math.ceil(lockMs)
  return [beginStatement, { name: `lock_timeout ${limit}`, text: `set local lock_timeout = ${limit}` }]
}

type Statement = { readonly name: string; readonly text: string }

const beginStatement = { name: 'begin', text: 'begin' }
const commitStatement = { name: 'commit', text: 'commit' }

/**
 * Whether the answer to a commit proves that nothing was committed. It does on a connection that stays open, but not
 * on a cluster, where the commit travels on to other nodes and also fails when one of them does not answer.
 */
function provesNoCommit(error: pg.DatabaseError, isCluster: boolean): boolean {
  return !failureOf(error).connectionIsUnsafe && !isCluster
}
