import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRequestCounts } from '../request-counts.ts'
import { defaultRequestLimits } from '../request-limits.ts'
import { createServer } from '../server.ts'
import { ServiceError } from '../service-error.ts'
import { type Gate, openGate } from './gate.ts'
import { refuseRouted } from './refuse-routed.ts'
import { openResting } from './resting.ts'
import { openTurns } from './turns.ts'

let app: FastifyInstance
let gate: Gate
let socket: Socket
let charged: number[]
beforeEach(async () => {
  const opened = openGate({ inFlight: 1, reserved: 0, loopDelayMs: 1000 })
  charged = []
  gate = { ...opened, charge: (_asker, ms) => void charged.push(ms) }
  const log = () => {}
  const limits = defaultRequestLimits
  const counts = openRequestCounts()
  const real = () => 0
  app = createServer({ baseUrl: () => 'http://a', basePath: '', trustProxy: [], log, real, limits, counts })
  const turns = openTurns({ atOnce: 1, longestTicks: 1, patienceTicks: 50 })
  refuseRouted(app, { gate, turns, resting: openResting(turns), guessPartner: () => '' })
  app.post('/work', { config: { takes: 'application/json' } }, async () => '"done"')
  app.post('/broken', { config: { takes: 'application/json' } }, () => {
    throw new Error('broken on purpose')
  })
  app.post('/rejected', { config: { takes: 'application/json' } }, () =>
    Promise.reject(new Error('on purpose')),
  )
  const refusing = (_request: unknown, _reply: unknown, done: (error: Error) => void) =>
    done(new ServiceError('unauthorized'))
  app.post('/barred', { config: { takes: 'application/json' }, onRequest: refusing }, async () => '"done"')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
})
afterEach(async () => {
  socket.destroy()
  await app.close()
})

/** The next complete answer on the connection. */
function nextAnswer(): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const read = (chunk: Buffer) => {
      answer += chunk
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      if (body.length < Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 1)) return
      socket.off('data', read)
      resolve(answer)
    }
    socket.on('data', read)
    socket.once('close', () => reject(new Error(`closed after ${answer}`)))
  })
}
function headOf(path: string, length: number) {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
}

test('a refusal does not wait for the body, which is skipped when it comes; the connection serves the next', async () => {
  const body = 'POST /work HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'
  gate.enter('')
  socket.write(headOf('/work', body.length))
  const refused = await nextAnswer()
  expect(refused).toMatch(/^HTTP\/1\.1 503 /)
  expect(refused).toMatch(/^retry-after: [123]\r$/im)
  expect(refused).not.toMatch(/^connection: close/im)
  expect(JSON.parse(refused.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'unavailable', status: 503 })
  gate.leave('')
  socket.write(`${body}${headOf('/work', 2)}{}`)
  expect(await nextAnswer()).toMatch(/^HTTP\/1\.1 200 /)
})

test('a body that is slow to come takes no room', async () => {
  socket.write(headOf('/work', 2))
  socket.write('{')
  await new Promise<void>(resolve => app.server.once('request', () => resolve()))
  expect(gate.numbers().inFlight).toBe(0)
  socket.write('}')
  expect(await nextAnswer()).toMatch(/^HTTP\/1\.1 200 /)
})

test.each(['/broken', '/rejected'])('%s gives its room back', async path => {
  socket.write(`${headOf(path, 2)}{}`)
  expect(await nextAnswer()).toMatch(/^HTTP\/1\.1 500 /)
  expect(gate.numbers()).toMatchObject({ inFlight: 0, partners: 0 })
})

test('what found room at the door and none for its work is refused then', async () => {
  socket.write(headOf('/work', 2))
  await new Promise<void>(resolve => app.server.once('request', () => resolve()))
  gate.enter('')
  socket.write('{}')
  expect(await nextAnswer()).toMatch(/^HTTP\/1\.1 503 /)
  expect(gate.numbers()).toMatchObject({ inFlight: 1, shed: { full: 1 } })
})

test.each([
  ['/work', '{}', 200],
  ['/work', '{', 400],
  ['/broken', '{}', 500],
  ['/rejected', '{}', 500],
  ['/barred', '{}', 401],
  ['/nowhere', '{}', 404],
])('%s with %s is charged once, though no handler may see it', async (path, body, status) => {
  socket.write(headOf(path, body.length) + body)
  expect(await nextAnswer()).toContain(`HTTP/1.1 ${status} `)
  expect(charged).toEqual([expect.any(Number)])
  expect(charged[0]).toBeGreaterThan(0)
})

test('what is refused for load is not charged: who repeats it would be refused forever', async () => {
  gate.enter('')
  socket.write(`${headOf('/work', 2)}{}`)
  expect(await nextAnswer()).toMatch(/^HTTP\/1\.1 503 /)
  expect(charged).toEqual([])
})
