import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { onceOver } from '../answer-over.ts'
import { ServiceError } from '../service-error.ts'
import { TICK_MS, watchProcess } from './process-load.ts'
import { openTurns, type ShedReason, type TurnLimits, type Turns } from './turns.ts'

/** The load shedding of one server. */
export type Shedding = {
  readonly turns: Turns
  /** How late the event loop is, for the operator. */
  readonly loopDelayMs: () => number
  /** Stops watching the process, after a last line of the log for refusals that were not reported. */
  close(): void
}

type SheddingContext = {
  readonly limits: TurnLimits
  readonly basePath: string
  /** The partner from which a request seems to come, without asking the database; "" when unknown. */
  readonly guessPartner: (request: { readonly headers: IncomingHttpHeaders }) => string
  readonly log: (event: string, fields: Record<string, unknown>) => void
  /** Called ten times a second. */
  readonly onTick: () => void
  /** How many processes share the machine's memory; absent: this one has it alone. */
  readonly processes?: number
}

/**
 * Enough for a full batch of 128 prefills to be written while another, which starts beside it from 64 on, is gathered and
 * decided. A thousand at once cost a quarter more processor time each, in garbage collections.
 */
export const defaultTurnLimits: TurnLimits = { atOnce: 224, patienceMs: 5000 }

/**
 * Lets each request, except of health and readiness, wait for its turn before the router and the hooks see it: what
 * they make for a request that waits would be copied by each garbage collection. Answers a refused one with 503
 * `unavailable` and Retry-After, in the form of its route.
 */
export function openShedding(app: FastifyInstance, context: SheddingContext): Shedding {
  const watched = watchProcess(context.processes ?? 1)
  const turns = openTurns(context.limits, watched.load)
  const counted = new WeakMap<IncomingMessage, () => void>()
  const refused = new WeakSet<IncomingMessage>()
  waitAtDoor(app, { ...context, turns, counted, refused })
  app.addHook('onRequest', (request, _reply, done) => {
    if (refused.has(request.raw)) {
      request.isShed = true
      done(new ServiceError('unavailable', undefined, { headers: { 'Retry-After': retryAfter(turns) } }))
    } else done()
  })
  app.addHook('onError', (request, _reply, _error, done) => {
    // No handler may have seen its body.
    if (!request.isCharged) turns.charge(callerOf(request), request.loopMs)
    done()
  })
  app.decorateRequest('isCharged', false)
  const callerOf = (request: FastifyRequest) => request.partnerId || context.guessPartner(request)
  app.addHook('onRoute', route => {
    route.handler = measured(turns, { callerOf, counted }, route.handler)
  })
  const report = reportRefusals(turns, context.log)
  const timer = setInterval(() => {
    watched.tick()
    turns.tick()
    report(false)
    context.onTick()
  }, TICK_MS).unref()
  return {
    turns,
    loopDelayMs: watched.delayMs,
    close() {
      clearInterval(timer)
      report(true)
    },
  }
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    /** Whether the handler goes step by step, each step at a turn of its own (`long-reads.ts`). */
    takesTurns?: boolean
  }
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyRequest {
    /** Time of the event loop that the request has taken; charged once, when it is answered, since a charge costs time. */
    loopMs: number
    isCharged: boolean
  }
}

type Door = SheddingContext & {
  readonly turns: Turns
  /** What ends the turns of requests that are under way since the door: their handler does not count them again. */
  readonly counted: WeakMap<IncomingMessage, () => void>
  readonly refused: WeakSet<IncomingMessage>
}

function waitAtDoor(app: FastifyInstance, { turns, counted, refused, guessPartner, basePath }: Door): void {
  const probes: readonly string[] = [`${basePath}/healthz`, `${basePath}/readyz`]
  const isPipelinedTooFar = refusePipelined()
  let isStopping = false
  app.addHook('preClose', done => {
    isStopping = true
    done()
  })
  const [handle] = app.server.listeners('request') as RequestListener[]
  if (!handle) throw new Error('the server has no listener')
  app.server.removeListener('request', handle)
  const serve = (caller: string, request: IncomingMessage, response: ServerResponse) => {
    const begunAt = performance.now()
    handle(request, response)
    turns.charge(caller, performance.now() - begunAt)
  }
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isPipelinedTooFar(request, response)) return
    const caller = guessPartner(request)
    // While the server stops, only the hooks behind the router end connections, and the stop waits for them.
    if (turns.isOpen(caller) || isStopping || probes.includes(request.url ?? '')) {
      serve(caller, request, response)
      return
    }
    const lane = `${request.socket.remoteAddress} ${request.url?.split('?', 1)[0]}`
    turns.wait({ caller, lane }, end => {
      // Nobody would receive the answer on a connection that has closed.
      if (request.socket.destroyed) return false
      // A body that arrives slowly takes no turn: such a request counts once its handler begins.
      const isCounted = end !== undefined && request.complete
      if (isCounted) {
        counted.set(request, end)
        onceOver(request, response, end)
      }
      if (!end) refused.add(request)
      serve(caller, request, response)
      return isCounted
    })
  })
}

