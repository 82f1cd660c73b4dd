import type { Socket } from 'node:net'
import pg from 'pg'
import { failureOf, Unavailable } from './failure.ts'
import { atOnce, openPool } from './pool.ts'
import type { Query } from './sql.ts'
import { openStalledPartners, type StalledPartners } from './stalled.ts'

/** The address of a database: a URL, or the socket of the embedded one. */
export type DatabaseAddress = { url: string } | { host: string; port: number; user: string; database: string }

/** How the tables are spread, after `learnLayout`; before that as on plain PostgreSQL. */
export type Layout = {
  /** Partners may be stored on different nodes, so statements and transactions must stay within one partner. */
  isSpread: boolean
}

/** Runs statements, alone or inside a transaction. */
export type Executor = {
  /** Shared with wrappers of the pool. */
  readonly layout: Layout
  /** Runs one statement and returns its rows. */
  query<Row>(query: Query): Promise<Row[]>
}

/** A pool of connections. */
export type Database = Executor & {
  /**
   * Runs `work` in one transaction, up to five times when the database asks to run it again. If the answer to the
   * commit was lost, rejects with `CommitUnknown`.
   */
  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T>
  /**
   * Sends statements and their commit together as one transaction, so that no lock ever waits for this process.
   * Rejects with the failure of the first statement that fails, and then nothing is written; if the answer to the
   * commit was lost, rejects with `CommitUnknown`. `lockMs` is how long each statement waits for a lock; absent: as
   * long as any statement.
   */
  commit(statements: readonly Query[], lockMs?: number): Promise<void>
  /** Runs reads on one connection, so that they travel together and each sees at least what the earlier ones saw. */
  together<T>(work: (db: Executor) => Promise<T>): Promise<T>
  /** Runs statements given as plain text, for migrations and statements that take no bound values. */
  script(text: string): Promise<void>
  /**
   * Runs statements on one connection outside a transaction. The connection is closed afterwards, with all settings
   * made on it.
   */
  alone<T>(work: (databaseSession: Executor) => Promise<T>): Promise<T>
  close(): Promise<void>
  /** The use of the pool right now: its size, its busy connections, and how many callers wait for one. */
  use(): { readonly busy: number; readonly waiting: number; readonly most: number }
  /** The partners whose node of a cluster does not answer. */
  readonly stalled: StalledPartners
  /** How many connections have broken. After each break another server may answer, with other rows. */
  lostConnections(): number
}

/** The connection broke during a commit: whether it took place is not known. */
export class CommitUnknown extends Unavailable {
  override name = 'CommitUnknown'
}

/** How long a statement waits for a lock. */
export const LOCK_TIMEOUT_MS = 2000

