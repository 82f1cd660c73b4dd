import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { ServiceError } from '../service-error.ts'
import { type Rank, type ShedReason, transportMs } from './admission.ts'
import { type Asker, type Gate, partnerOf } from './gate.ts'
import { rankOf, refusalAfter, sendRefusal, takesTurns } from './refusals.ts'
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
  app.decorateRequest('isCharged', false)
  app.addHook('onError', (request, _reply, _error, done) => {
    chargeRefused(context, request)
    done()
  })
  app.addHook('onRoute', route => {
    const { operation } = route.config ?? {}
    const rank = rankOf(operation?.id ?? '')
    if (!rank) return
    const admit = admission(context, rank)
    route.config = { ...route.config, admit }
    // Node discards the rest of a refused body, and the connection stays open: a new one would cost more than the refusal.
    route.onRequest = [(request, _reply, done) => admit(request, done), ...[route.onRequest ?? []].flat()]
    const inTurn = operation !== undefined && takesTurns(operation)
    route.handler = countInFlight(context, { rank, inTurn }, route.handler)
  })
}

/** Lets a request go on, or refuses it. */
type Admit = (request: FastifyRequest, done: (refusal?: ServiceError) => void) => void

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    /** Asked before a body that has arrived is parsed. */
    admit?: Admit
  }
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyRequest {
    /** Time of the event loop that the request has taken; charged at once when it is answered, since each charge costs 1 µs. */
    loopMs: number
    /** Whether its time was charged, or will be once its handler has answered. */
    isCharged: boolean
  }
}

/** The asker, as far as memory knows. */
function askerOf(request: FastifyRequest, guessPartner: SheddingContext['guessPartner']): Asker {
  return request.partnerId || guessPartner(request) || `@${request.ip}`
}

/** Many requests may pass a check together while there is room, so each request is checked again once its body has arrived. */
function admission({ gate, guessPartner }: SheddingContext, rank: Rank): Admit {
  return (request, done) => {
    const reason = gate.isOpenTo(rank) ? undefined : gate.refusalOf(askerOf(request, guessPartner), rank)
    if (!reason) done()
    else sendRefusal(reason, () => done(refuse(gate, reason, request)))
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
    const begunAt = performance.now()
    let answer: unknown
    try {
      answer = handler.call(this, request, reply)
    } finally {
      request.loopMs += performance.now() - begunAt
      if (answer instanceof Promise) answer.then(leave, leave)
      else leave()
    }
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
