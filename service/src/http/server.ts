import type { Socket } from 'node:net'
import { type ErrorCode, errors, type Operation, type RequestLimits } from '@benefit-enrolment/contract'
import Fastify, {
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { describeCause } from '../log.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { isClientGone } from './client-gone.ts'
import { errorBodyOf, speaksOAuth } from './error-body.ts'
import { localeOf } from './locale.ts'
import { problemOf } from './problem.ts'
import { readBodies } from './read-bodies.ts'
import type { OperationCounts, RequestCounts } from './request-counts.ts'
import { remedyOf } from './request-limits.ts'
import { asFailure, ServiceError } from './service-error.ts'

/** What every route knows about its operation. */
declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface FastifyContextConfig {
    operation?: Operation
    /** The only media type that the route accepts; absent: it accepts no body. */
    takes?: 'application/json' | 'application/x-www-form-urlencoded' | 'multipart/form-data'
    /** The most bytes that a body may have; absent: the service's own limit. */
    bodyLimit?: number
    /** The counts to which its answers are added. */
    counts?: OperationCounts
  }
}

/** What the HTTP layer needs from the other parts. */
type ServerContext = {
  /** Absolute address of the service with its stage path and without a slash at the end. */
  readonly baseUrl: () => string
  readonly basePath: string
  readonly trustProxy: readonly string[]
  readonly log: (event: string, fields: Record<string, unknown>) => void
  readonly real: () => number
  readonly limits: RequestLimits
  readonly counts: RequestCounts
  /** Whether each request is logged; absent: it is. Health probes never are. */
  readonly logsRequests?: boolean
  /** Called for each request, before anything else. */
  readonly onRequest?: () => void
  /** Whether the process is about to end, so that callers should open a new connection. */
  readonly isClosing?: () => boolean
}

