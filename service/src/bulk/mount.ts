import { bulk } from '@benefit-enrolment/contract'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { onceOver } from '../http/answer-over.ts'
import { dropRest, endUnread, MOST_BYTES_OF_LINES, tooManyBytes } from '../http/body-lines.ts'
import { admitCaller, type MountContext } from '../http/mount.ts'
import { ServiceError } from '../http/service-error.ts'
import { compileCheck, queryOf } from '../http/validation.ts'
import type { Caller } from '../partners/authenticate.ts'
import {
  type AnswerContext,
  answerLines,
  dryRun,
  type LineHandlers,
  openLoopTurns,
  performLines,
  receivingOf,
} from './answer-lines.ts'
import type { OpenBulks } from './open-bulks.ts'

/** What a bulk needs from the other parts. */
type BulkContext = MountContext<Caller> &
  Omit<AnswerContext, 'perform' | 'loop'> & {
    readonly bulks: OpenBulks
    readonly handlers: LineHandlers
    /** The same handlers, which write nothing. */
    readonly dryHandlers: LineHandlers
  }

/**
 * Mounts `POST /user/bulk`, whose lines are answered as the single requests that they stand for (contract §18). Only lines
 * count for the partner's rate and for load; the bulk itself takes memory for the lines that are under way, and one of the
 * partner's eight places.
 */
export function mountBulk(app: FastifyInstance, context: BulkContext): void {
  const checkQuery = compileCheck(bulk.query, 'query')
  const live = performLines(context.handlers, context.onRefusedBody)
  const dry = dryRun(performLines(context.dryHandlers))
  const loop = openLoopTurns()
  app.route({
    method: bulk.method,
    url: context.basePath + bulk.path,
    config: { operation: bulk, takes: 'application/x-ndjson' },
    onRequest: [
      admitCaller(bulk, { ...context, limit: () => undefined }),
      (request, reply, done) => {
        const isTooLarge = Number(request.headers['content-length'] ?? 0) > MOST_BYTES_OF_LINES
        if (isTooLarge) reply.header('connection', 'close')
        done(isTooLarge ? tooManyBytes() : undefined)
      },
      takePlace(context),
    ],
    handler: (request, reply) => {
      const query = queryOf(request)
      checkQuery(query)
      endUnread(reply.raw, context.limits)
      const perform = query['dryrun'] === 'true' ? dry : live
      return reply
        .header('cache-control', 'no-store')
        .type('application/x-ndjson; charset=utf-8')
        .send(answerLines(request, reply, { ...context, perform, loop }))
    },
  })
}

/** Gives a bulk one of its partner's places until it is answered; without a free one it is refused, and its lines are dropped. */
function takePlace(context: BulkContext): onRequestHookHandler {
  return (request, reply, done) => {
    const end = context.bulks.begin(request.partnerId)
    if (end) {
      onceOver(request.raw, reply.raw, end)
      done()
      return
    }
    void dropRest(request.raw, reply.raw, receivingOf(request, context))
    const detail = 'At most 8 bulks at once: wait until one has been answered.'
    done(new ServiceError('too_many_requests', detail, { headers: { 'Retry-After': '1' } }))
  }
}
