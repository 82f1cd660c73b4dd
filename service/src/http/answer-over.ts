import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `over` once: when the answer to a request was sent or will never be. Node tells the end of a connection only to the answer
 * that has its turn there, and to nobody who comes to listen later.
 */
export function onceOver({ socket }: IncomingMessage, response: ServerResponse, over: () => void): void {
  const all = waiting.get(socket) ?? watch(socket)
  const end = () => {
    if (all.delete(end)) over()
  }
  all.add(end)
  response.once('close', end)
  if (socket.destroyed) end()
}

function watch(socket: Socket): Set<() => void> {
  const all = new Set<() => void>()
  waiting.set(socket, all)
  socket.once('close', () => {
    for (const end of all) end()
  })
  return all
}