/** How a database is used. */
type PoolOptions = {
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

/** Opens a pool whose statements and waits for locks are limited; it connects only with the first query. */
export function openDatabase(address: DatabaseAddress, options: PoolOptions): Database {
  const { statementTimeoutMs = 5000, connectTimeoutMs = 2000, idleTimeoutMs = 30_000, max } = options
  const { sessionName } = options
  const times = { statementTimeoutMs, connectTimeoutMs, idleTimeoutMs, lockTimeoutMs: LOCK_TIMEOUT_MS }
  const limits = { max, sessionName, ...times }
  const sockets = new Set<Socket>()
  const pool = openPool('url' in address ? { connectionString: address.url } : address, limits, sockets)
  const layout: Layout = { isSpread: false }
  let lost = 0
  pool.on('error', error => {
    lost += 1
    options.onError(error)
  })

  // While a connection is handed to its caller nothing listens to it, and an error in the same packet would end the
  // process.
  pool.on('connect', client => client.on('error', ignore))

  const noteLost = () => {
    lost += 1
  }

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    // A connection may break while it is idle; the next query reports it.
    client.on('error', noteLost)
    let broken: Error | undefined
    try {
      return await work(client)
    } catch (error) {
      if (error instanceof CommitUnknown || failureOf(error).connectionIsUnsafe) broken = error as Error
      throw error
    } finally {
      client.off('error', noteLost)
      client.release(broken)
    }
  }

  const attempt = <T>(work: (tx: Executor) => Promise<T>): Promise<T> =>
    withClient(async client => {
      // `begin` is not awaited, so that the first statements travel with it. If it fails, the first of them fails, too.
      const begun = client.query('begin')
      begun.catch(ignore)
      const statements = executor(client, layout)
      let firstFailure: unknown
      const tx: Executor = {
        layout,
        query: query =>
          statements.query<never>(query).catch((error: unknown) => {
            firstFailure ??= error
            throw error
          }),
      }
      let result: T
      try {
        result = await work(tx)
        await begun
      } catch (thrown) {
        // The failure of a later statement may be reported first, but it is not the cause.
        const error = failureOf(thrown).followsAnother ? firstFailure : thrown
        if (!failureOf(error).connectionIsUnsafe) await client.query('rollback')
        throw error
      }
      try {
        // A transaction that had failed is not committed, and the server says so without an error.
        const { command } = await client.query('commit')
        if (command !== 'COMMIT') throw firstFailure
      } catch (error) {
        // Only an answer of the server, on a connection that stays open, proves that nothing was committed.
        if (error instanceof pg.DatabaseError && provesNoCommit(error, layout)) throw error
        throw new CommitUnknown('commit', { cause: error })
      }
      return result
    })

  return {
    ...executor(pool, layout),
    commit: (statements, lockMs) =>
      withClient(async client => {
        // The driver sends all of them before it waits for the first answer. After a failure PostgreSQL refuses the rest,
        // and turns the commit into a rollback.
        const all = [...beginning(layout, lockMs), ...statements, commitStatement]
        const answers = await atOnce(client, () =>
          Promise.allSettled(all.map(statement => client.query(statement))),
        )
        const index = answers.findIndex(answer => answer.status === 'rejected')
        if (index === -1) return
        const failure: unknown = (answers[index] as PromiseRejectedResult).reason
        // Only an answer of the server proves that nothing was committed; for the commit itself, only where
        // `provesNoCommit` says so.
        const isRefused =
          failure instanceof pg.DatabaseError && (index < all.length - 1 || provesNoCommit(failure, layout))
        if (!isRefused) throw new CommitUnknown('commit', { cause: failure })
        throw failure
      }),
    together: work => withClient(client => atOnce(client, () => work(executor(client, layout)))),
    async transaction(work) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await attempt(work)
        } catch (error) {
          if (tries === 5 || !failureOf(error).retryTransaction) throw error
        }
      }
    },
    script: text =>
      withClient(async client => {
        await client.query(text)
      }),
    alone: async work => {
      const client = await pool.connect()
      client.on('error', ignore)
      try {
        return await work(executor(client, layout))
      } finally {
        client.off('error', ignore)
        client.release(true)
      }
    },
    close: async () => {
      await pool.end()
      // A client without a password leaves its connection open, and the server waits a minute for one.
      for (const socket of sockets) socket.destroy()
    },
    use: () => ({
      busy: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
      most: options.max,
    }),
    stalled: openStalledPartners(layout),
    lostConnections: () => lost,
  }
}

function ignore() {}

/**
 * The start of a transaction that is sent whole. On a cluster the settings of a session reach the coordinator only:
 * without a limit of its own a node would wait for a row until the coordinator gives up the whole statement.
 */
function beginning({ isSpread }: Layout, lockMs: number | undefined): Query[] {
  const limit = Math.ceil(lockMs ?? LOCK_TIMEOUT_MS)
  const limited = { name: `lock_timeout ${limit}`, text: `set local lock_timeout = ${limit}`, values: [] }
  if (isSpread) return [beginStatement, propagateStatement, limited]
  return lockMs === undefined ? [beginStatement] : [beginStatement, limited]
}

const beginStatement: Query = { name: 'begin', text: 'begin', values: [] }
const commitStatement: Query = { name: 'commit', text: 'commit', values: [] }
const propagateStatement: Query = {
  name: 'propagate',
  text: `set local citus.propagate_set_commands = 'local'`,
  values: [],
}

/**
 * Whether the answer to a commit proves that nothing was committed. It does on a connection that stays open, but not
 * on a cluster, whose coordinator also fails a commit when a node does not answer.
 */
function provesNoCommit(error: pg.DatabaseError, { isSpread }: Layout): boolean {
  return !failureOf(error).connectionIsUnsafe && !isSpread
}

function executor(runner: pg.Pool | pg.PoolClient, layout: Layout): Executor {
  return {
    layout,
    query: async <Row>(query: Query) => (await runner.query(query as pg.QueryConfig)).rows as Row[],
  }
}