/** Runs a handler as one that is under way, and charges its caller for the time that it takes of the event loop. */
function measured(
  turns: Turns,
  { callerOf, counted }: Pick<Door, 'counted'> & { readonly callerOf: (request: FastifyRequest) => string },
  handler: RouteHandlerMethod,
): RouteHandlerMethod {
  return function handleMeasured(request, reply) {
    const caller = callerOf(request)
    request.isCharged = true
    const known = counted.get(request.raw)
    const end = known ?? turns.begin(caller)
    const leave = () => {
      turns.charge(caller, request.loopMs + transportMs(Number(reply.getHeader('content-length') ?? 0)))
      if (!known) end()
    }
    const begunAt = performance.now()
    let answer: unknown
    try {
      answer = handler.call(this, request, reply)
    } finally {
      // Without a body to wait for, it runs within what the door measures.
      if (request.raw.method !== 'GET') request.loopMs += performance.now() - begunAt
      if (answer instanceof Promise) answer.then(leave, leave)
      else leave()
      // Its steps take turns of their own: while it waits for them it takes none.
      if (request.routeOptions.config.takesTurns) end()
    }
    return answer
  }
}

// Measured on two cores with handlers that did nothing: 650 MB in a second. Without it, so that a large answer is charged like a small
// one, another partner's reads take 2.5 times as long beside 20 connections that fetch the description, and 1.2 with it.
const MS_OF_KIB = 0.0015

/** The event-loop time in which the server reads a body or writes an answer. */
export function transportMs(bytes: number): number {
  return (bytes / 1024) * MS_OF_KIB
}

/** One to three seconds, in turn, so that callers that were refused together do not return together. */
function retryAfter(turns: Turns): string {
  const { wait, memory } = turns.numbers().shed
  return String(1 + ((wait + memory) % 3))
}

const REPORT_EVERY_MS = 5000

/** Reports refusals to the log, as sums at most every five seconds, because a line for each would cost more than the refusals. */
function reportRefusals(turns: Turns, log: SheddingContext['log']): (isLast: boolean) => void {
  let reported = turns.numbers().shed
  let reportedAt = Number.NEGATIVE_INFINITY
  return isLast => {
    const at = performance.now()
    if (!isLast && at - reportedAt < REPORT_EVERY_MS) return
    const { shed, underWay, waiting } = turns.numbers()
    const reasons = Object.keys(shed) as ShedReason[]
    const since = reasons.map(reason => [reason, shed[reason] - reported[reason]] as const)
    if (since.every(([, count]) => count === 0)) return
    log('shed', { ...Object.fromEntries(since), inflight: underWay, waiting })
    reported = shed
    reportedAt = at
  }
}

/** The most requests of a connection that may wait there behind an unanswered one; hardly any client sends several at once. */
const MOST_PIPELINED = 64

/**
 * Returns a function that says whether a request must be left unanswered because its connection has been closed for sending too
 * many requests ahead of their answers. Node.js reads whatever a connection holds, up to 2 MB in one turn of the event
 * loop: 50 connections full of requests kept it from all others for three seconds at a time, with no request late
 * enough to be refused for load.
 */
function refusePipelined(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const behind = new WeakMap<Socket, number>()
  return ({ socket }, response) => {
    if (socket.destroyed) return true
    // Node.js gives an answer its socket once all answers before it have been sent.
    if (response.socket) return false
    const count = (behind.get(socket) ?? 0) + 1
    if (count > MOST_PIPELINED) {
      socket.destroy()
      return true
    }
    behind.set(socket, count)
    response.once('close', () => behind.set(socket, (behind.get(socket) ?? 1) - 1))
    return false
  }
}
