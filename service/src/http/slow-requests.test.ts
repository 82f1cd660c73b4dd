import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { openRequestCounts } from './request-counts.ts'
import { defaultRequestLimits } from './request-limits.ts'
import { createServer } from './server.ts'

/** The server's answer to a request that never ends, after its time is over. */
function answerTo(port: number, begun: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(begun))
    socket.on('data', chunk => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

test.each([
  ['headers', 'GET /slow HTTP/1.1\r\nHost: a\r\n'],
  [
    'a body',
    'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  ],
])(
  'a request whose %s never come to an end: 408 request_timeout with a Request-Id, and the connection ends',
  async (_, begun) => {
    const app = createServer({
      baseUrl: () => 'http://localhost',
      basePath: '',
      trustProxy: [],
      log: () => {},
      real: () => 0,
      counts: openRequestCounts(),
      // The limits are settings; here they are short.
      limits: { ...defaultRequestLimits, headersSeconds: 0.02, requestSeconds: 0.03 },
    })
    app.post('/slow', { config: { takes: 'application/json' } }, async () => 'late')
    await app.listen({ host: '127.0.0.1', port: 0 })
    const address = app.server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    try {
      const [head = '', body = ''] = (await answerTo(port, begun)).split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1\.1 408 /)
      const requestid = /^request-id: (\S+)/im.exec(head)?.[1]
      expect(JSON.parse(body)).toMatchObject({
        status: 408,
        code: 'request_timeout',
        detail: 'Send the headers within 0.02 seconds and the whole request within 0.03.',
        requestid,
      })
    } finally {
      await app.close()
    }
  },
)

test('a caller that never closes its connection loses it soon after the 408', async () => {
  const app = createServer({
    baseUrl: () => 'http://localhost',
    basePath: '',
    trustProxy: [],
    log: () => {},
    real: () => 0,
    counts: openRequestCounts(),
    limits: { ...defaultRequestLimits, headersSeconds: 0.02, requestSeconds: 0.03 },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.resume().on('error', () => {})
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n')
  const open = () => new Promise(resolve => app.server.getConnections((_error, count) => resolve(count)))
  await expect.poll(open, { timeout: 20_000 }).toBe(1)
  await expect.poll(open, { timeout: 20_000 }).toBe(0)
  expect(socket.destroyed).toBe(false)
  socket.destroy()
  await app.close()
}, 45_000)
