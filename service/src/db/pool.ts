import { Socket } from 'node:net'
import pg from 'pg'
import { tracing } from '../tracing.ts'
import { CommitUnknown, failureOf } from './failure.ts'
import { type Query, readTimestamp } from './sql.ts'
import { traceStatements } from './statement-spans.ts'
import type { DatabaseAddress } from './types.ts'

/** How many connections there are, what they see, and how long each thing may take. */
type PoolLimits = {
  readonly max: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly connectTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly sessionName?: string | undefined
  /** The cell of a cluster whose tables its connections see; `''`: those of the database itself. */
  readonly cell: string
}

/** A connection that was lent. Who gives it back says what failed on it; it is closed where that leaves it unsafe. */
export type Lent = { readonly client: pg.PoolClient; giveBack(failure?: unknown): void }

/** Connections that all see the same tables. */
export type Pool = {
  readonly pool: pg.Pool
  /** The cell whose tables they see; `''` for what all cells share, and on plain PostgreSQL. */
  readonly cell: string
  /** Whether it is one of a cluster: then what fails at a commit may have been committed all the same. */
  isCluster: boolean
  /** How long a statement waits for a lock. */
  readonly lockTimeoutMs: number
  query<Row>(query: Query): Promise<Row[]>
  lend(): Promise<Lent>
  /** Lends a connection for some work. */
  withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Lends a connection that is closed afterwards, with all settings made on it. */
  alone<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  lostConnections(): number
  close(): Promise<void>
}

/** The name of a service's database sessions, by which `enrolment copy` sees that a service runs. */
export const SERVICE_SESSIONS = 'enrolment serve'

/** pg treats these three modes as verify-full, and warns about that in six lines, so the address says verify-full itself. */
export function asVerified(url: string): string {
  return url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

/** Opens connections; none is made before the first statement. */
export function openPool(
  address: DatabaseAddress,
  limits: PoolLimits,
  onError: (error: Error) => void,
): Pool {
  const sockets = new Set<Socket>()
  const pool = openConnections(driverAddress(address), limits, sockets)
  let lost = 0
  const noteLost = () => {
    lost += 1
  }
  pool.on('error', error => {
    lost += 1
    onError(error)
  })
  pool.on('connect', client => {
    // While a connection is handed to its caller nothing listens to it, and an error in the same packet would end the
    // process.
    client.on('error', ignore)
    // Not as a start-up option, which a pooler would drop in silence. It travels with the first statement.
    if (limits.cell !== '') client.query(`set search_path to ${limits.cell}, public`).catch(ignore)
    if (tracing) traceStatements(client, tracing)
  })
  const lend = async (): Promise<Lent> => {
    const client = await pool.connect()
    // A connection may break while it is idle; the next query reports it.
    client.on('error', noteLost)
    return {
      client,
      giveBack(failure) {
        const isUnsafe = failure instanceof CommitUnknown || failureOf(failure).connectionIsUnsafe
        client.off('error', noteLost)
        client.release(isUnsafe)
      },
    }
  }
  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const { client, giveBack } = await lend()
    let failure: unknown
    try {
      return await work(client)
    } catch (error) {
      failure = error
      throw error
    } finally {
      giveBack(failure)
    }
  }
  return {
    pool,
    cell: limits.cell,
    isCluster: limits.cell !== '',
    lockTimeoutMs: limits.lockTimeoutMs,
    query<Row>(query: Query) {
      // The pool may begin a statement within the span of the statement for whose connection it waited.
      if (tracing) return withClient(client => ask<Row>(client, query))
      return pool.query(query as pg.QueryConfig).then(({ rows }) => rows as Row[])
    },
    lend,
    withClient,
    async alone(work) {
      const client = await pool.connect()
      client.on('error', ignore)
      try {
        return await work(client)
      } finally {
        client.off('error', ignore)
        client.release(true)
      }
    },
    lostConnections: () => lost,
    async close() {
      await pool.end()
      // A client without a password leaves its connection open, and the server waits a minute for one.
      for (const socket of sockets) socket.destroy()
    },
  }
}

function driverAddress(address: DatabaseAddress): pg.PoolConfig {
  return 'url' in address ? { connectionString: address.url } : address
}

function openConnections(address: pg.PoolConfig, limits: PoolLimits, sockets: Set<Socket>): pg.Pool {
  const { statementTimeoutMs, lockTimeoutMs } = limits
  const { connectionString } = address
  return new pg.Pool({
    ...address,
    ...(connectionString !== undefined && { connectionString: asVerified(connectionString) }),
    max: limits.max,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    // The server's own limit does not help when its answer never arrives.
    query_timeout: statementTimeoutMs + 1000,
    keepAlive: true,
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      return socket
    },
    idleTimeoutMillis: limits.idleTimeoutMs,
    maxLifetimeSeconds: 1800,
    application_name: limits.sessionName ?? 'enrolment',
    // Statements of one transaction travel together; each still has an answer of its own.
    pipeline: true,
    types: { getTypeParser },
    options: [
      '-c timezone=UTC',
      '-c datestyle=ISO',
      `-c statement_timeout=${statementTimeoutMs}`,
      `-c lock_timeout=${lockTimeoutMs}`,
      '-c idle_in_transaction_session_timeout=10000',
      // On a cluster the node that has the rows waits for their locks, and is told for how long with each transaction.
      '-c citus.propagate_set_commands=local',
      // A stock server compiles statements with many parts for longer than it runs them: 0.7 s for one that takes 1 ms.
      '-c jit=off',
      // Every statement reaches its rows by an index. Plans are kept, and one made while a table was nearly empty
      // would go on reading it whole.
      '-c enable_seqscan=off',
      '-c enable_hashjoin=off',
      '-c enable_mergejoin=off',
    ].join(' '),
  })
}

const numberTypes = new Set<number>([20, 700, 701])
const timestampTypes = new Set<number>([1114, 1184])
/** Instants are read as milliseconds, and 64-bit integers as numbers (ours stay far below 2^53). */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (format !== 'binary' && numberTypes.has(oid)) return Number
  if (format !== 'binary' && timestampTypes.has(oid)) return readTimestamp
  return pg.types.getTypeParser(oid, format as 'text')
}) as typeof pg.types.getTypeParser

/**
 * Lets everything that `send` sends before it first waits leave in one write. Without it a read of 1,000 partners' users costs 10 %
 * more processor time (2026-11-28). The driver has no such method of its own, hence its private field.
 */
export function atOnce<T>(client: pg.PoolClient, send: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}

/** Runs one statement on a connection that was lent. */
export async function ask<Row>(client: pg.PoolClient, query: Query): Promise<Row[]> {
  return (await client.query(query as pg.QueryConfig)).rows as Row[]
}

/** Ignores a failure that the next statement reports, too. */
export function ignore() {}
