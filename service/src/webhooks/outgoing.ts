import type { ConnectOptions } from './connect.ts'
import { type Link, type LinkAnswer, openLink, type TryRequest } from './link.ts'
import { Fault, faultOf, type Outcome, type Timings, timeoutFault } from './outcome.ts'

/** Where a try goes. The id keeps connections apart: those of one endpoint serve no other. */
export interface Destination {
  endpointId: string
  url: string
}

export interface OutgoingOptions extends Omit<ConnectOptions, 'connectMs' | 'tlsMs'> {
  /** The longest that one try may take, body included. */
  deadlineMs?: number
  connectMs?: number
  tlsMs?: number
}

/** The one way out of the service. */
export interface Outgoing {
  /**
   * Makes one request, within the deadline of a try, of which `spentMs` are gone already. Never throws: what goes wrong
   * is the outcome.
   */
  send(destination: Destination, request: TryRequest, spentMs?: number): Promise<Outcome>
  /** Closes the idle connections of an endpoint that was changed or removed; busy ones close after their try. */
  forget(endpointId: string): void
  /** How many connections are open or being opened. */
  connections(): number
  /** Ends every try with the outcome `stopped` and fulfils when no socket is left; later tries end the same way. */
  close(): Promise<void>
}

interface Pool {
  /** As text and parsed: to parse it for each try costs more than to compare. */
  target: { text: string; url: URL; origin: string; path: string }
  idle: Link[]
  busy: Set<Link>
}

/** Opens the way out, with the limits of trust.md: 3 s to connect, 5 s for TLS, 15 s for all. */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { deadlineMs = 15_000, connectMs = 3000, tlsMs = 5000 } = options
  const pools = new Map<string, Pool>()
  const open = new Map<Link, Promise<void> | undefined>()
  let stopped = false

  const end = (link: Link, fault: Fault) => {
    const ending = open.get(link) ?? link.destroy(fault).finally(() => open.delete(link))
    open.set(link, ending)
    return ending
  }

  const takeLink = (pool: Pool, fresh: boolean): Link => {
    const { url, origin } = pool.target
    let link = fresh ? undefined : pool.idle.pop()
    while (link !== undefined && (!link.isReusable() || link.origin !== origin)) {
      end(link, new Fault('reset'))
      link = pool.idle.pop()
    }
    link ??= openLink(url, { ...options, connectMs, tlsMs }, closed => {
      pool.idle = pool.idle.filter(other => other !== closed)
      if (!pool.busy.has(closed)) end(closed, new Fault('reset'))
    })
    if (!open.has(link)) open.set(link, undefined)
    pool.busy.add(link)
    return link
  }

  const giveBack = (endpointId: string, pool: Pool, link: Link) => {
    pool.busy.delete(link)
    const isCurrent = pools.get(endpointId) === pool
    if (isCurrent && link.isReusable()) pool.idle.push(link)
    else end(link, new Fault('reset'))
    if (isCurrent && pool.idle.length + pool.busy.size === 0) pools.delete(endpointId)
  }

  const poolOf = ({ endpointId, url: text }: Destination): Pool => {
    const known = pools.get(endpointId)
    if (known?.target.text === text) return known
    const url = new URL(text)
    const target = { text, url, origin: url.origin, path: url.pathname + url.search }
    const pool = known ?? { target, idle: [], busy: new Set() }
    pool.target = target
    pools.set(endpointId, pool)
    return pool
  }

  const post = async (destination: Destination, request: TryRequest, trial: Trial): Promise<LinkAnswer> => {
    const pool = poolOf(destination)
    const { path } = pool.target
    for (;;) {
      if (stopped) throw new Fault('stopped')
      if (trial.fault !== undefined) throw trial.fault
      const link = takeLink(pool, trial.link !== undefined)
      trial.link = link
      trial.reused = link.served > 0
      try {
        return await link.post(path, request)
      } catch (error) {
        // An idle connection that the endpoint closed meanwhile says nothing about the endpoint.
        const wasStale =
          trial.reused && !link.hasHeard() && faultOf(error, 'unexpected').errorClass === 'reset'
        if (!wasStale) throw error
      } finally {
        giveBack(destination.endpointId, pool, link)
      }
    }
  }

  return {
    async send(destination, request, spentMs = 0) {
      const trial: Trial = { startedAt: performance.now(), reused: false }
      if (stopped) return failed(trial, new Fault('stopped'))
      const leftMs = Math.max(0, deadlineMs - spentMs)
      const timer = setTimeout(() => {
        trial.fault = timeoutFault('timeout', performance.now() - trial.startedAt - leftMs)
        if (trial.link !== undefined) end(trial.link, trial.fault)
      }, leftMs)
      try {
        return answered(trial, await post(destination, request, trial))
      } catch (error) {
        return failed(trial, faultOf(error, 'unexpected'))
      } finally {
        clearTimeout(timer)
      }
    },
    forget(endpointId) {
      const pool = pools.get(endpointId)
      pools.delete(endpointId)
      for (const link of pool?.idle.splice(0) ?? []) end(link, new Fault('reset'))
    },
    connections: () => open.size,
    async close() {
      stopped = true
      await Promise.all([...open.keys()].map(link => end(link, new Fault('stopped'))))
      pools.clear()
    },
  }
}

/** One try under way. */
interface Trial {
  startedAt: number
  link?: Link
  /** Whether its connection was opened by an earlier try. */
  reused: boolean
  /** Why it must end. */
  fault?: Fault
}

function answered(trial: Trial, { status, snippet, retryAfter, statusAt }: LinkAnswer): Outcome {
  const timings = timingsOf(trial)
  timings.firstByteMs = Math.round(statusAt - trial.startedAt)
  return { status, snippet, retryAfter, address: trial.link?.trace.address, timings }
}

function failed(trial: Trial, { errorClass, cause }: Fault): Outcome {
  return { errorClass, cause, address: trial.link?.trace.address, timings: timingsOf(trial) }
}

function timingsOf({ link, reused, startedAt }: Trial): Timings {
  const totalMs = Math.round(performance.now() - startedAt)
  if (reused || link === undefined) return { totalMs }
  const { dnsMs, connectMs, tlsMs } = link.trace
  return { dnsMs, connectMs, tlsMs, totalMs }
}
