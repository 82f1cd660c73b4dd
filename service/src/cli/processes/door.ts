import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type ListenAddress, listenErrorOf } from '../listen-address.ts'

/** The address that several processes serve, which stays open whichever of them end. */
export type Door = {
  readonly address: string
  /** Gives the connections that wait to a process that has come to serve. */
  giveWaiting(): void
  close(): void
}

/** A connection that no process takes in this time is closed, as its caller has had to wait for as long as a request may take. */
const LONGEST_WAIT_MS = 15_000

/**
 * Listens at the address. Gives each connection away unread; while `give` finds no process that serves, it waits. Throws
 * OperatorError when this machine cannot listen there.
 *
 * The parent does this itself: in Node's cluster, a connection that is on its way to a process when that dies stays open
 * unanswered for ever, and the port is closed when the last process dies.
 */
export async function openDoor(
  { host, port }: ListenAddress,
  give: (socket: Socket) => boolean,
): Promise<Door> {
  const waiting = new Set<Socket>()
  const giveOrKeep = (socket: Socket) => {
    if (give(socket)) return
    waiting.add(socket)
    socket.once('close', () => waiting.delete(socket))
    socket.setTimeout(LONGEST_WAIT_MS, () => socket.destroy())
  }
  const server = createServer({ pauseOnConnect: true, noDelay: true }, socket => {
    socket.on('error', () => {})
    giveOrKeep(socket)
  })
  try {
    await once(
      server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: 4096 }),
      'listening',
    )
  } catch (error) {
    throw listenErrorOf(error, { host, port })
  }
  const { address, family, port: found } = server.address() as AddressInfo
  return {
    address: `http://${family === 'IPv6' ? `[${address}]` : address}:${found}`,
    giveWaiting() {
      const before = [...waiting]
      waiting.clear()
      for (const socket of before) {
        socket.setTimeout(0)
        giveOrKeep(socket)
      }
    },
    close() {
      server.close()
      for (const socket of waiting) socket.destroy()
    },
  }
}
