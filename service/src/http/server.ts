import type { Socket } from 'node:net'
import { type ErrorCode, errors, type Operation, type RequestLimits } from '@benefit-enrolment/contract'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { CommitUnknown } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { describeCause } from '../log.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { errorBodyOf, speaksOAuth } from './error-body.ts'
import { readJson } from './json-body.ts'
import { localeOf, problemOf } from './problem.ts'
import { remedyOf } from './request-limits.ts'
import { ServiceError } from './service-error.ts'

/** What every route knows of its operation. */
declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
    /** The only media type that the route takes; absent: it takes no body. */
    takes?: 'application/json' | 'application/x-www-form-urlencoded'
  }
}

/** What the HTTP layer needs of its surroundings. */
export type ServerContext = {
  /** Absolute address of the service with its stage path and without a slash at the end. */
  readonly baseUrl: () => string
  readonly basePath: string
  readonly trustProxy: readonly string[]
  readonly log: (event: string, fields: Record<string, unknown>) => void
  readonly real: () => number
  readonly limits: RequestLimits
}

const onceOnly = ['authorization', 'x-api-key', 'idempotency-key', 'content-type']

/** Makes the HTTP server with the limits of trust.md and every error as a problem; routes are mounted by others. */
export const createServer = (context: ServerContext): FastifyInstance => {
  const { limits } = context
  const app = Fastify({
    logger: false,
    genReqId: () => uuidv7(context.real()),
    requestIdHeader: false,
    bodyLimit: limits.bodyKib * 1024,
    requestTimeout: limits.requestSeconds * 1000,
    connectionTimeout: 70_000,
    keepAliveTimeout: 65_000,
    maxRequestsPerSocket: 1000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    trustProxy: context.trustProxy.length > 0 ? [...context.trustProxy] : false,
    // Userids stand in paths: 128 characters, percent-encoded, of up to four bytes.
    routerOptions: { maxParamLength: 2000, ignoreTrailingSlash: false },
    // Node would refuse a missing Host without a request id: we do it ourselves.
    // Looked for every second: every 30, as Node does by itself, the time-outs would be up to three times as long.
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
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const { takes } = request.routeOptions.config
      // Clients name a media type with every request; without a body there is nothing to read.
      if (takes === undefined && body.length === 0) done(null, undefined)
      else if (takes === 'application/x-www-form-urlencoded') done(null, body.toString())
      else done(null, readJson(body as Buffer, limits.bodyNesting))
    } catch (error) {
      done(error as Error)
    }
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('Request-Id', request.id)
    done(checkHeaders(request, limits) ?? (request.is404 ? missing(routes, request) : undefined))
  })
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const wrong = checkMediaType(request)
    if (wrong) done(wrong)
    else done(null, payload)
  })
  app.setErrorHandler((error, request, reply) =>
    sendProblem(context, asServiceError(error, limits), request, reply),
  )
  app.setNotFoundHandler((request, reply) => sendProblem(context, missing(routes, request), request, reply))
  app.addHook('onResponse', (request, reply, done) => {
    if (request.isShed) {
      done()
      return
    }
    const { operation } = request.routeOptions.config
    context.log('request', {
      requestid: request.id,
      method: request.method,
      route: operation?.path ?? request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(request.partnerId ? { partnerid: request.partnerId } : {}),
    })
    done()
  })
  app.decorateRequest('partnerId', '')
  app.decorateRequest('isShed', false)
  // An expectation that we do not know is ignored (RFC 9110 §10.1.1 allows it): Node would answer 417 by itself.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  endConnectionsOnClose(app)
  return app
}

const longestStopMs = 10_000

/**
 * Lets a stop end soon. Node closes the connections that are idle when the stop begins; one that becomes idle after
 * that, or has sent nothing yet, would hold the stop for as long as a connection is kept alive.
 */
