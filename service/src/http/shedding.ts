import type { IncomingHttpHeaders } from 'node:http'
import type { OperationId } from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Rank, ShedReason } from './admission.ts'
import type { Gate } from './gate.ts'
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
export const rankOf = (operationId: string): Rank | undefined =>
  neverShed.has(operationId) ? undefined : (ranks[operationId] ?? 'ordinary')

/**
 * Refuses what there is no room for with 503 `unavailable` and Retry-After, on every route that is mounted after this
 * but health and readiness. It is asked twice: before credentials and body are read, so that a refusal costs nearly
 * nothing, and before the work begins, when it is known who asks. Only work counts as in flight, not a body that is
 * slow to come: otherwise a few slow senders would close the service to everybody.
 */
export const shedOverload = (app: FastifyInstance, context: SheddingContext): void => {
  app.addHook('onRoute', route => {
    const rank = rankOf(route.config?.operation?.id ?? '')
    if (!rank) return
    route.onRequest = [doorOf(context, rank), ...[route.onRequest ?? []].flat()]
    route.handler = counted(context, rank, route.handler)
  })
}

/** What is left of the body is skipped by Node, and the connection stays: a new one would cost more than the refusal. */
const doorOf =
  ({ gate, claimantOf }: SheddingContext, rank: Rank) =>
  (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    if (gate.isOpenTo(rank)) {
      done()
      return
    }
    const reason = gate.refusalOf(claimantOf(request), rank)
    done(reason && refuse(gate, reason, { request, reply }))
  }

const counted = (
  { gate, claimantOf }: SheddingContext,
  rank: Rank,
  handler: RouteHandlerMethod,
): RouteHandlerMethod =>
  function handleCounted(request, reply) {
    // The token endpoint checks its credentials itself.
    const partnerId = request.partnerId || claimantOf(request)
    const reason = gate.refusalOf(partnerId, rank)
    if (reason) throw refuse(gate, reason, { request, reply })
    gate.enter(partnerId)
    const leave = () => gate.leave(partnerId)
    let answer: unknown
    try {
      answer = handler.call(this, request, reply)
    } catch (error) {
      leave()
      throw error
    }
    if (answer instanceof Promise) answer.then(leave, leave)
    else leave()
    return answer
  }

const refuse = (
  gate: Gate,
  reason: ShedReason,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): ServiceError => {
  request.isShed = true
  reply.header('Retry-After', String(gate.noteRefusal(reason)))
  return refusals[reason]
}

// Made once: to make an error costs more than all else about a refusal.
const busy = new ServiceError('unavailable')
/** What a refusal says, by its reason. */
export const refusals: Readonly<Record<ShedReason, ServiceError>> = {
  full: busy,
  delay: busy,
  share: new ServiceError(
    'unavailable',
    'You have more requests in flight than your share while others wait: send fewer at once, and try again after the time in Retry-After.',
  ),
}
