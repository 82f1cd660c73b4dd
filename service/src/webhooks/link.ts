import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Client, type Dispatcher, errors } from 'undici'
import { type ConnectionTrace, type ConnectOptions, connectTo } from './connect.ts'
import { codeOf, type ErrorClass, Fault, faultOf } from './outcome.ts'

/** What is sent in one try. */
export interface TryRequest {
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** What is kept of an answer. */
export interface LinkAnswer {
  status: number
  retryAfter?: string
  /** When the status came, on the clock of `performance.now()`. */
  statusAt: number
  snippet: string
}

/** One connection to one endpoint: used for one try at a time, opened by the first, never opened again. */
export interface Link {
  readonly origin: string
  readonly trace: ConnectionTrace
  /** How many tries ended well on it. */
  readonly served: number
  /** Whether another try can be sent on it. */
  isReusable(): boolean
  /** Whether the endpoint has sent anything since the last `post` began. */
  hasHeard(): boolean
  /** Sends and waits for the whole answer, or as much of it as we read. Throws a Fault when no status comes. */
  post(url: URL, request: TryRequest): Promise<LinkAnswer>
  /** Ends what is under way with this fault; fulfils when the socket is gone. */
  destroy(fault: Fault): Promise<void>
}

const MAX_HEADER_BYTES = 16 * 1024
const MAX_BODY_BYTES = 16 * 1024
/** Counted on the socket, since interim answers, reason phrases, chunk extensions and padding count as neither. */
const MAX_ANSWER_BYTES = 64 * 1024
const SNIPPET_BYTES = 1024
/** A busy connection would otherwise never notice that its name has moved. */
const MAX_AGE_MS = 5 * 60_000

/** Prepares a connection to the origin of a URL; `onClose` is called once, when the other side or time ends it. */
export function openLink(url: URL, options: ConnectOptions, onClose: (link: Link) => void): Link {
  const aborting = new AbortController()
  const trace: ConnectionTrace = {}
  let socket: Socket | undefined
  let opening: Promise<void> | undefined
  let heardBefore = 0
  let served = 0
  let isInStep = true
  const openedAt = performance.now()

  const client = new Client(url.origin, {
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The one deadline of a try is kept by the caller, who destroys the link.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(_target, callback) {
      if (opening !== undefined) return callback(new Fault('reset'), null)
      opening = connectTo(url, { options, trace, signal: aborting.signal }).then(
        opened => {
          socket = opened
          opened.on('readable', () => {
            if (opened.bytesRead - heardBefore > MAX_ANSWER_BYTES) opened.destroy(new Fault('protocol'))
          })
          callback(null, opened)
        },
        (error: unknown) => callback(faultOf(error, 'connect'), null),
      )
    },
  })
  const link: Link = {
    origin: url.origin,
    trace,
    get served() {
      return served
    },
    isReusable() {
      const isOpen = socket !== undefined && !socket.destroyed && !client.destroyed
      return isOpen && isInStep && performance.now() - openedAt < MAX_AGE_MS
    },
    hasHeard: () => (socket?.bytesRead ?? 0) > heardBefore,
    async post(target, request) {
      heardBefore = socket?.bytesRead ?? 0
      const { isWhole, ...answer } = await postOn(client, target, request)
      isInStep = isWhole
      served += 1
      return answer
    },
    async destroy(fault) {
      aborting.abort(fault)
      await Promise.all([client.destroy(fault), opening])
      if (socket !== undefined && !socket.closed) await new Promise(gone => socket?.once('close', gone))
    },
  }
  client.on('disconnect', () => onClose(link))
  const emitter: EventEmitter = client
  emitter.on('error', (error: unknown) => link.destroy(new Fault('unexpected', error)))
  return link
}

async function postOn(
  client: Client,
  { pathname, search }: URL,
  request: TryRequest,
): Promise<LinkAnswer & { isWhole: boolean }> {
  const answer = await client
    .request({
      method: 'POST',
      path: pathname + search,
      headers: request.headers,
      body: request.body,
      highWaterMark: MAX_BODY_BYTES,
    })
    .catch((error: unknown) => {
      throw faultOf(error, meaningOf(error))
    })
  const statusAt = performance.now()
  const retryAfter = answer.headers['retry-after']
  const body = await readSome(answer.body)
  return {
    status: answer.statusCode,
    statusAt,
    ...body,
    ...(typeof retryAfter === 'string' && { retryAfter }),
  }
}

/** Reads the body to its end or to the cap; one that breaks off is no error, but its connection is of no more use. */
async function readSome(
  body: Dispatcher.ResponseData['body'],
): Promise<{ snippet: string; isWhole: boolean }> {
  const kept: Buffer[] = []
  let size = 0
  let isWhole = false
  body.on('error', () => {})
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (size < SNIPPET_BYTES) kept.push(chunk.subarray(0, SNIPPET_BYTES - size))
      size += chunk.length
      if (size > MAX_BODY_BYTES) break
    }
    isWhole = size <= MAX_BODY_BYTES
  } catch {
    // The status has decided already.
  }
  return { snippet: readable(Buffer.concat(kept)), isWhole }
}

/** As text for a database: a character cut at the end is left out, and PostgreSQL takes no NUL. */
function readable(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD')
}

/** What an error means that undici gave instead of an answer on an open connection. */
function meaningOf(error: unknown): ErrorClass {
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'headers_too_large'
  if (error instanceof errors.SocketError) return /^bad /.test(error.message) ? 'protocol' : 'reset'
  if (error instanceof errors.HTTPParserError || /^(UND_ERR_RES_|ERR_ASSERTION)/.test(code)) return 'protocol'
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO)/.test(code)) return 'tls'
  if (/^E[A-Z]+$/.test(code)) return 'reset'
  return 'unexpected'
}
