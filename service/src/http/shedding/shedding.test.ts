import { type IncomingHttpHeaders, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { operations } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRequestCounts } from '../request-counts.ts'
import { defaultRequestLimits } from '../request-limits.ts'
import { createServer } from '../server.ts'
import { openShedding, type Shedding } from './shedding.ts'

const { path } = operations.prefillUser
let app: FastifyInstance
let shedding: Shedding
let begun: string[]
let finish: (() => void)[]
let isOver: boolean
beforeEach(async () => {
  begun = []
  finish = []
  isOver = false
  const log = () => {}
  const counts = openRequestCounts()
  const place = { baseUrl: () => 'http://a', basePath: '', real: () => 0 }
  app = createServer({ ...place, trustProxy: [], log, limits: defaultRequestLimits, counts })
  shedding = openShedding(app, {
    basePath: '',
    limits: { atOnce: 1, patienceMs: 600_000 },
    guessPartner: ({ headers }: { readonly headers: IncomingHttpHeaders }) => headers.authorization ?? '',
    log,
    onTick: () => {},
  })
  app.post(path, { config: { takes: 'application/json' } }, req => {
    begun.push((req.body as { name: string }).name)
    return isOver ? '"done"' : new Promise(resolve => finish.push(() => resolve('"done"')))
  })
  app.get('/long', { config: { takesTurns: true } }, () => {
    begun.push('long')
    return new Promise(resolve => finish.push(() => resolve('"done"')))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  isOver = true
  for (const end of finish) end()
  await app.close()
  shedding.close()
})

test('a stop answers requests that wait for their turn', async () => {
  const { port } = app.server.address() as AddressInfo
  const headers = { authorization: 'A', 'content-type': 'application/json' }
  let arrived = 0
  app.server.on('request', () => {
    arrived += 1
  })
  const statuses = ['a1', 'a2', 'a3'].map(name => {
    const sent = request({ port, path, method: 'POST', headers, agent: false })
    sent.end(JSON.stringify({ name }))
    return new Promise(resolve =>
      sent.on('response', answer => resolve(answer.statusCode)).on('error', resolve),
    )
  })
  // The second begins at the latest when the first no longer counts.
  await expect.poll(() => [arrived, begun.length > 0]).toEqual([3, true])
  isOver = true
  const stopped = app.close()
  for (const end of finish) end()
  expect(await Promise.all(statuses)).toEqual([200, 200, 200])
  await stopped
})

test('what takes a turn for each of its steps takes none while it waits for them', async () => {
  const { port } = app.server.address() as AddressInfo
  // Two come at once, so that one of them waits for its turn.
  for (const authorization of ['A', 'B'])
    request({ port, path: '/long', headers: { authorization }, agent: false })
      .on('error', () => {})
      .end()
  await expect.poll(() => begun).toEqual(['long', 'long'])
  expect(shedding.turns.numbers().underWay).toBe(0)
})

test('a connection with more than 64 requests behind an unanswered one is closed', async () => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  const closed = new Promise(resolve => socket.on('close', resolve))
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: A\r\nContent-Type: application/json`
  const one = `${head}\r\nContent-Length: 13\r\n\r\n{"name":"one"}`.replace('13', '14')
  socket.write(one)
  await expect.poll(() => begun).toEqual(['one'])
  socket.write(one.repeat(66))
  await closed
})
