import { once } from 'node:events'
import { createServer } from 'node:net'

const [first, last] = [15_000, 32_000]

/**
 * A loopback port on which nothing listens, below those that the system assigns by itself: so no other program gets it
 * before its user begins to listen, or between two processes of that user.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first))
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
