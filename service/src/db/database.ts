import pg from 'pg'
import { failureOf } from './failure.ts'
import { parseTimestamp } from './parse-timestamp.ts'
import type { Query } from './sql.ts'

/** Where a database is reached: a URL, or the socket of the embedded one. */
export type DatabaseAddress = { url: string } | { host: string; port: number; user: string; database: string }

/** Runs statements, alone or inside a transaction. */
export type Executor = {
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
  /** Runs statements given as plain text: for migrations, and for what takes no bound values. */
  script(text: string): Promise<void>
  close(): Promise<void>
  /** Connections that are busy right now. */
  busy(): number
}

/** The connection broke while a commit was under way: whether it took place is not known. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown'
}

/** Opens a pool with the limits of trust.md; the database itself is first asked by a query. */
export const openDatabase = (
  address: DatabaseAddress,
  options: {
    max: number
    onError: (error: Error) => void
    statementTimeoutMs?: number
    /** For how long a connection is waited for, be it a new one or one that others use. */
    connectTimeoutMs?: number
  },
): Database => {
  const { statementTimeoutMs = 5000, connectTimeoutMs = 2000 } = options
  const pool = new pg.Pool({
    ...('url' in address ? { connectionString: address.url } : address),
    max: options.max,
    connectionTimeoutMillis: connectTimeoutMs,
    // The server's own limit cannot help where its answer never arrives.
    query_timeout: statementTimeoutMs + 1000,
    keepAlive: true,
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
      '-c lock_timeout=2000',
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
  pool.on('error', options.onError)

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    // A connection may break while nobody waits on it; the next query reports it.
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      return await work(client)
    } catch (error) {
      if (error instanceof CommitUnknown || failureOf(error).connectionIsUnsafe) broken = error as Error
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  const attempt = <T>(work: (tx: Executor) => Promise<T>): Promise<T> =>
    withClient(async client => {
      // Not awaited: the first statements travel with it. Should it fail, so does the first of them.
      const begun = client.query('begin')
      begun.catch(ignore)
      const statements = executor(client)
      let firstFailure: unknown
      const tx: Executor = {
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
        if (error instanceof pg.DatabaseError && !failureOf(error).connectionIsUnsafe) throw error
        throw new CommitUnknown('commit', { cause: error })
      }
      return result
    })

  return {
    ...executor(pool),
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
    close: () => pool.end(),
    busy: () => pool.totalCount - pool.idleCount,
  }
}

const ignore = () => {}

const executor = (runner: pg.Pool | pg.PoolClient): Executor => ({
  query: async <Row>(query: Query) => (await runner.query(query as pg.QueryConfig)).rows as Row[],
})

const numberTypes = new Set<number>([20, 700, 701])
const timestampTypes = new Set<number>([1114, 1184])
/** Instants come as milliseconds, 64-bit integers as numbers (ours stay far below 2^53). */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (format !== 'binary' && numberTypes.has(oid)) return Number
  if (format !== 'binary' && timestampTypes.has(oid)) return parseTimestamp
  return pg.types.getTypeParser(oid, format as 'text')
}) as typeof pg.types.getTypeParser
