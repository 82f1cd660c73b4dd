import { bulk } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { MOST_BYTES_OF_LINES, tooManyBytes } from '../http/body-lines.ts'
import { admitCaller, type MountContext } from '../http/mount.ts'
import { compileCheck, queryOf } from '../http/validation.ts'
import type { Caller } from '../partners/authenticate.ts'
import { type AnswerContext, answerLines, type LineHandlers, performers } from './answer-lines.ts'

/** What a bulk needs from the other parts. */
type BulkContext = MountContext<Caller> &
  Omit<AnswerContext, 'perform'> & {
    readonly handlers: LineHandlers
    /** The same handlers, which write nothing. */
    readonly dryHandlers: LineHandlers
  }

/**
 * Mounts `POST /user/bulk`, whose lines are answered as the single requests that they stand for (contract §18). Only lines
 * count for the partner's rate and for load; the bulk itself takes memory for the lines that are under way.
 */
export function mountBulk(app: FastifyInstance, context: BulkContext): void {
  const checkQuery = compileCheck(bulk.query, 'query')
  const live = performers(context.handlers, context.onRefusedBody)
  const dry = performers(context.dryHandlers)
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
    ],
    handler: (request, reply) => {
      const query = queryOf(request)
      checkQuery(query)
      const perform = query['dryrun'] === 'true' ? dry : live
      return reply
        .header('cache-control', 'no-store')
        .type('application/x-ndjson; charset=utf-8')
        .send(answerLines(request, { ...context, perform }))
    },
  })
}