const onceOnly = ['authorization', 'x-api-key', 'idempotency-key', 'content-type', 'host']

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
    // Paths contain userids: 128 characters of up to four bytes each, percent-encoded.
    routerOptions: { maxParamLength: 2000, ignoreTrailingSlash: false },
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
    routes.push({ methods: [route.method].flat(), pattern: patternOf(route.url) })
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
  app.addHook('onRequest', (request, reply, done) => {
    request.begunAt = performance.now()
    request.route = request.routeOptions.config
    context.onRequest?.()
    reply.header('request-id', request.id)
    setSecurityHeaders(context, request, reply)
    done(checkHeaders(request, limits) ?? (request.is404 ? unknownRoute(routes, request) : undefined))
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

function noteAnswer(context: ServerContext, request: FastifyRequest, reply: FastifyReply): void {
  const { route } = request
  const ms = performance.now() - request.begunAt
  const counts = route?.counts ?? context.counts.of('none')
  counts.note(reply.statusCode, ms)
  if (context.logsRequests === false || isProbe(route?.operation)) return
  context.log('request', {
    requestid: request.id,
    method: request.method,
    route: route?.operation?.path ?? route?.url ?? '(none)',
    status: reply.statusCode,
    ms: Math.round(ms * 10) / 10,
    partnerid: request.partnerId || undefined,
  })
}

const LONGEST_STOP_MS = 10_000
const END_IDLE_EVERY_MS = 20

/**
 * Lets a stop end soon. Node closes the connections that are idle when the stop begins. A connection that becomes idle
 * later, or has sent nothing yet, would delay the stop for as long as connections are kept alive.
 */
function endConnectionsOnClose(app: FastifyInstance): void {
  const sockets = new Set<Socket>()
  let lastResort: NodeJS.Timeout | undefined
  let endIdle: NodeJS.Timeout | undefined
  app.server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', done => {
    lastResort = setTimeout(() => app.server.closeAllConnections(), LONGEST_STOP_MS)
    endIdle = setInterval(() => app.server.closeIdleConnections(), END_IDLE_EVERY_MS)
    // The event loop first reads what has arrived: closing a connection with an unread request would reset it.
    setImmediate(() =>
      setImmediate(() => {
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
        done()
      }),
    )
  })
  app.addHook('onClose', (_app, done) => {
    clearTimeout(lastResort)
    clearInterval(endIdle)
    done()
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

/** Refuses too many headers, and a repeated header that must not be repeated. */
function checkHeaders(request: FastifyRequest, limits: RequestLimits): ServiceError | undefined {
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

const mediaType = /^\s*([\w.+-]+\/[\w.+-]+)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

const withFiles = /^(multipart\/form-data);\s*boundary=/i

/** The media type is compared before the body is read. */
function wrongMediaType(
  request: FastifyRequest,
  takes: NonNullable<FastifyContextConfig['takes']>,
): ServiceError | undefined {
  const type = request.headers['content-type']
  const isPacked = request.headers['content-encoding'] !== undefined
  if (type === takes && !isPacked) return undefined
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  if (!hasBody && type === undefined) return undefined
  const sent = (withFiles.exec(type ?? '') ?? mediaType.exec(type ?? ''))?.[1]?.toLowerCase()
  if (sent !== takes || isPacked) {
    return new ServiceError(
      'unsupported_media_type',
      takes === 'application/json' ? undefined : `Send Content-Type: ${takes}.`,
    )
  }
  return undefined
}

type KnownRoute = { readonly methods: readonly string[]; readonly pattern: RegExp }

/** A path that exists with other methods is 405, any other is 404. */
function unknownRoute(routes: readonly KnownRoute[], request: FastifyRequest): ServiceError {
  const path = request.url.split('?')[0] ?? ''
  const allowed = new Set(routes.filter(route => route.pattern.test(path)).flatMap(route => route.methods))
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

/** An error of a request that may have exceeded a limit; it names the limit of this service. */
function beyond(code: ErrorCode, limits: RequestLimits): ServiceError {
  return new ServiceError(code, remedyOf(code, limits))
}

/** Security headers for every answer; pages also get those that switch off browser features that no page uses. */
function setSecurityHeaders(context: ServerContext, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-content-type-options', 'nosniff')
  if (context.isClosing?.()) reply.header('Connection', 'close')
  if (context.baseUrl().startsWith('https:')) reply.header('Strict-Transport-Security', 'max-age=31536000')
  if (request.route.operation) return
  reply.header('Cross-Origin-Opener-Policy', 'same-origin')
  reply.header('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()')
}

function asServiceError(error: unknown, limits: RequestLimits, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error
  if (isClientGone(error, request)) return beyond('request_timeout', limits)
  return asFailure(error)
}

/**
 * Answers an error in the form for its path. An error that is not a refusal is logged in full, and answered with a
 * request id only.
 */
function sendProblem(
  context: ServerContext,
  error: ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status } = errors[error.code]
  if (error.code === 'internal' || (error.code === 'unavailable' && error.cause)) {
    context.log('failure', { requestid: request.id, code: error.code, ...describeCause(error.cause) })
  }
  if (status === 503 && !reply.hasHeader('Retry-After')) reply.header('Retry-After', '1')
  for (const [name, value] of Object.entries(error.headers)) reply.header(name, value)
  const locale = localeOf(request.headers['accept-language'])
  const isOAuth = speaksOAuth(request.url, context.basePath)
  const body = errorBodyOf(error, { requestId: request.id, baseUrl: context.baseUrl(), locale, isOAuth })
  if (isOAuth) reply.header('Cache-Control', 'no-store')
  else reply.header('Content-Language', locale)
  return reply.code(status).type(body.type).send(body.text)
}

/** A request that Node could not even parse also gets a problem document; then the connection ends. */
function answerBrokenRequest(context: ServerContext, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : 'bad_request'
  const requestId = uuidv7(context.real())
  const problem = problemOf(
    code === 'bad_request'
      ? new ServiceError(code, 'The request is not valid HTTP.')
      : beyond(code, context.limits),
    {
      requestId,
      baseUrl: context.baseUrl(),
      locale: 'en',
    },
  )
  const body = JSON.stringify(problem)
  context.counts.of('none').note(problem.status, 0)
  context.log('request', { requestid: requestId, method: '(none)', route: '(none)', status: problem.status })
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nRequest-Id: ${requestId}\r\nConnection: close\r\n` +
      `Content-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
