import { Socket } from 'node:net'
import pg from 'pg'
import { readTimestamp } from './read-timestamp.ts'

/** How many connections there are, and how long each thing may take. */
type PoolLimits = {
  readonly max: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly connectTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** The name of a service's database sessions, by which `enrolment copy` sees that a service runs. */
export const SERVICE_SESSIONS = 'enrolment serve'

/** Writes an address so that the driver prints nothing about its mode: it verifies in full with each of these, and says so in six lines. */
export function asVerified(url: string): string {
  return url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

/** Opens a pool of connections with the settings of each session, and keeps their sockets in `sockets`. */
export function openPool(
  address: pg.PoolConfig,
  limits: PoolLimits & { readonly sessionName?: string | undefined },
  sockets: Set<Socket>,
): pg.Pool {
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
