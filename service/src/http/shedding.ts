import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { OperationId } from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { type Rank, type ShedReason, timeRefusalHeldMs, transportMs } from './admission.ts'
import type { Asker, Gate } from './gate.ts'
import { ServiceError } from './service-error.ts'

/** What shedding needs of its surroundings. */
export type SheddingContext = {
  readonly gate: Gate
  /** The partner that a request is likely to come from, as far as memory can tell; "" where it cannot. */
  readonly claimantOf: (request: { readonly headers: IncomingHttpHeaders }) => string
}

const neverShed: ReadonlySet<string> = new Set<OperationId>(['getHealth', 'getReadiness'])
const ranks: Readonly<Record<string, Rank>> = {
  issueToken: 'urgent',
  revokeToken: 'urgent',
  cancelUser: 'urgent',
  eraseUser: 'urgent',
  prefillUser: 'prefill',
} satisfies Partial<Record<OperationId, Rank>>

/** What an operation, or what is none (""), is worth; `undefined` for what is never refused for load. */
export function rankOf(operationId: string): Rank | undefined {
  return neverShed.has(operationId) ? undefined : (ranks[operationId] ?? 'ordinary')
}

/**
 * Refuses what there is no room for with 503 `unavailable` and Retry-After, on every route that is mounted after this
 * but health and readiness. It is asked three times: before credentials and body are read, so that a refusal costs
 * nearly nothing; when the body has come, before it is parsed; and before the work begins, when it is known who asks.
 * Only work counts as in flight, not a body that is slow to come: otherwise a few slow senders would close the service
 * to everybody. What a caller is slow to take counts, as it is held in memory until then.
 */
export function shedOverload(app: FastifyInstance, context: SheddingContext): void {
  app.decorateRequest('loopMs', 0)
  app.addHook('onRoute', route => {
    const rank = rankOf(route.config?.operation?.id ?? '')
    if (!rank) return
    route.config = { ...route.config, meter: meterOf(context, rank) }
    route.onRequest = [doorOf(context, rank), ...[route.onRequest ?? []].flat()]
    route.handler = counted(context, rank, route.handler)
  })
}

/** Refuses a body that has come before it is parsed, and takes what the parsing cost. */
export type Meter = {
  readonly admit: (request: FastifyRequest, done: (refusal?: ServiceError) => void) => void
  readonly charge: (request: FastifyRequest, ms: number) => void
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    meter?: Meter
  }
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyRequest {
    /** Time of the event loop that the answer took after its handler first waited; charged when it is sent. */
    loopMs: number
  }
}

/** What is left of the body is skipped by Node, and the connection stays: a new one would cost more than the refusal. */
function doorOf({ gate, claimantOf }: SheddingContext, rank: Rank) {
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    if (gate.isOpenTo(rank)) {
      done()
      return
    }
    const reason = gate.refusalOf(askerOf(request, claimantOf), rank)
    if (!reason) done()
    else whenItMayGo(reason, () => done(refuse(gate, reason, request)))
  }
}

/** Who asks, as far as memory can tell. */
function askerOf(request: FastifyRequest, claimantOf: SheddingContext['claimantOf']): Asker {
  return request.partnerId || claimantOf(request) || `@${request.ip}`
}

/** A refusal for time is held, and with it the connection on which its request came. */
function whenItMayGo(reason: ShedReason, send: () => void): void {
  if (reason === 'time') setTimeout(send, timeRefusalHeldMs)
  else send()
}

/** Those that passed the door together while there was room meet its refusal one after the other. */
function meterOf({ gate, claimantOf }: SheddingContext, rank: Rank): Meter {
  return {
    admit(request, done) {
      const reason = gate.isOpenTo(rank) ? undefined : gate.refusalOf(askerOf(request, claimantOf), rank)
      if (!reason) done()
      else whenItMayGo(reason, () => done(refuse(gate, reason, request)))
    },
    charge: (request, ms) => gate.charge(askerOf(request, claimantOf), ms),
  }
}

function counted(
  { gate, claimantOf }: SheddingContext,
  rank: Rank,
  handler: RouteHandlerMethod,
): RouteHandlerMethod {
  return function handleCounted(request, reply) {
    // The token endpoint checks its credentials itself.
    const asker = askerOf(request, claimantOf)
    const reason = gate.refusalOf(asker, rank)
    if (reason) throw refuse(gate, reason, request)
    gate.enter(asker)
    const leave = () => {
      gate.leave(asker)
      gate.charge(asker, request.loopMs + transportMs(Number(reply.getHeader('content-length') ?? 0)))
      holdUntilTaken(gate, asker, reply)
    }
    let answer: unknown
    const begunAt = performance.now()
    try {
      answer = handler.call(this, request, reply)
    } catch (error) {
      leave()
      throw error
    } finally {
      gate.charge(asker, performance.now() - begunAt)
    }
    if (answer instanceof Promise) answer.then(leave, leave)
    else leave()
    return answer
  }
}

/** Bytes of an answer that count as one request in flight while they wait to be taken. */
const bytesAsRequest = 65_536

/** Counts what the caller has yet to take of a large answer as requests in flight, until it is sent or given up. */
function holdUntilTaken(gate: Gate, asker: Asker, { raw, request }: FastifyReply): void {
  if (raw.writableLength < bytesAsRequest / 4) return
  // What the system takes at once is gone by then.
  setImmediate(() => {
    const { socket } = request.raw
    const waiting = socket.destroyed || raw.destroyed || raw.writableFinished ? 0 : raw.writableLength
    if (waiting < bytesAsRequest / 4) return
    const weight = Math.ceil(waiting / bytesAsRequest)
    gate.enter(asker, weight)
    const leave = () => {
      if (held.get(socket)?.delete(leave)) gate.leave(asker, weight)
    }
    holdsOf(socket).add(leave)
    raw.once('close', leave)
  })
}

/** What still counts on each connection. An answer that waits behind another one never closes when the caller goes. */
const held = new WeakMap<Socket, Set<() => void>>()

function holdsOf(socket: Socket): Set<() => void> {
  const known = held.get(socket)
  if (known) return known
  const holds = new Set<() => void>()
  held.set(socket, holds)
  socket.once('close', () => {
    for (const leave of holds) leave()
  })
  return holds
}

function refuse(gate: Gate, reason: ShedReason, request: FastifyRequest): ServiceError {
  request.isShed = true
  return refusalAfter(reason, gate.noteRefusal(reason))
}

const shareRefusal =
  'You have more requests in flight than your share while others wait: send fewer at once, and try again after the time in Retry-After.'
const timeRefusal =
  'Your requests take more than your share of the time of this service while others wait: send fewer or smaller ones, and try again after the time in Retry-After.'

/** What a refusal says, by its reason. */
export const refusals: Readonly<Record<ShedReason, ServiceError>> = {
  full: new ServiceError('unavailable'),
  delay: new ServiceError('unavailable'),
  share: new ServiceError('unavailable', shareRefusal),
  time: new ServiceError('unavailable', timeRefusal),
}

// Made once for each time to wait: to make an error costs more than all else about a refusal.
const timed = new Map<string, ServiceError>()
function refusalAfter(reason: ShedReason, seconds: number): ServiceError {
  const key = `${reason} ${seconds}`
  const known = timed.get(key)
  if (known) return known
  const { code, message } = refusals[reason]
  const made = new ServiceError(code, message, { headers: { 'Retry-After': String(seconds) } })
  timed.set(key, made)
  return made
}
