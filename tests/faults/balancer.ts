import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Agent, fetch } from 'undici'
import type { PartnerClient } from '../../client/src/index.ts'
import type { Bench } from './bench.ts'

/** A load balancer as operators use it: new connections go to processes whose /readyz is 200. */
export type Balancer = {
  readonly port: number
  /** Whether it sends new connections to the process at this port. */
  sendsTo(port: number): boolean
  close(): Promise<void>
}

/** Starts a balancer that checks each process once a second. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const ready = new Set<number>()
  const sockets = new Set<Socket>()
  let turn = 0
  const look = async (port: number) => {
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      answer => answer.ok,
      () => false,
    )
    if (isReady) ready.add(port)
    else ready.delete(port)
  }
  const looks = setInterval(() => ports.forEach(port => void look(port)), 1000)
  await Promise.all(ports.map(look))
  const server = createServer(client => {
    const live = [...ready]
    const upstream = connect(live[turn++ % live.length] ?? 1, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    upstream.on('error', () => client.destroy())
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    sendsTo: one => ready.has(one),
    close: () =>
      new Promise(resolve => {
        clearInterval(looks)
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Clients with one kept connection each, as pools have them; `close` closes the connections. */
export function pooledClients(
  { clientOf }: Pick<Bench, 'clientOf'>,
  { port, count }: { port: number; count: number },
): { readonly clients: readonly PartnerClient[]; readonly close: () => Promise<unknown> } {
  // A pool may leave a connection unused until the process at its other end closes it, just as it is used again.
  const agents = Array.from({ length: count }, () => new Agent({ connections: 1 }))
  const clients = agents.map(dispatcher =>
    clientOf(
      port,
      {},
      {
        fetch: (input, init) => fetch(input as string, { ...init, dispatcher } as object) as never,
      },
    ),
  )
  return { clients, close: () => Promise.all(agents.map(agent => agent.close())) }
}
