import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DatabaseAddress } from '../../service/src/db/database.ts'
import { freshDatabase } from '../rig.ts'

// `bench:webhooks` calls functions of the service that nothing else sees it call, and nobody runs it for weeks.

/** An event as the benchmark's systems send it. */
type Sent = { readonly key: string; readonly body: string; readonly target: string }
type System = {
  queue(events: readonly Sent[]): Promise<void>
  start(): Promise<void>
  rest(): Promise<void>
  close(): Promise<void>
}
type Handler = { deliver(event: Sent): Promise<void>; close(): Promise<void> }

let address: DatabaseAddress
let drop: () => Promise<void>
let server: Server
let origin: string
let received: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[]
beforeAll(async () => {
  ;({ address, drop } = await freshDatabase())
  server = createServer((request, response) => {
    received.push({ url: request.url, headers: request.headers })
    request.resume().on('end', () => response.end('"received"'))
  })
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve)
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await drop()
})
beforeEach(() => {
  received = []
})

const targets = ['/hook/0', '/hook/1']
function someEvents(): Sent[] {
  return targets.map(target => ({ key: randomUUID(), body: '{"eventname":"x"}', target }))
}

function load(file: string): Promise<unknown> {
  return import(new URL(`../../bench/webhooks/${file}`, import.meta.url).href)
}

test.each(['ours', 'bare'])('a backlog of the system "%s" arrives', async name => {
  const { open } = (await load(`systems/${name}.mjs`)) as {
    open(config: object): Promise<System>
  }
  const rootKey = randomBytes(32).toString('base64')
  const system = await open({ address, origin, rootKey, targets, concurrency: 4 })
  try {
    const events = someEvents()
    await system.queue(events)
    await system.start()
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(2)
    expect(received.map(({ url }) => url).sort()).toEqual(targets)
    expect(received.map(({ headers }) => headers['idempotency-key']).sort()).toEqual(
      events.map(({ key }) => key).sort(),
    )
    await system.rest()
  } finally {
    await system.close()
  }
})

test("the peers' handler sends what the service sends, and writes its row", async () => {
  const { openHandler } = (await load('peer.mjs')) as { openHandler(config: object): Promise<Handler> }
  const handler = await openHandler({ address, origin, concurrency: 4, peerLog: 'single' })
  try {
    const [event] = someEvents()
    if (!event) throw new Error('no event')
    await handler.deliver(event)
    expect(received).toMatchObject([{ url: event.target, headers: { 'idempotency-key': event.key } }])
  } finally {
    await handler.close()
  }
})
