import type { FastifyRequest } from 'fastify'

const codes = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'])

/**
 * Whether an error only says that the caller closed the connection before its request or the answer was complete: that
 * is no failure of the service.
 */
export function isClientGone(error: unknown, request: FastifyRequest): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (code === undefined || !codes.has(code)) return false
  return message === 'aborted' || code === 'ERR_STREAM_PREMATURE_CLOSE' || request.raw.socket.destroyed
}
