import type { RequestLimits } from '@benefit-enrolment/contract'
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { beyond } from './request-limits.ts'
import { ServiceError } from './service-error.ts'

// Of two such headers, a proxy could read one and this service the other.
const onceOnly = ['authorization', 'x-api-key', 'idempotency-key', 'content-type', 'host']

/** The refusal of too many headers, of a missing Host, and of a header that was sent twice; `undefined` when all is well. */
export function checkHeaders(request: FastifyRequest, limits: RequestLimits): ServiceError | undefined {
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

/** The refusal of a body of another media type, made before the body is read; `undefined` when it may be read. */
export function wrongMediaType(
  request: FastifyRequest,
  takes: NonNullable<FastifyContextConfig['takes']>,
): ServiceError | undefined {
  const type = request.headers['content-type']
  const isPacked = request.headers['content-encoding'] !== undefined
  if (type === takes && !isPacked) return undefined
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  if (!hasBody && type === undefined) return undefined
  const sent = mediaType.exec(type ?? '')?.[1]?.toLowerCase()
  if (sent !== takes || isPacked) {
    return new ServiceError(
      'unsupported_media_type',
      takes === 'application/json' ? undefined : `Send Content-Type: ${takes}.`,
    )
  }
  return undefined
}
