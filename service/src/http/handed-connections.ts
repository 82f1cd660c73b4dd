import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Lets a server that does not listen answer connections which another process accepted. Returns the function to which each
 * of them is passed. Closing the server waits until each request that arrived on them is answered, as for connections of its
 * own.
 */
export function serveHandedConnections(app: FastifyInstance): (socket: Socket) => void {
  const { server } = app
  const open = new Set<Socket>()
  let onLastClosed = () => {}
  // Node limits the time of requests, and knows which connections are idle, only from this event on.
  server.emit('listening')
  app.addHook('preClose', async () => {
    if (open.size > 0)
      await new Promise<void>(resolve => {
        onLastClosed = resolve
      })
  })
  return socket => {
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      if (open.size === 0) onLastClosed()
    })
    // As Node sets them for connections that a server accepts itself.
    socket.allowHalfOpen = true
    socket.setNoDelay(true)
    server.emit('connection', socket)
  }
}
