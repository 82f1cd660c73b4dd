import type { Socket } from 'node:net'
import { errors, type RequestLimits } from '@benefit-enrolment/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeCause } from '../log.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { isReadByLines } from './body-lines.ts'
import { isClientGone } from './client-gone.ts'
import { errorBodyOf, speaksOAuth } from './error-body.ts'
import { localeOf } from './locale.ts'
import { problemOf } from './problem.ts'
import type { RequestCounts } from './request-counts.ts'
import { beyond } from './request-limits.ts'
import { asFailure, ServiceError } from './service-error.ts'

/** What the answer to an error is made of. */
export type ProblemContext = {
  /** Absolute address of the service with its stage path and without a slash at the end. */
  readonly baseUrl: () => string
  readonly basePath: string
  readonly log: (event: string, fields: Record<string, unknown>) => void
  readonly real: () => number
  readonly limits: RequestLimits
  readonly counts: RequestCounts
}

/** What a handler, a hook or Fastify has thrown, as an error of the API; `internal` when it is none. */
export function asServiceError(error: unknown, limits: RequestLimits, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error
  if (isClientGone(error, request)) return beyond('request_timeout', limits)
  return asFailure(error)
}

/**
 * Answers an error in the form for its path. An error that is not a refusal is logged in full, and answered with a
 * request id only.
 */
export function sendProblem(
  context: ProblemContext,
  error: ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status } = errors[error.code]
  logFailure(context, error, request.id)
  if (status === 503 && !reply.hasHeader('Retry-After')) reply.header('Retry-After', '1')
  for (const [name, value] of Object.entries(error.headers)) reply.header(name, value)
  const locale = localeOf(request.headers['accept-language'])
  const isOAuth = speaksOAuth(request.url, context.basePath)
  const body = errorBodyOf(error, { requestId: request.id, baseUrl: context.baseUrl(), locale, isOAuth })
  if (isOAuth) reply.header('Cache-Control', 'no-store')
  else reply.header('Content-Language', locale)
  return reply.code(status).type(body.type).send(body.text)
}

/** Logs an error in full, unless it is a refusal. */
export function logFailure(
  { log }: Pick<ProblemContext, 'log'>,
  error: ServiceError,
  requestId: string,
): void {
  if (error.code === 'internal' || (error.code === 'unavailable' && error.cause))
    log('failure', { requestid: requestId, code: error.code, ...describeCause(error.cause) })
}

/** A request that Node could not even parse also gets a problem document; then the connection ends. */
export function answerBrokenRequest(
  context: ProblemContext,
  error: Error & { code?: string },
  socket: Socket,
): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isReadByLines(socket)) return
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
  // Somebody who never closes would hold the connection for a minute.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nRequest-Id: ${requestId}\r\nConnection: close\r\n` +
      `Content-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

const LINGER_MS = 5000