const endConnectionsOnClose = (app: FastifyInstance): void => {
  const sockets = new Set<Socket>()
  let isClosing = false
  let lastResort: NodeJS.Timeout | undefined
  app.server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', done => {
    isClosing = true
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    lastResort = setTimeout(() => app.server.closeAllConnections(), longestStopMs)
    done()
  })
  app.addHook('onResponse', (_request, _reply, done) => {
    if (isClosing) setImmediate(() => app.server.closeIdleConnections())
    done()
  })
  app.addHook('onClose', (_app, done) => {
    clearTimeout(lastResort)
    done()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who was authenticated; "" before. */
    partnerId: string
    /** Refused because there is too much to do; such requests are told in sums, not one by one. */
    isShed: boolean
  }
}

/** Too many headers, or one twice that must not be. */
const checkHeaders = (request: FastifyRequest, limits: RequestLimits): ServiceError | undefined => {
  const { rawHeaders, headers, httpVersion } = request.raw
  if (httpVersion === '1.1' && headers.host === undefined)
    return new ServiceError('bad_request', 'Send a Host header.')
  if (rawHeaders.length > limits.headers * 2) return beyond('headers_too_large', limits)
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const bit = 1 << onceOnly.indexOf((rawHeaders[index] ?? '').toLowerCase())
    // indexOf gives -1 for other headers: the highest bit, which is not counted.
    if (bit < 0) continue
    if ((seen & bit) !== 0) return new ServiceError('duplicate_header')
    seen |= bit
  }
  return undefined
}

const mediaType = /^\s*([\w.+-]+\/[\w.+-]+)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** The media type is compared before the body is read. */
const checkMediaType = (request: FastifyRequest): ServiceError | undefined => {
  const { takes } = request.routeOptions.config
  const type = request.headers['content-type']
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  if (!takes || (!hasBody && type === undefined)) return undefined
  const sent = mediaType.exec(type ?? '')?.[1]?.toLowerCase()
  if (sent !== takes || request.headers['content-encoding'] !== undefined) {
    return new ServiceError(
      'unsupported_media_type',
      takes === 'application/json' ? undefined : `Send Content-Type: ${takes}.`,
    )
  }
  return undefined
}

type KnownRoute = { readonly methods: readonly string[]; readonly pattern: RegExp }

/** A path that exists with other methods is 405, any other 404. */
const missing = (routes: readonly KnownRoute[], request: FastifyRequest): ServiceError => {
  const path = request.url.split('?')[0] ?? ''
  const allowed = new Set(routes.filter(route => route.pattern.test(path)).flatMap(route => route.methods))
  if (allowed.size === 0) return new ServiceError('not_found')
  const names = [...allowed].sort()
  return new ServiceError('method_not_allowed', `This path takes ${names.join(' and ')}.`, {
    headers: { Allow: names.join(', ') },
  })
}

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`)

/** An error of a request that may have gone beyond a limit: it tells the limit of this service. */
const beyond = (code: ErrorCode, limits: RequestLimits): ServiceError =>
  new ServiceError(code, remedyOf(code, limits))

const fastifyCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_BAD_URL: 'bad_request',
}

const asServiceError = (error: unknown, limits: RequestLimits): ServiceError => {
  if (error instanceof ServiceError) return error
  const code = (error as { code?: string }).code ?? ''
  const known = fastifyCodes[code]
  if (known) return beyond(known, limits)
  const isGone = code === 'ECONNRESET' && error instanceof Error && error.message === 'aborted'
  if (isGone || code === 'ERR_STREAM_PREMATURE_CLOSE') return beyond('request_timeout', limits)
  // A database that cannot be reached is no fault of ours, wherever it was asked.
  if (error instanceof CommitUnknown || failureOf(error).unavailable)
    return new ServiceError('unavailable', undefined, { cause: error })
  return new ServiceError('internal', undefined, { cause: error })
}

/** Answers an error in the form of its path; what is not a refusal is logged whole and answered with a request id only. */
export const sendProblem = (
  context: ServerContext,
  error: ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
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

/** A request that Node could not even parse gets a problem too, then the connection ends. */
const answerBrokenRequest = (
  context: ServerContext,
  error: Error & { code?: string },
  socket: Socket,
): void => {
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
  context.log('request', { requestid: requestId, method: '(none)', route: '(none)', status: problem.status })
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nRequest-Id: ${requestId}\r\nConnection: close\r\n` +
      `Content-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
