import { Socket } from 'node:net'
import pg from 'pg'
import { failureOf } from './failure.ts'
import { parseTimestamp } from './parse-timestamp.ts'
import type { Query } from './sql.ts'

/** Where a database is reached: a URL, or the socket of the embedded one. */
export type DatabaseAddress = { url: string } | { host: string; port: number; user: string; database: string }

/** How tables lie, once `learnLayout` has looked; until then as on plain PostgreSQL. */
export type Layout = {
  /** Partners may lie on different nodes: statements and transactions then hold one partner's. */
  isSpread: boolean
}

/** Runs statements, alone or inside a transaction. */
export type Executor = {
  /** Shared with what wraps a pool. */
  readonly layout: Layout
  /** Runs one statement and gives its rows. */
  query<Row>(query: Query): Promise<Row[]>
}

/** A pool of connections. */
export type Database = Executor & {
  /**
   * Runs `work` in one transaction, again up to five times when the database asks for it.
   * A commit whose answer was lost rejects with `CommitUnknown`.
   */
  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T>
  /**
   * Runs statements in one transaction that is sent whole, its commit included: nothing that it locks ever waits for this
   * process. Rejects with the failure of the first statement that fails, and then nothing is written; a commit whose
   * answer was lost rejects with `CommitUnknown`. `lockMs` is how long each waits for what somebody else holds; absent: as
   * long as any statement.
   */
  commit(statements: readonly Query[], lockMs?: number): Promise<void>
  /** Runs reads on one connection, so that they travel together and each sees at least what those before it saw. */
  together<T>(work: (db: Executor) => Promise<T>): Promise<T>
  /** Runs statements given as plain text: for migrations, and for what takes no bound values. */
  script(text: string): Promise<void>
  /** Runs statements on one connection outside a transaction, which is closed afterwards with all that was set on it. */
  alone<T>(work: (session: Executor) => Promise<T>): Promise<T>
  close(): Promise<void>
  /** Connections that are busy right now. */
  busy(): number
  /** How the pool is used right now: of how many connections at most, and how many wait for one. */
  use(): { readonly busy: number; readonly waiting: number; readonly most: number }
  /** Counts connections that broke: behind them may be another server by now, with other rows. */
  lostConnections(): number
}

/** The connection broke while a commit was under way: whether it took place is not known. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown'
}

/** For how long a statement waits for what somebody else holds. */
export const lockTimeoutMs = 2000

