import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { exampleAdvance } from '@benefit-enrolment/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { weighed } from './locale.ts'

/** The content of a public document before compression. */
export type DocumentSource = {
  readonly type: string
  readonly content: string | Buffer
  /** Further headers of every answer, 304 included. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long caches may use it without asking again; 300 s when absent. */
  readonly maxAgeSeconds?: number
}

/** The encodings of a body, in the service's order of preference. */
type Encoding = 'br' | 'gzip' | 'identity'
type PreparedDocument = {
  readonly source: Omit<DocumentSource, 'content'>
  readonly plain: Buffer
  readonly hash: string
  readonly encodings: ReadonlySet<Encoding>
  /** The body in each encoding that a request has asked for. */
  readonly forms: Map<Encoding, Promise<Buffer>>
}

/** Sends a document of this key, made by the first request for it. */
type SendDocument<Key extends string> = (
  key: Key,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>

const DEFAULT_MAX_AGE_SECONDS = 300
/** Below this size, a compressed body with its header is hardly smaller. */
const LEAST_COMPRESSED_BYTES = 600

/**
 * Keeps public documents ready to send. Each is made once, and compressed once in each encoding that is asked for, however many
 * callers ask at the same time, and is then answered from memory with `ETag`, `max-age` and 304. So the first request for a
 * document is the most expensive one, and `make` must stay far below what a request may cost (tests/trust/cost). `Key` must be
 * one of a few values, because nothing is ever dropped. Rejects with the error of `make`; the next request tries again.
 */
export function keepDocuments<Key extends string>(
  make: (key: Key) => DocumentSource | Promise<DocumentSource>,
): SendDocument<Key> {
  const kept = new Map<Key, Promise<PreparedDocument>>()
  const find = (key: Key): Promise<PreparedDocument> => {
    const known = kept.get(key)
    if (known) return known
    const made = Promise.resolve().then(async () => keep(await make(key)))
    kept.set(key, made)
    made.catch(() => kept.delete(key))
    return made
  }
  return async (key, request, reply) => answer(await find(key), request, reply)
}

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)
// The next quality that makes the description smaller, 9, takes 24 ms for it instead of 6 ms, for 4 % fewer bytes; gzip is alike.
const brotliQuality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }
const gzipQuality = { level: 6 }

function keep({ content, ...source }: DocumentSource): PreparedDocument {
  const plain = Buffer.from(typeof content === 'string' ? withFutureExample(content) : content)
  return {
    source,
    plain,
    hash: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    encodings: new Set(plain.length < LEAST_COMPRESSED_BYTES ? ['identity'] : ['br', 'gzip', 'identity']),
    forms: new Map(),
  }
}

/**
 * The example of an instant that must lie ahead is one of the year after the coming one: every process of a year serves the
 * same bytes, and a clock that was moved by a month can still take it.
 */
function withFutureExample(text: string): string {
  return text.replaceAll(exampleAdvance, `${new Date().getUTCFullYear() + 2}-01-15T17:00:00.000Z`)
}

/** The body in an encoding; compression runs beside the event loop. */
function encode({ plain, forms }: PreparedDocument, encoding: Encoding): Promise<Buffer> | Buffer {
  if (encoding === 'identity') return plain
  const known = forms.get(encoding)
  if (known) return known
  const made = encoding === 'br' ? compressBrotli(plain, brotliQuality) : compressGzip(plain, gzipQuality)
  forms.set(encoding, made)
  made.catch(() => forms.delete(encoding))
  return made
}

async function answer(
  kept: PreparedDocument,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { source, hash, encodings } = kept
  const encoding = encodingFor(request.headers['accept-encoding'], encodings)
  for (const [name, value] of Object.entries(source.headers ?? {})) reply.header(name, value)
  reply
    .header('Cache-Control', `public, max-age=${source.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS}`)
    .header('ETag', etagOf(hash, encoding))
    .header('Vary', 'Accept-Encoding')
  const etags = [...encodings].map(one => etagOf(hash, one))
  if (isKnownToCaller(request.headers['if-none-match'], etags)) return reply.code(304).send()
  const body = await encode(kept, encoding)
  if (encoding !== 'identity') reply.header('Content-Encoding', encoding)
  return reply.type(source.type).send(body)
}

function etagOf(hash: string, encoding: Encoding): string {
  return encoding === 'identity' ? `"${hash}"` : `"${hash}-${encoding}"`
}

/** The encoding to send: the first preferred one that `Accept-Encoding` does not refuse (RFC 9110 §12.5.3). */
export function encodingFor(
  accept: string | undefined,
  available: Pick<ReadonlySet<Encoding>, 'has'>,
): Encoding {
  if (!accept) return 'identity'
  const weights = new Map(weighed(accept))
  for (const encoding of ['br', 'gzip'] as const) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0
    if (weight > 0 && available.has(encoding)) return encoding
  }
  return 'identity'
}

/** Whether the caller already has one of these: `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
export function isKnownToCaller(sent: string | undefined, etags: readonly string[]): boolean {
  if (!sent) return false
  if (sent.trim() === '*') return true
  return sent.split(',', 50).some(tag => etags.includes(tag.trim().replace(/^W\//, '')))
}
