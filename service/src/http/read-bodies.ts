import type { IncomingMessage } from 'node:http'
import type { RequestLimits } from '@benefit-enrolment/contract'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { readJson } from './json-body.ts'
import { beyond } from './request-limits.ts'
import { ServiceError } from './service-error.ts'
import { transportMs } from './shedding/shedding.ts'

const methodsWithBody = ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']

/**
 * Reads and parses the body of a request, as its route declares, once every hook has let the request pass. Refuses a
 * body above the limit with `body_too_large`.
 *
 * Fastify's own reader would make a resource for asynchronous hooks, remove its listeners one by one and copy the body.
 * So all methods are declared as having no body, for which Fastify reads nothing.
 */
export function readBodies(app: FastifyInstance, limits: RequestLimits): void {
  app.removeAllContentTypeParsers()
  for (const method of methodsWithBody) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.addHook('preHandler', (request, reply, done) => {
    const { raw } = request
    // Lines are read by their handler, as it takes them.
    if (!methodsWithBody.includes(raw.method ?? '') || request.route.takes === 'application/x-ndjson') {
      done()
      return
    }
    if (!isFollowedByBody(raw)) {
      // Clients may send a media type with every request.
      if (raw.headers['content-type'] === undefined) done()
      else parseAndGoOn(request, Buffer.alloc(0), { limits, done })
      return
    }
    readBytes(raw, limits.bodyKib * 1024, (failure, bytes) => {
      if (bytes) {
        parseAndGoOn(request, bytes, { limits, done })
        return
      }
      // The caller may go on sending, but nobody reads it.
      reply.header('connection', 'close')
      done(failure ?? beyond('body_too_large', limits))
    })
  })
}

function isFollowedByBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Reads at most `limit` bytes and calls back once: with the bytes, with a failure, or with neither when there are more. */
function readBytes(
  source: IncomingMessage,
  limit: number,
  done: (failure: Error | undefined, bytes?: Buffer) => void,
): void {
  let chunks: Buffer[] = []
  let length = 0
  let isDone = false
  const end = (failure: Error | undefined, bytes?: Buffer) => {
    if (isDone) return
    isDone = true
    chunks = []
    done(failure, bytes)
  }
  if (Number(source.headers['content-length']) > limit) {
    end(undefined)
    return
  }
  source.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > limit) end(undefined)
    else chunks.push(chunk)
  })
  source.on('end', () => end(undefined, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
  source.on('error', end)
}

type Parsing = { readonly limits: RequestLimits; readonly done: (failure?: Error) => void }

function parseAndGoOn(request: FastifyRequest, bytes: Buffer, { limits, done }: Parsing): void {
  const begunAt = performance.now()
  let fault: Error | undefined
  try {
    request.body = parse(request, bytes, limits)
  } catch (error) {
    fault = error as Error
  }
  request.loopMs += performance.now() - begunAt + transportMs(bytes.length)
  done(fault)
}

function parse({ route }: FastifyRequest, bytes: Buffer, limits: RequestLimits): unknown {
  if (route.takes === undefined && bytes.length === 0) return undefined
  if (route.takes === 'application/x-www-form-urlencoded') return bytes.toString()
  return readJson(bytes, limits.bodyNesting)
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
