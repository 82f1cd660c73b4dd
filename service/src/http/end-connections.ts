import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const LONGEST_STOP_MS = 10_000
const END_IDLE_EVERY_MS = 20

/**
 * Lets a stop end soon. Node closes the connections that are idle when the stop begins. A connection that becomes idle
 * later, or has sent nothing yet, would delay the stop for as long as connections are kept alive.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  const sockets = new Set<Socket>()
  let isEmpty = () => {}
  let lastResort: NodeJS.Timeout | undefined
  let endIdle: NodeJS.Timeout | undefined
  app.server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) isEmpty()
    })
  })
  app.addHook('preClose', done => {
    lastResort = setTimeout(() => app.server.closeAllConnections(), LONGEST_STOP_MS)
    endIdle = setInterval(() => app.server.closeIdleConnections(), END_IDLE_EVERY_MS)
    // The event loop first reads what has arrived: closing a connection with an unread request would reset it.
    setImmediate(() =>
      setImmediate(() => {
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
        // A server that listens waits for its connections by itself. One that is handed them does not count them.
        if (app.server.listening || sockets.size === 0) done()
        else isEmpty = done
      }),
    )
  })
  app.addHook('onClose', (_app, done) => {
    clearTimeout(lastResort)
    clearInterval(endIdle)
    done()
  })
}
