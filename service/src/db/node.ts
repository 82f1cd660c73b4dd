import type { Socket } from 'node:net'
import pg from 'pg'
import { tracing } from '../tracing.ts'
import { driverAddress, serverOf } from './address.ts'
import { CommitUnknown, failureOf } from './failure.ts'
import { openPool } from './pool.ts'
import type { Query } from './sql.ts'
import { traceStatements } from './statement-spans.ts'
import type { DatabaseAddress } from './types.ts'

/** A connection that was lent. Who gives it back says what failed on it; it is closed where that leaves it unsafe. */
export type Lent = { readonly client: pg.PoolClient; giveBack(failure?: unknown): void }

/** The connections to one server: the only one, or a node of a cluster. */
export type Node = {
  /** Its address, `HOST:PORT`. */
  readonly name: string
  readonly pool: pg.Pool
  lend(): Promise<Lent>
  /** Lends a connection for some work. */
  withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Lends a connection that is closed afterwards, with all settings made on it. */
  alone<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Whether the server answers a connection of its own within five seconds, as one of the pool may only be in use. */
  answers(): Promise<boolean>
  lostConnections(): number
  close(): Promise<void>
}

const ANSWER_MS = 5000

/** Opens connections; none is made before the first statement. */
export function openNode(
  address: DatabaseAddress,
  limits: Parameters<typeof openPool>[1],
  onError: (error: Error) => void,
): Node {
  const sockets = new Set<Socket>()
  const pool = openPool(driverAddress(address), limits, sockets)
  let lost = 0
  const noteLost = () => {
    lost += 1
  }
  pool.on('error', error => {
    lost += 1
    onError(error)
  })
  // While a connection is handed to its caller nothing listens to it, and an error in the same packet would end the
  // process.
  pool.on('connect', client => {
    client.on('error', ignore)
    if (tracing) traceStatements(client, tracing)
  })
  const lend = async (): Promise<Lent> => {
    const client = await pool.connect()
    // A connection may break while it is idle; the next query reports it.
    client.on('error', noteLost)
    return {
      client,
      giveBack(failure) {
        // What a transaction had set is not set any more when it failed.
        if (failure !== undefined) cells.delete(client)
        const isUnsafe = failure instanceof CommitUnknown || failureOf(failure).connectionIsUnsafe
        client.off('error', noteLost)
        client.release(isUnsafe)
      },
    }
  }
  return {
    name: serverOf(address),
    pool,
    lend,
    async withClient(work) {
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
    },
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
    async answers() {
      const client = new pg.Client({
        ...pool.options,
        // Otherwise a statement without an answer would keep the connection open.
        pipeline: false,
        connectionTimeoutMillis: ANSWER_MS,
        query_timeout: ANSWER_MS,
      })
      client.on('error', ignore)
      try {
        await client.connect()
        await client.query('select 1')
        return true
      } catch (error) {
        // A server that refuses is there, unless it is starting or stopping.
        return error instanceof pg.DatabaseError && !error.code?.startsWith('57P')
      } finally {
        void client.end().catch(ignore)
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

/** The cell whose tables each connection sees; absent: those of the database's own schema. */
const cells = new WeakMap<pg.PoolClient, string>()

/** Makes a connection see the tables of a cell. Not awaited, so that it travels with the statement after it. */
export function enter(client: pg.PoolClient, cell: string): void {
  if (cell === '' || cells.get(client) === cell) return
  cells.set(client, cell)
  client.query(`set search_path to ${cell}, public`).catch(ignore)
}

/** The statement under the name that it has in a cell: a plan that is kept is of one cell's tables. */
export function inCell<Q extends Pick<Query, 'name'>>(query: Q, cell: string): Q {
  return cell === '' || query.name === '' ? query : { ...query, name: `${query.name}${cell}` }
}

/** Runs one statement on a connection that was lent. */
export async function ask<Row>(client: pg.PoolClient, query: Query, cell: string): Promise<Row[]> {
  enter(client, cell)
  return (await client.query(inCell(query, cell) as pg.QueryConfig)).rows as Row[]
}

/** Ignores a failure that the next statement reports, too. */
export function ignore() {}