/** Opens a pool whose statements and waits for locks are limited; the database itself is first asked by a query. */
export function openDatabase(
  address: DatabaseAddress,
  options: {
    max: number
    onError: (error: Error) => void
    statementTimeoutMs?: number
    /** For how long a connection is waited for, be it a new one or one that others use. */
    connectTimeoutMs?: number
  },
): Database {
  const { statementTimeoutMs = 5000, connectTimeoutMs = 2000 } = options
  const sockets = new Set<Socket>()
  const pool = new pg.Pool({
    ...('url' in address ? { connectionString: address.url } : address),
    max: options.max,
    connectionTimeoutMillis: connectTimeoutMs,
    // The server's own limit cannot help where its answer never arrives.
    query_timeout: statementTimeoutMs + 1000,
    keepAlive: true,
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      return socket
    },
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1800,
    application_name: 'enrolment',
    // Statements of one transaction travel together; each still has an answer of its own.
    pipeline: true,
    types: { getTypeParser },
    options: [
      '-c timezone=UTC',
      '-c datestyle=ISO',
      `-c statement_timeout=${statementTimeoutMs}`,
      `-c lock_timeout=${lockTimeoutMs}`,
      '-c idle_in_transaction_session_timeout=10000',
      // A stock server compiles statements with many parts for longer than it runs them: 0.7 s for a heartbeat of the
      // dispatcher that takes 1 ms.
      '-c jit=off',
      // Every statement reaches its rows by an index. Plans are kept, and one made while a table was nearly empty
      // would go on reading it whole.
      '-c enable_seqscan=off',
      '-c enable_hashjoin=off',
      '-c enable_mergejoin=off',
    ].join(' '),
  })
  const layout: Layout = { isSpread: false }
  let lost = 0
  pool.on('error', error => {
    lost += 1
    options.onError(error)
  })

  // Between a connection's first answer and whoever waits for it nobody listens: an error in the same packet would end
  // the process.
  pool.on('connect', client => client.on('error', ignore))

  const noteLost = () => {
    lost += 1
  }

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    // A connection may break while nobody waits on it; the next query reports it.
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
      // Not awaited: the first statements travel with it. Should it fail, so does the first of them.
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
        // Of statements that travel together the one after the failed one may be told first; it is not the reason.
        const error = failureOf(thrown).followsAnother ? firstFailure : thrown
        if (!failureOf(error).connectionIsUnsafe) await client.query('rollback')
        throw error
      }
      try {
        // A transaction that had failed is not committed, and the server says so without an error.
        const { command } = await client.query('commit')
        if (command !== 'COMMIT') throw firstFailure
      } catch (error) {
        // Only the server's own word, on a connection that lives on, says that nothing was committed.
        if (error instanceof pg.DatabaseError && tellsOfCommit(error, layout)) throw error
        throw new CommitUnknown('commit', { cause: error })
      }
      return result
    })

  return {
    ...executor(pool, layout),
    commit: (statements, lockMs) =>
      withClient(async client => {
        const sent = atOnce(client, () =>
          [beginning(layout, lockMs), ...(statements as readonly pg.QueryConfig[]), 'commit'].map(statement =>
            client.query(statement),
          ),
        )
        const answers = await Promise.allSettled(sent)
        const failed = answers.findIndex(answer => answer.status === 'rejected')
        const answer = answers[failed === -1 ? sent.length - 1 : failed]
        if (answer?.status === 'fulfilled') {
          if (answer.value.command !== 'COMMIT')
            throw new Error('a transaction was rolled back without a failure')
          return
        }
        // Only the server's own word says that nothing was committed; of the commit itself, where the answer can be told.
        const isRefused =
          answer?.reason instanceof pg.DatabaseError &&
          (failed < sent.length - 1 || tellsOfCommit(answer.reason, layout))
        if (isRefused) throw answer.reason
        throw new CommitUnknown('commit', { cause: answer?.reason })
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
      // A client that has no password to give leaves its connection open, and the server waits a minute for one.
      for (const socket of sockets) socket.destroy()
    },
    busy: () => pool.totalCount - pool.idleCount,
    use: () => ({
      busy: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
      most: options.max,
    }),
    lostConnections: () => lost,
  }
}

function ignore() {}

/** Has all that `send` sends before it first waits leave in one write: each costs both sides some 10 µs. */
function atOnce<T>(client: pg.PoolClient, send: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}

/**
 * How a transaction begins that is sent whole. The settings of a session reach the coordinator of a cluster only: without a
 * limit of its own a node would wait for a row until the coordinator gives the whole statement up.
 */
function beginning({ isSpread }: Layout, lockMs: number | undefined): string {
  if (isSpread)
    return `begin; set local citus.propagate_set_commands = 'local'; set local lock_timeout = ${Math.ceil(lockMs ?? lockTimeoutMs)}`
  return lockMs === undefined ? 'begin' : `begin; set local lock_timeout = ${Math.ceil(lockMs)}`
}

/**
 * Whether what a commit was answered says that nothing was committed: on a connection that lives on, and not on a cluster,
 * whose coordinator fails a commit too when the node it was passed on to does not answer.
 */
function tellsOfCommit(error: pg.DatabaseError, { isSpread }: Layout): boolean {
  return !failureOf(error).connectionIsUnsafe && !isSpread
}

function executor(runner: pg.Pool | pg.PoolClient, layout: Layout): Executor {
  return {
    layout,
    query: async <Row>(query: Query) => (await runner.query(query as pg.QueryConfig)).rows as Row[],
  }
}

const numberTypes = new Set<number>([20, 700, 701])
const timestampTypes = new Set<number>([1114, 1184])
/** Instants come as milliseconds, 64-bit integers as numbers (ours stay far below 2^53). */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (format !== 'binary' && numberTypes.has(oid)) return Number
  if (format !== 'binary' && timestampTypes.has(oid)) return parseTimestamp
  return pg.types.getTypeParser(oid, format as 'text')
}) as typeof pg.types.getTypeParser
