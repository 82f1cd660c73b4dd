/** One HTTP connection to one endpoint: it sends an attempt, and reads the answer within limits that an endpoint cannot break. */
import type { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { Client, type Dispatcher, errors } from 'undici'
import { afterIo } from './after-io.ts'
import { type ConnectionTrace, type ConnectOptions, connectTo } from './connect.ts'
import { codeOf, type ErrorClass, Fault, faultOf } from './outcome.ts'

/** The content of one attempt. */
export type AttemptRequest = {
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** How many bytes of the answer are kept; 1 KiB by default. */
  keptBytes?: number
}

/** The part of an answer that is kept. */
export type ConnectionAnswer = {
  status: number
  retryAfter: string | undefined
  /** When the status arrived, by the clock of `performance.now()`. */
  statusAt: number
  snippet: string
}

/** One connection to one endpoint. It carries one attempt at a time, is opened by the first, and is never opened again. */
export type Connection = {
  readonly origin: string
  readonly trace: ConnectionTrace
  /** How many attempts got an answer on it. */
  readonly served: number
  /** Whether another attempt can be sent on it. */
  isReusable(): boolean
  /** Whether the endpoint has sent anything since the last `post` began. */
  hasHeard(): boolean
  /**
   * Sends to this path with its query, and waits until the answer has been read to its end or to the limit. Throws a
   * Fault when no status arrives.
   */
  post(path: string, request: AttemptRequest): Promise<ConnectionAnswer>
  /** Ends the attempt under way with this fault; resolves when the socket is closed. */
  destroy(fault: Fault): Promise<void>
}

const MAX_HEADER_BYTES = 16 * 1024
const MAX_BODY_BYTES = 16 * 1024
/**
 * The most bytes that one answer may have on the socket. The other limits do not count interim answers, reason phrases,
 * chunk extensions and padding.
 */
const MAX_ANSWER_BYTES = 64 * 1024
/**
 * The most chunks of a body: each costs a call and a buffer, however small it is, and 10,000 chunks of one byte delay
 * all other endpoints by a millisecond.
 */
const MAX_BODY_PIECES = 512
const SNIPPET_BYTES = 1024
/** How long a connection is used: a busy one would otherwise never notice that its name has moved to another address. */
const MAX_AGE_MS = 5 * 60_000

/** Prepares a connection to the origin of a URL. `onClose` is called once, when the other side or the age limit ends it. */
export function openConnection(
  url: URL,
  options: ConnectOptions,
  onClose: (connection: Connection) => void,
): Connection {
  const aborting = new AbortController()
  const trace: ConnectionTrace = {}
  let socket: Socket | undefined
  let opening: Promise<void> | undefined
  let heardBefore = 0
  let served = 0
  let isReadToEnd = true
  const openedAt = performance.now()

  const client = new Client(url.origin, {
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The caller keeps the one deadline of an attempt, and destroys the connection when it has passed.
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
  const connection: Connection = {
    origin: url.origin,
    trace,
    get served() {
      return served
    },
    isReusable() {
      const isOpen = socket !== undefined && !socket.destroyed && !client.destroyed
      return isOpen && isReadToEnd && performance.now() - openedAt < MAX_AGE_MS
    },
    hasHeard: () => (socket?.bytesRead ?? 0) > heardBefore,
    post(path, { headers, body, keptBytes = SNIPPET_BYTES }) {
      heardBefore = socket?.bytesRead ?? 0
      return new Promise((resolve, reject) => {
        const answered = (answer: ConnectionAnswer, isWhole: boolean) => {
          isReadToEnd = isWhole
          served += 1
          afterIo(() => resolve(answer))
        }
        client.dispatch({ method: 'POST', path, headers, body }, new Exchange(answered, reject, keptBytes))
      })
    },
    async destroy(fault) {
      aborting.abort(fault)
      await Promise.all([client.destroy(fault), opening])
      if (socket !== undefined && !socket.closed) await new Promise(gone => socket?.once('close', gone))
    },
  }
  client.on('disconnect', () => onClose(connection))
  const emitter: EventEmitter = client
  emitter.on('error', (error: unknown) => connection.destroy(new Fault('unexpected', error)))
  return connection
}

/**
 * One attempt on the wire: reads the answer to its end or to the limit. A body that breaks off is no error, because the
 * status has decided already, but its connection cannot be reused. undici's `request` would make a stream of every
 * answer, which costs twice as much; and this is a class because no other object of the service is created as often.
 */
class Exchange implements Dispatcher.DispatchHandler {
  private status = 0
  private statusAt = 0
  private retryAfter: string | undefined
  private kept: Buffer[] = []
  private size = 0
  private pieces = 0
  private readonly resolve: (answer: ConnectionAnswer, isWhole: boolean) => void
  private readonly reject: (fault: Fault) => void
  private readonly keptBytes: number

  constructor(
    resolve: (answer: ConnectionAnswer, isWhole: boolean) => void,
    reject: (fault: Fault) => void,
    keptBytes: number,
  ) {
    this.resolve = resolve
    this.reject = reject
    this.keptBytes = keptBytes
  }

  onRequestStart() {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return
    const retryAfter = headers['retry-after']
    this.status = status
    this.statusAt = performance.now()
    this.retryAfter = typeof retryAfter === 'string' ? retryAfter : retryAfter?.[0]
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.size < this.keptBytes) this.kept.push(chunk.subarray(0, this.keptBytes - this.size))
    this.size += chunk.length
    this.pieces += 1
    if (this.size <= MAX_BODY_BYTES && this.pieces <= MAX_BODY_PIECES) return
    this.end(false)
    controller.abort(new Fault('protocol'))
  }

  onResponseEnd(): void {
    this.end(true)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.status > 0) this.end(false)
    else this.reject(faultOf(error, meaningOf(error)))
  }

  private end(isWhole: boolean): void {
    if (this.status === 0) return
    const { status, statusAt, retryAfter, kept, keptBytes } = this
    this.resolve({ status, statusAt, retryAfter, snippet: readable(kept, keptBytes) }, isWhole)
  }
}

/**
 * The bytes as text for a database: without a character that was cut at the end, and without NUL, which PostgreSQL does
 * not accept.
 */
function readable(kept: readonly Buffer[], limit: number): string {
  const [only = nothing] = kept
  const bytes = kept.length > 1 ? Buffer.concat(kept) : only
  return (bytes.length < limit ? bytes.toString() : uncut(bytes)).replaceAll('\0', '\uFFFD')
}

function uncut(bytes: Buffer): string {
  const text = decoder.decode(bytes, { stream: true })
  decoder.decode()
  return text
}

const nothing = Buffer.alloc(0)
const decoder = new TextDecoder()

/** The class of an error that undici reported in place of an answer on an open connection. */
function meaningOf(error: unknown): ErrorClass {
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'headers_too_large'
  if (error instanceof errors.SocketError) return /^bad /.test(error.message) ? 'protocol' : 'reset'
  if (error instanceof errors.HTTPParserError || /^(UND_ERR_RES_|ERR_ASSERTION)/.test(code)) return 'protocol'
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO)/.test(code)) return 'tls'
  if (/^E[A-Z]+$/.test(code)) return 'reset'
  return 'unexpected'
}
