import { errors } from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isClientGone } from '../../http/client-gone.ts'
import { asFailure, ServiceError } from '../../http/service-error.ts'
import { describeCause } from '../../log.ts'
import { setPageHeaders } from '../answer-view.ts'
import type { ProblemView } from '../views/model.ts'
import type { Exchange, PageContext, PageRoutes } from './page-context.ts'

/** Mounts routes with the headers of the page, closed to other sites; `fail` answers what they throw. */
export function mountGuarded(
  app: FastifyInstance,
  routes: PageRoutes,
  {
    mount,
    fail,
  }: {
    readonly mount: (scope: FastifyInstance) => void
    readonly fail: (exchange: Exchange, error: unknown) => Promise<FastifyReply>
  },
): void {
  void app.register(async scope => {
    scope.addHook('onRequest', async (request, reply) => {
      setPageHeaders(reply)
      checkSender(request, new URL(routes.context.baseUrl()).origin)
    })
    scope.setErrorHandler((error, _, reply) => fail({ ...routes, reply }, error))
    mount(scope)
  })
}

/**
 * Refuses requests from other sites, because forms of the page come from our own origin. Browsers that send no referrer
 * send `Origin: null` even with our own forms; then `Sec-Fetch-Site` decides. Throws `insufficient_scope`.
 */
function checkSender(request: FastifyRequest, own: string): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const isForeign = site === 'cross-site' || (!isRead && site === 'same-site')
  const isOtherOrigin = origin !== undefined && origin !== 'null' && origin !== own
  // A link and the frame are meant to be opened from other sites.
  const mayBeOpened = isRead && request.route.opensFromElsewhere === true
  if ((isForeign || isOtherOrigin) && !mayBeOpened) throw new ServiceError('insufficient_scope')
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    /** Other sites may link to this route. */
    opensFromElsewhere?: boolean
  }
}

/**
 * How each failure is presented to people; a failure that is not listed comes from a request that our pages never make.
 */
const kinds: Partial<Record<ServiceError['code'], ProblemView['kind']>> = {
  internal: 'internal',
  unavailable: 'busy',
  too_many_requests: 'busy',
  not_found: 'notfound',
  insufficient_scope: 'foreign',
}

/** The status of a failure and how it is presented to people; a failure that is not a refusal is logged in full. */
export function describeFailure(
  context: Pick<PageContext, 'log'>,
  error: unknown,
  request: FastifyRequest,
): { status: number; kind: ProblemView['kind'] } {
  const known = isClientGone(error, request) ? 'request_timeout' : undefined
  const failure = error instanceof ServiceError ? error : known ? new ServiceError(known) : asFailure(error)
  const { code } = failure
  if (code === 'internal' || (code === 'unavailable' && failure.cause))
    context.log('failure', { requestid: request.id, code, ...describeCause(failure.cause) })
  return { status: errors[code].status, kind: kinds[code] ?? 'unreadable' }
}
