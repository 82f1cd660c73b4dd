import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestLimits } from '@benefit-enrolment/contract'
import { isBlank, type Line, openLineCutter } from '../lines.ts'
import { beyond } from './request-limits.ts'
import { ServiceError } from './service-error.ts'

/** The connections whose request is read line by line. */
const readByLines = new WeakSet<Socket>()

/**
 * Whether a body is read line by line on this connection. Its sender may have to wait for the service, so Node's limit for
 * the time of a whole request does not apply; `bodyLines` has one for each line instead.
 */
export function isReadByLines(socket: Socket): boolean {
  return readByLines.has(socket)
}

/** How the body of a request is received. */
export type Receiving = {
  readonly limits: RequestLimits
  /** Called with the size of each part. */
  readonly received: (bytes: number) => void
  /** Resolves when a part that is not wanted may be read. */
  readonly turn: () => Promise<void>
}

/**
 * The lines of a body as they arrive, each cut when it is taken; nothing is read before the lines so far have been taken.
 * Ends with `body_too_large` after 5 MiB, and with `request_timeout` when the
 * service has waited for the next line, blank ones not counted, for as long as a whole request may take.
 */
export async function* bodyLines(
  source: IncomingMessage,
  response: ServerResponse,
  { limits, received }: Receiving,
): AsyncGenerator<Iterable<Line>> {
  const { socket } = source
  readByLines.add(socket)
  response.once('close', () => readByLines.delete(socket))
  const chunks = source.iterator({ destroyOnReturn: false }) as AsyncGenerator<Buffer>
  const cutter = openLineCutter(limits.bodyKib * KIB)
  let left = MOST_BYTES_OF_LINES
  let waitedMs = 0
  function* cut(chunk: Buffer): Iterable<Line> {
    for (const line of cutter.cut(chunk)) {
      if (!(line.bytes && isBlank(line.bytes))) waitedMs = 0
      yield line
    }
  }
  try {
    for (;;) {
      const askedAt = performance.now()
      const next = await inTime(chunks.next(), limits.requestSeconds * 1000 - waitedMs, limits)
      if (next.done) break
      waitedMs += performance.now() - askedAt
      received(next.value.length)
      // The bytes beyond the limit are not taken: a line of which a part lies beyond it is not begun.
      yield cut(next.value.subarray(0, left))
      left -= next.value.length
      if (left < 0) throw tooManyBytes()
    }
    yield cutter.end()
  } finally {
    // Its failure is that of the caller who has left, which was met above.
    chunks.return(undefined).catch(() => {})
  }
}

const KIB = 1024
/** The most bytes of all lines of one body together. */
export const MOST_BYTES_OF_LINES = 5 * KIB * KIB

/** The refusal of a body with more. */
export function tooManyBytes(): ServiceError {
  return new ServiceError('body_too_large', 'Send at most 5 MiB at once.')
}

/** Rejects with `request_timeout` when the work takes longer. */
async function inTime<T>(work: Promise<T>, ms: number, limits: RequestLimits): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(beyond('request_timeout', limits)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Reads what a body still has and drops it, so that its sender comes to read the answer, and the next request on the connection
 * is found. Resolves at its end, or some seconds later, when more than 5 MiB followed or the end did not come; the connection
 * then ends with the answer. Each part takes a turn: 300 bodies that were dropped at once kept another partner's reads waiting for
 * 16 times as long as alone (`bench:fair`).
 */
export async function dropRest(
  source: IncomingMessage,
  response: ServerResponse,
  { limits, received, turn }: Receiving,
): Promise<void> {
  if (source.readableEnded || source.destroyed) return
  let left = MOST_BYTES_OF_LINES
  source.on('data', (chunk: Buffer) => {
    left -= chunk.length
    source.pause()
    received(chunk.length)
    if (left >= 0)
      turn().then(
        () => source.resume(),
        () => {},
      )
  })
  await new Promise<void>(resolve => {
    const late = setTimeout(resolve, Math.min(LINGER_MS, limits.requestSeconds * 1000)).unref()
    source.once('end', resolve).once('close', resolve)
    source.once('end', () => clearTimeout(late)).on('error', () => {})
  })
  if (source.readableEnded) return
  if (response.writableFinished) source.socket.destroySoon()
  else response.once('finish', () => source.socket.destroySoon())
}

const LINGER_MS = 5000

/** Ends a connection when its caller has not taken a byte of this answer for as long as a whole request may take. */
export function endUnread(response: ServerResponse, { requestSeconds }: RequestLimits): void {
  const { socket } = response
  if (!socket) return
  const usual = socket.timeout ?? 0
  const watch = () => socket.setTimeout(requestSeconds * 1000)
  watch()
  // An answer that waits for the service, not for its caller, has nothing to be taken.
  response.on('timeout', () => (socket.writableLength > 0 ? socket.destroy() : watch()))
  response.once('close', () => socket.setTimeout(usual))
}
