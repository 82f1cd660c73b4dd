/**
 * Egress: the only way in which the service sends requests to partners' endpoints. It trusts neither their addresses
 * nor their answers, and keeps connections for reuse and the deadline of each attempt.
 */
import type { ClientCertificate, ConnectOptions } from './connect.ts'
import { type AttemptRequest, type Connection, type ConnectionAnswer, openConnection } from './connection.ts'
import { type AttemptOutcome, Fault, faultOf, type Timings, timeoutFault } from './outcome.ts'

/** The target of an attempt. Connections of one endpoint are never used for another, even at the same address. */
type Destination = {
  endpointId: string
  url: string
  client?: ClientCertificate | undefined
}

/** The limits of an attempt and what connecting needs; the limits have defaults. */
export type OutgoingOptions = Omit<ConnectOptions, 'connectMs' | 'tlsMs' | 'client'> & {
  /** The limit for one attempt, body included. */
  deadlineMs?: number
  connectMs?: number
  tlsMs?: number
}

/** Sends attempts to endpoints. */
export type Outgoing = {
  /**
   * Makes one request within the deadline of an attempt, of which `spentMs` have passed already. Never rejects: a
   * failure is part of the outcome.
   */
  send(destination: Destination, request: AttemptRequest, spentMs?: number): Promise<AttemptOutcome>
  /** Closes the idle connections of an endpoint that was changed or removed; busy ones close after their attempt. */
  forget(endpointId: string): void
  /** How many connections are open or being opened. */
  connections(): number
  /**
   * Ends every attempt with the outcome `stopped`, and resolves when no socket is left; later attempts end the same
   * way.
   */
  close(): Promise<void>
}

/** The name of the connections to an endpoint's token endpoint. */
export function tokenPool(endpointId: string): string {
  return `${endpointId} token`
}

type Pool = {
  /** As text and parsed, because comparing the text costs less than parsing it for each attempt. */
  target: { text: string; url: URL; origin: string; path: string }
  client: ClientCertificate | undefined
  idle: Connection[]
  busy: Set<Connection>
}

/**
 * Opens the sender. The default limits keep a slow receiver from holding an attempt for long: 3 s to connect, 5 s for
 * TLS, 15 s in all.
 */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { deadlineMs = 15_000, connectMs = 3000, tlsMs = 5000 } = options
  const pools = new Map<string, Pool>()
  const open = new Map<Connection, Promise<void> | undefined>()
  let stopped = false

  const end = (connection: Connection, fault: Fault) => {
    const ending = open.get(connection) ?? connection.destroy(fault).finally(() => open.delete(connection))
    open.set(connection, ending)
    return ending
  }

  const takeConnection = (pool: Pool, fresh: boolean): Connection => {
    const { url, origin } = pool.target
    let connection = fresh ? undefined : pool.idle.pop()
    while (connection !== undefined && (!connection.isReusable() || connection.origin !== origin)) {
      end(connection, new Fault('reset'))
      connection = pool.idle.pop()
    }
    connection ??= openConnection(url, { ...options, connectMs, tlsMs, client: pool.client }, closed => {
      pool.idle = pool.idle.filter(other => other !== closed)
      if (!pool.busy.has(closed)) end(closed, new Fault('reset'))
    })
    if (!open.has(connection)) open.set(connection, undefined)
    pool.busy.add(connection)
    return connection
  }

  const giveBack = (endpointId: string, pool: Pool, connection: Connection) => {
    pool.busy.delete(connection)
    const isCurrent = pools.get(endpointId) === pool
    if (isCurrent && connection.isReusable()) pool.idle.push(connection)
    else end(connection, new Fault('reset'))
    if (isCurrent && pool.idle.length + pool.busy.size === 0) pools.delete(endpointId)
  }

  const forget = (endpointId: string) => {
    const pool = pools.get(endpointId)
    pools.delete(endpointId)
    for (const connection of pool?.idle.splice(0) ?? []) end(connection, new Fault('reset'))
  }

  const poolOf = ({ endpointId, url: text, client }: Destination): Pool => {
    // Connections with another certificate, or without one, are not those of this client.
    if (pools.get(endpointId)?.client !== client) forget(endpointId)
    const known = pools.get(endpointId)
    if (known?.target.text === text) return known
    const url = new URL(text)
    const target = { text, url, origin: url.origin, path: url.pathname + url.search }
    const pool = known ?? { target, client, idle: [], busy: new Set() }
    pool.target = target
    pools.set(endpointId, pool)
    return pool
  }

  const post = async (
    destination: Destination,
    request: AttemptRequest,
    attempt: Attempt,
  ): Promise<ConnectionAnswer> => {
    const pool = poolOf(destination)
    const { path } = pool.target
    for (;;) {
      if (stopped) throw new Fault('stopped')
      if (attempt.fault !== undefined) throw attempt.fault
      const connection = takeConnection(pool, attempt.connection !== undefined)
      attempt.connection = connection
      attempt.reused = connection.served > 0
      try {
        return await connection.post(path, request)
      } catch (error) {
        // An endpoint may close an idle connection at any time; that is no failure, so the request is sent on a new one.
        const wasStale =
          attempt.reused && !connection.hasHeard() && faultOf(error, 'unexpected').errorClass === 'reset'
        if (!wasStale) throw error
      } finally {
        giveBack(destination.endpointId, pool, connection)
      }
    }
  }

  return {
    async send(destination, request, spentMs = 0) {
      const attempt: Attempt = { startedAt: performance.now(), reused: false }
      if (stopped) return failed(attempt, new Fault('stopped'))
      const leftMs = Math.max(0, deadlineMs - spentMs)
      const timer = setTimeout(() => {
        attempt.fault = timeoutFault('timeout', performance.now() - attempt.startedAt - leftMs)
        if (attempt.connection !== undefined) end(attempt.connection, attempt.fault)
      }, leftMs)
      try {
        return answered(attempt, await post(destination, request, attempt))
      } catch (error) {
        return failed(attempt, faultOf(error, 'unexpected'))
      } finally {
        clearTimeout(timer)
      }
    },
    forget(endpointId) {
      forget(endpointId)
      forget(tokenPool(endpointId))
    },
    connections: () => open.size,
    async close() {
      stopped = true
      await Promise.all([...open.keys()].map(connection => end(connection, new Fault('stopped'))))
      pools.clear()
    },
  }
}

/** An attempt under way. */
type Attempt = {
  startedAt: number
  connection?: Connection
  /** Whether an earlier attempt opened its connection. */
  reused: boolean
  /** The reason why it must end. */
  fault?: Fault
}

function answered(
  attempt: Attempt,
  { status, snippet, retryAfter, statusAt }: ConnectionAnswer,
): AttemptOutcome {
  const timings = timingsOf(attempt)
  timings.firstByteMs = Math.round(statusAt - attempt.startedAt)
  const { address, certificateEndsAt } = attempt.connection?.trace ?? {}
  return { status, snippet, retryAfter, address, certificateEndsAt, timings }
}

function failed(attempt: Attempt, { errorClass, cause }: Fault): AttemptOutcome {
  // A blocked address is kept from the partner: it may tell what a name means inside the operator's network.
  const address = errorClass === 'blocked_address' ? undefined : attempt.connection?.trace.address
  return { errorClass, cause, address, timings: timingsOf(attempt) }
}

function timingsOf({ connection, reused, startedAt }: Attempt): Timings {
  const totalMs = Math.round(performance.now() - startedAt)
  if (reused || connection === undefined) return { totalMs }
  const { dnsMs, connectMs, tlsMs } = connection.trace
  return { dnsMs, connectMs, tlsMs, totalMs }
}
