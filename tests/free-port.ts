import { once } from 'node:events'
import { createServer } from 'node:net'

const [first, last] = [15_000, 32_000]

/**
 * A loopback port that nobody listens on, below those that systems hand out by themselves: so nobody else is given it while
 * its user has not begun to listen, or stands still between two processes.
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
