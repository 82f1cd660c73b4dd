import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that the system assigns by itself, a part for each of eight workers.
const SHARE = 2000
const first = 15_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 8) * SHARE
let last = Math.floor(Math.random() * SHARE)

/**
 * A loopback port on which nothing listens, and which nobody else is given soon: so no other program gets it before its user
 * begins to listen, or between two processes of that user.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    last = (last + 1) % SHARE
    const port = first + last
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
