import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The most requests of a connection that may wait there behind an unanswered one; hardly any client sends several at once. */
const MOST_PIPELINED = 64

/**
 * Returns a function that says whether a request must be left unanswered because its connection has been closed for sending too
 * many requests ahead of their answers. Node.js reads whatever a connection holds, up to 2 MB in one turn of the event
 * loop: 50 connections full of requests kept it from all others for three seconds at a time, with no request late
 * enough to be refused for load.
 */
export function refusePipelined(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const behind = new WeakMap<Socket, number>()
  return ({ socket }, response) => {
    if (socket.destroyed) return true
    // Node.js gives an answer its socket once all answers before it have been sent.
    if (response.socket) return false
    const count = (behind.get(socket) ?? 0) + 1
    if (count > MOST_PIPELINED) {
      socket.destroy()
      return true
    }
    behind.set(socket, count)
    response.once('close', () => behind.set(socket, (behind.get(socket) ?? 1) - 1))
    return false
  }
}
