import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestLimits } from '@benefit-enrolment/contract'
import { type Line, openLineCutter } from '../lines.ts'
import { beyond } from './request-limits.ts'
import { ServiceError } from './service-error.ts'

/** The bodies that are read line by line, of the connections on which they arrive. */
const readByLines = new WeakSet<Socket>()

/**
 * Whether a body is read line by line on this connection. Its sender may have to wait for the service, so Node's limit for
 * the time of a whole request does not apply; `bodyLines` has one for each wait instead.
 */
export function isReadByLines(socket: Socket): boolean {
  return readByLines.has(socket)
}

/**
 * The lines of a body, as they arrive; nothing is read before the lines so far have been taken. Ends with `body_too_large` after
 * 5 MiB, and with `request_timeout` when nothing arrives for as long as a whole request may take.
 */
export async function* bodyLines(source: IncomingMessage, limits: RequestLimits): AsyncGenerator<Line[]> {
  const { socket } = source
  readByLines.add(socket)
  const cutter = openLineCutter(limits.bodyKib * KIB)
  let left = MOST_BYTES_OF_LINES
  try {
    for await (const chunk of inTime(source, limits)) {
      // The bytes beyond the limit are not taken: a line of which a part lies beyond it is not begun.
      yield cutter.cut(chunk.subarray(0, left))
      left -= chunk.length
      if (left < 0) throw tooManyBytes()
    }
    yield cutter.end()
  } finally {
    readByLines.delete(socket)
  }
}

const KIB = 1024
/** The most bytes of all lines of one body together. */
export const MOST_BYTES_OF_LINES = 5 * KIB * KIB

/** The refusal of a body with more. */
export function tooManyBytes(): ServiceError {
  return new ServiceError('body_too_large', 'Send at most 5 MiB at once.')
}

/** The chunks of a body. Rejects with `request_timeout` when its sender lets the service wait for too long. */
async function* inTime(source: IncomingMessage, limits: RequestLimits): AsyncGenerator<Buffer> {
  const chunks = source.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  for (;;) {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(beyond('request_timeout', limits)), limits.requestSeconds * 1000)
    })
    try {
      const next = await Promise.race([chunks.next(), late])
      if (next.done) return
      yield next.value
    } finally {
      clearTimeout(timer)
    }
  }
}
