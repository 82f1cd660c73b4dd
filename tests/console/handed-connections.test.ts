import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createListener } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { serveHandedConnections } from '../../service/src/http/handed-connections.ts'
import { openRequestCounts } from '../../service/src/http/request-counts.ts'
import { defaultRequestLimits } from '../../service/src/http/request-limits.ts'
import { createServer } from '../../service/src/http/server.ts'

/** A server that does not listen, and gets its connections from a listener; it answers once it is told to. */
async function startHanded() {
  const app = createServer({
    baseUrl: () => 'http://127.0.0.1',
    basePath: '',
    trustProxy: [],
    log: () => {},
    real: Date.now,
    limits: { ...defaultRequestLimits, headersSeconds: 1, requestSeconds: 1 },
    counts: openRequestCounts(),
  })
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  let arrived = () => {}
  const arriving = new Promise<void>(resolve => {
    arrived = resolve
  })
  app.get('/held', async () => {
    arrived()
    await released
    return 'answered'
  })
  app.get('/', async () => 'here')
  const serve = serveHandedConnections(app)
  await app.ready()
  const listener = createListener(serve)
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const { port } = listener.address() as AddressInfo
  onTestFinished(() => {
    listener.close()
  })
  return { app, port, release, arriving }
}

async function read(url: string, agent: Agent): Promise<string> {
  const [answer] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
  return text(answer)
}

test('a request whose headers do not arrive in time is refused on a handed connection, too', async () => {
  const { app, port } = await startHanded()
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /)
  await app.close()
})

test('a stop waits for the answer to what was accepted, and for no connection that is kept', async () => {
  const { app, port, release, arriving } = await startHanded()
  const agent = new Agent({ keepAlive: true })
  const url = `http://127.0.0.1:${port}`
  expect(await read(url, agent)).toBe('here')
  const held = read(`${url}/held`, new Agent({ keepAlive: true }))
  await arriving
  let isClosed = false
  const closed = app.close().then(() => {
    isClosed = true
  })
  // The kept connection ends before the held request is answered.
  const [kept] = Object.values(agent.freeSockets).flat()
  if (kept && !kept.destroyed) await once(kept, 'close')
  expect(isClosed).toBe(false)
  release()
  expect(await held).toBe('answered')
  await closed
})
