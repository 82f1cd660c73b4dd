import type { Socket } from 'node:net'
import { type ErrorCode, errors, type Operation } from '@benefit-enrolment/contract'
import Fastify, {
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { tracing } from '../tracing.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { endConnectionsOnClose } from './end-connections.ts'
import { readBodies, wrongMediaType } from './read-bodies.ts'
import type { OperationCounts } from './request-counts.ts'
import { beyond } from './request-limits.ts'
import { traceRequests } from './request-spans.ts'
import { answerBrokenRequest, asServiceError, type ProblemContext, sendProblem } from './send-problem.ts'
import { ServiceError } from './service-error.ts'
import { traceIdOf, traceparentOf } from './trace-context.ts'

/** What every route knows about its operation. */
declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    operation?: Operation
    /** The only media type that the route accepts; absent: it accepts no body. */
    takes?: 'application/json' | 'application/x-ndjson' | 'application/x-www-form-urlencoded'
    /** The counts to which its answers are added. */
    counts?: OperationCounts
  }
}

/** What the HTTP layer needs from the other parts. */
type ServerContext = ProblemContext & {
  readonly trustProxy: readonly string[]
  /** Whether each request is logged; absent: it is. Health probes never are. */
  readonly logsRequests?: boolean
  /** Called for each request, before anything else. */
  readonly onRequest?: () => void
  /** Whether the process is about to end, so that callers should open a new connection. */
  readonly isLeaving?: () => boolean
}

/**
 * Creates the HTTP server, with limits on size, count and time, and with every error as a problem document. Other parts
 * mount the routes.
 */
export function createServer(context: ServerContext): FastifyInstance {
  const { limits } = context
  context.counts.of('none', [400, 404])
  const app = Fastify({
    logger: false,
    genReqId: () => uuidv7(context.real()),
    requestIdHeader: false,
    requestTimeout: limits.requestSeconds * 1000,
    connectionTimeout: 70_000,
    keepAliveTimeout: 65_000,
    maxRequestsPerSocket: 1000,
    forceCloseConnections: 'idle',
    // A request that still arrives on an open connection is served: Fastify's own 503 would refuse it during a rolling
    // restart, without a Request-Id and in a form that no description has.
    return503OnClosing: false,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    trustProxy: context.trustProxy.length > 0 ? [...context.trustProxy] : false,
    // Whatever fits into the headers is a parameter, so that the check of its operation names it.
    routerOptions: { maxParamLength: limits.headersKib * 1024, ignoreTrailingSlash: false },
    // A client of a proxy may send the whole address (RFC 9112 §3.2.2); all that looks at the path gets the path.
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?]*/i, '') || '/',
    // Node would refuse a missing Host without a request id, so the service checks it itself. Node checks time-outs
    // every 30 s by default, which would let them overrun threefold, so it checks every second here.
    http: {
      headersTimeout: limits.headersSeconds * 1000,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: limits.headersKib * 1024,
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(context, error, socket as Socket),
    frameworkErrors: (_error, request, reply) => {
      // No hook has run for such a request.
      reply.header('Request-Id', request.id)
      void sendProblem(
        context,
        new ServiceError('bad_request', 'The path is not valid: check its percent-encoding.'),
        request as FastifyRequest,
        reply as FastifyReply,
      )
    },
  })
  const routes: KnownRoute[] = []
  app.addHook('onRoute', route => {
    const { method, url } = route
    routes.push({ methods: [method].flat(), pattern: patternOf(url), hasParameters: /[:*]/.test(url) })
    const { takes, operation } = route.config ?? {}
    route.config = { ...route.config, counts: countsOf(context, route.url, operation) }
    // This check is the last before the body is read; the caller was authenticated before.
    if (takes)
      route.onRequest = [
        ...[route.onRequest ?? []].flat(),
        (request, _reply, done) => done(wrongMediaType(request, takes)),
      ]
  })
  readBodies(app, limits)
  if (tracing) traceRequests(app, tracing, route => (isProbe(route.operation) ? undefined : nameOf(route)))
  app.addHook('onRequest', (request, reply, done) => {
    request.begunAt = performance.now()
    request.route = request.routeOptions.config
    context.onRequest?.()
    reply.header('request-id', request.id)
    setSecurityHeaders(context, request, reply)
    done(checkHeaders(request, context) ?? (request.is404 ? unknownRoute(routes, request) : undefined))
  })
  app.setErrorHandler((error, request, reply) =>
    sendProblem(context, asServiceError(error, limits, request), request, reply),
  )
  app.setNotFoundHandler((request, reply) =>
    sendProblem(context, unknownRoute(routes, request), request, reply),
  )
  // Logged when the answer is sent, not after it was received: waiting for that costs more than everything else about
  // the line.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!request.isShed) noteAnswer(context, request, reply)
    done(null, payload)
  })
  app.decorateRequest('begunAt', 0)
  app.decorateRequest('loopMs', 0)
  app.decorateRequest('route', undefined as never)
  app.decorateRequest('partnerId', '')
  app.decorateRequest('caller', undefined)
  app.decorateRequest('isShed', false)
  // RFC 9110 §10.1.1 allows a server to ignore an unknown expectation; Node would answer 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  endConnectionsOnClose(app)
  return app
}

