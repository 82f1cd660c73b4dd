import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Operation, operations } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { uuidv7 } from '../../vault/uuid.ts'
import { errorBodyOf, speaksOAuth } from '../error-body.ts'
import { localeOf } from '../locale.ts'
import type { Rank, ShedReason } from './admission.ts'
import { partnerOf } from './gate.ts'
import { type PaceLimits, paceRefusals } from './pace-refusals.ts'
import { refusePipelined } from './pipelined.ts'
import { rankOf, refusals, sendRefusal } from './refusals.ts'
import type { SheddingContext } from './refuse-routed.ts'

/** What an early refusal also needs: the paths of the operations, and the values in its answer. */
export type EarlyContext = SheddingContext & {
  readonly basePath: string
  readonly baseUrl: () => string
  readonly real: () => number
}

/**
 * Refuses operations, or lets them wait for their turn, before the router and the hooks see the request. Under a flood
 * most requests are refused, and the time for that is lost to the admitted ones; and what the hooks make for a request
 * that waits would be copied by each garbage collection. It handles only operations whose path has no parameter; the
 * others, and pages for people, are refused behind the router with the same answers, and do not wait.
 */
export function refuseEarly(app: FastifyInstance, context: EarlyContext): void {
  const { gate, turns, resting, guessPartner, basePath } = context
  const ranks = ranksByTarget(basePath)
  const say = sayBy(context)
  const pace = paceRefusals(paceLimits)
  const timer = setInterval(pace.tick, TICK_MS).unref()
  app.addHook('preClose', done => {
    clearInterval(timer)
    pace.end()
    done()
  })
  const isPipelinedTooFar = refusePipelined()
  const [handle] = app.server.listeners('request') as RequestListener[]
  if (!handle) throw new Error('the server has no listener')
  app.server.removeListener('request', handle)
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isPipelinedTooFar(request, response)) return
    // While the server stops, only the hooks behind the router end connections, and the stop waits for them.
    const isCalm = gate.isOpenTo('ordinary') && turns.isOpen()
    const rank = isCalm || !app.server.listening ? undefined : ranks.get(targetOf(request))
    if (!rank) {
      handle(request, response)
      return
    }
    const asker = guessPartner(request) || `@${request.socket.remoteAddress}`
    const partnerId = partnerOf(asker)
    resting.note(partnerId)
    if (rank !== 'urgent') response.once('close', () => resting.answered(request.socket, partnerId))
    const reason = gate.isOpenTo(rank) ? undefined : gate.refusalOf(asker, rank)
    if (reason === 'time') sendRefusal(reason, () => say(request, response, reason))
    else if (reason) pace.pass(() => say(request, response, reason))
    else if (rank === 'urgent' || turns.isOpen()) handle(request, response)
    else {
      gate.enter(asker)
      turns.wait(partnerId, request, end => {
        gate.leave(asker)
        // Nobody would receive the answer on a connection that has closed.
        if (request.socket.destroyed) return false
        if (!end) {
          say(request, response, 'full')
          return false
        }
        // A body that arrives slowly takes no turn: such a request counts once its handler begins.
        const { complete } = request
        if (complete) response.once('close', end)
        handle(request, response)
        return complete
      })
    }
  })
}

const TICK_MS = 50
/** 1,000 refusals a second, and five seconds. */
const paceLimits: PaceLimits = { perTick: 50, longestTicks: 100 }

function targetOf({ method = '', url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return `${method} ${query < 0 ? url : url.slice(0, query)}`
}

function ranksByTarget(basePath: string): ReadonlyMap<string, Rank> {
  const known = new Map<string, Rank>()
  for (const operation of Object.values(operations) as Operation[]) {
    const rank = rankOf(operation.id)
    if (rank && !operation.path.includes('{'))
      known.set(`${operation.method} ${basePath}${operation.path}`, rank)
  }
  return known
}

/** Answers a refused request, which no hook has seen. */
function sayBy({ gate, baseUrl, basePath, real }: EarlyContext) {
  return ({ url = '', headers }: IncomingMessage, response: ServerResponse, reason: ShedReason): void => {
    const requestId = uuidv7(real())
    const locale = localeOf(headers['accept-language'])
    const isOAuth = speaksOAuth(url, basePath)
    const { type, text } = errorBodyOf(refusals[reason], { requestId, baseUrl: baseUrl(), locale, isOAuth })
    response.writeHead(503, {
      'Request-Id': requestId,
      'Retry-After': String(gate.noteRefusal(reason)),
      ...(isOAuth ? { 'Cache-Control': 'no-store' } : { 'Content-Language': locale }),
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(text),
    })
    response.end(text)
  }
}
