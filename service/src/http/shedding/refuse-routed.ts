import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { ServiceError } from '../service-error.ts'
import { type Rank, type ShedReason, TIME_REFUSAL_HELD_MS, transportMs } from './admission.ts'
import { type Asker, type Gate, partnerOf } from './gate.ts'
import { rankOf, refusalAfter, takesTurns } from './refusals.ts'
import type { Resting } from './resting.ts'
import type { Turns } from './turns.ts'
import { countUntilSent } from './unsent-answers.ts'

/** What load shedding needs from the other parts. */
export type SheddingContext = {
  readonly gate: Gate
  readonly turns: Turns
  readonly resting: Resting
  /** The partner from which a request seems to come, without asking the database; "" when unknown. */
  readonly guessPartner: (request: { readonly headers: IncomingHttpHeaders }) => string
}

/**
 * Refuses requests for which there is no room with 503 `unavailable` and Retry-After, on every route that is mounted
 * after this, except health and readiness. It asks the gate three times: before credentials and body are read, when a
 * refusal costs almost nothing; when the body has arrived, before it is parsed; and before the handler runs, when the
 * caller is known. A request counts as in flight only while its handler runs, not while its body arrives: otherwise a
 * few slow senders would block the service for everybody. An answer counts until its caller has received it.
 */
export function refuseRouted(app: FastifyInstance, context: SheddingContext): void {
  app.decorateRequest('loopMs', 0)
  app.decorateRequest('isCharged', false)
  app.addHook('onError', (request, _reply, _error, done) => {
    chargeRefused(context, request)
    done()
  })
  app.addHook('onRoute', route => {
    const { operation } = route.config ?? {}
    const rank = rankOf(operation?.id ?? '')
    if (!rank) return
    route.config = { ...route.config, meter: meterOf(context, rank) }
    route.onRequest = [checkAtArrival(context, rank), ...[route.onRequest ?? []].flat()]
    const inTurn = operation !== undefined && takesTurns(operation)
    route.handler = countInFlight(context, { rank, inTurn }, route.handler)
  })
}

/** Decides whether a body that has arrived is parsed, and is told the time that this took. */
type Meter = {
  readonly admit: (request: FastifyRequest, done: (refusal?: ServiceError) => void) => void
  readonly note: (request: FastifyRequest, parsing: { ms: number; bytes: number }) => void
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    meter?: Meter
  }
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyRequest {
    /** Time of the event loop that the request has taken; charged at once when it is answered, since each charge costs 1 µs. */
    loopMs: number
    /** Whether its time was charged, or will be once its handler has answered. */
    isCharged: boolean
  }
}

/** Node discards the rest of the body, and the connection stays open: a new one would cost more than the refusal. */
function checkAtArrival({ gate, guessPartner }: SheddingContext, rank: Rank) {
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    if (gate.isOpenTo(rank)) {
      done()
      return
    }
    const reason = gate.refusalOf(askerOf(request, guessPartner), rank)
    if (!reason) done()
    else sendRefusal(reason, () => done(refuse(gate, reason, request)))
  }
}

/** The asker, as far as memory knows. */
function askerOf(request: FastifyRequest, guessPartner: SheddingContext['guessPartner']): Asker {
  return request.partnerId || guessPartner(request) || `@${request.ip}`
}

/** Sends a refusal. A refusal for time is delayed, and with it the connection on which its request came. */
function sendRefusal(reason: ShedReason, send: () => void): void {
  if (reason === 'time') setTimeout(send, TIME_REFUSAL_HELD_MS)
  else send()
}

/**
 * Many requests may pass the first check together while there is room, so this check is made for each request
 * separately.
 */
function meterOf({ gate, guessPartner }: SheddingContext, rank: Rank): Meter {
  return {
    admit(request, done) {
      const reason = gate.isOpenTo(rank) ? undefined : gate.refusalOf(askerOf(request, guessPartner), rank)
      if (!reason) done()
      else sendRefusal(reason, () => done(refuse(gate, reason, request)))
    },
    note(request, { ms, bytes }) {
      request.loopMs += ms + transportMs(bytes)
    },
  }
}

function countInFlight(
  { gate, turns, resting, guessPartner }: SheddingContext,
  { rank, inTurn }: { rank: Rank; inTurn: boolean },
  handler: RouteHandlerMethod,
): RouteHandlerMethod {
  return function handleCounted(request, reply) {
    // The token endpoint checks its credentials itself.
    const asker = askerOf(request, guessPartner)
    const reason = gate.refusalOf(asker, rank)
    if (reason) {
      gate.charge(asker, request.loopMs)
      request.isCharged = true
      throw refuse(gate, reason, request)
    }
    gate.enter(asker)
    request.isCharged = true
    resting.note(partnerOf(asker))
    const endTurn = inTurn ? turns.begin(request.raw) : undefined
    const leave = () => {
      gate.leave(asker)
      endTurn?.()
      gate.charge(asker, request.loopMs + transportMs(Number(reply.getHeader('content-length') ?? 0)))
      countUntilSent(gate, asker, reply)
    }
    let answer: unknown
    const begunAt = performance.now()
    const noteTime = () => {
      request.loopMs += performance.now() - begunAt
    }
    try {
      answer = handler.call(this, request, reply)
    } catch (error) {
      noteTime()
      leave()
      throw error
    }
    noteTime()
    if (answer instanceof Promise) answer.then(leave, leave)
    else leave()
    return answer
  }
}

/**
 * Charges a request that its handler will not answer, such as one with wrong credentials; otherwise a caller that sends only
 * such requests would use up the event loop without being counted as its load. What was refused for load is not charged,
 * because a caller that repeats it would then be refused forever.
 */
function chargeRefused({ gate, guessPartner }: SheddingContext, request: FastifyRequest): void {
  if (request.isCharged || request.isShed) return
  request.isCharged = true
  // Once for reading the request, and once for its answer.
  gate.charge(askerOf(request, guessPartner), request.loopMs + 2 * transportMs(0))
}

function refuse(gate: Gate, reason: ShedReason, request: FastifyRequest): ServiceError {
  request.isShed = true
  return refusalAfter(reason, gate.noteRefusal(reason))
}