/** The counts for a route's answers: an operation's own, by its id; one for the whole page; and one for all others. */
function countsOf(
  { counts, basePath }: ServerContext,
  url: string,
  operation: Operation | undefined,
): OperationCounts {
  if (operation)
    return counts.of(operation.id, [
      200,
      ...new Set(
        [...operation.errors, 'internal', 'unavailable'].map(code => errors[code as ErrorCode].status),
      ),
    ])
  return counts.of(url.startsWith(`${basePath}/register`) ? 'page' : 'other', [200, 500])
}

/** Load balancers and orchestrators probe every few seconds; only changes of readiness are logged. */
function isProbe(operation: Operation | undefined): boolean {
  return operation?.id === 'getHealth' || operation?.id === 'getReadiness'
}

/** The pattern of a route, without values. */
function nameOf(route: FastifyRequest['route'] | undefined): string {
  return route?.operation?.path ?? route?.url ?? '(none)'
}

function noteAnswer(context: ServerContext, request: FastifyRequest, reply: FastifyReply): void {
  const { route } = request
  const ms = performance.now() - request.begunAt
  const counts = route?.counts ?? context.counts.of('none')
  counts.note(reply.statusCode, ms)
  if (context.logsRequests === false || isProbe(route?.operation)) return
  const traceparent = traceparentOf(request.headers)
  context.log('request', {
    requestid: request.id,
    method: request.method,
    route: nameOf(route),
    status: reply.statusCode,
    ms: Math.round(ms * 10) / 10,
    partnerid: request.partnerId || undefined,
    trace: traceparent && traceIdOf(traceparent),
  })
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyRequest {
    /** When the request was first seen, by the clock of `performance`. */
    begunAt: number
    /** The settings of its route. `routeOptions` has them too, but makes an object of all options each time. */
    route: FastifyContextConfig & { readonly url?: string }
    /** The authenticated partner; "" before authentication. */
    partnerId: string
    /** Who calls an operation, once that is known. */
    caller: unknown
    /** Refused because of load; such requests are logged as sums, not one by one. */
    isShed: boolean
  }
}

type KnownRoute = {
  readonly methods: readonly string[]
  readonly pattern: RegExp
  readonly hasParameters: boolean
}

/** A path that exists with other methods is 405, any other is 404. */
function unknownRoute(routes: readonly KnownRoute[], request: FastifyRequest): ServiceError {
  const path = request.url.split('?')[0] ?? ''
  const matching = routes.filter(route => route.pattern.test(path))
  // A path of its own, such as `/user/linktoken/result`, is no value of a parameter of another path.
  const own = matching.filter(route => !route.hasParameters)
  const allowed = new Set((own.length > 0 ? own : matching).flatMap(route => route.methods))
  if (allowed.size === 0) return new ServiceError('not_found')
  const names = [...allowed].sort()
  return new ServiceError('method_not_allowed', `This path takes ${names.join(' and ')}.`, {
    headers: { Allow: names.join(', ') },
  })
}

function patternOf(url: string): RegExp {
  const text = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${text.replaceAll('*', '.*').replace(/:\w+/g, '[^/]+')}$`)
}

/** Security headers for every answer; pages also get those that switch off browser features that no page uses. */
function setSecurityHeaders(context: ServerContext, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-content-type-options', 'nosniff')
  if (context.isLeaving?.()) reply.header('Connection', 'close')
  if (context.baseUrl().startsWith('https:')) reply.header('Strict-Transport-Security', 'max-age=31536000')
  if (request.route.operation) return
  reply.header('Cross-Origin-Opener-Policy', 'same-origin')
  reply.header('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()')
}

// Of two such headers, a proxy could read one and this service the other.
const onceOnly = ['authorization', 'x-api-key', 'idempotency-key', 'content-type', 'host']

/** The refusal of too many headers, of a missing Host, and of a header that was sent twice; `undefined` when all is well. */
function checkHeaders(
  request: FastifyRequest,
  { limits }: Pick<ServerContext, 'limits'>,
): ServiceError | undefined {
  const { rawHeaders, headers, httpVersion } = request.raw
  if (httpVersion === '1.1' && headers.host === undefined)
    return new ServiceError('bad_request', 'Send a Host header.')
  if (rawHeaders.length > limits.headers * 2) return beyond('headers_too_large', limits)
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const bit = 1 << onceOnly.indexOf((rawHeaders[index] ?? '').toLowerCase())
    // indexOf returns -1 for other headers: the highest bit, which is not counted.
    if (bit < 0) continue
    if ((seen & bit) !== 0) return new ServiceError('duplicate_header')
    seen |= bit
  }
  return undefined
}
