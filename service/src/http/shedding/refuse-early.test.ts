import { type ClientRequest, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Operation, operations } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRequestCounts } from '../request-counts.ts'
import { defaultRequestLimits } from '../request-limits.ts'
import { createServer } from '../server.ts'
import { type Gate, openGate } from './gate.ts'
import { refuseEarly } from './refuse-early.ts'
import { refuseRouted } from './refuse-routed.ts'
import { openTurns, type Turns } from './turns.ts'

let app: FastifyInstance
let gate: Gate
let turns: Turns
let begun: string[]
let finish: (() => void)[]
let isOver: boolean
beforeEach(async () => {
  gate = openGate({ inFlight: 100, reserved: 0, loopDelayMs: 1000 })
  turns = openTurns({ atOnce: 1, longestTicks: 1000 })
  begun = []
  finish = []
  isOver = false
  const counts = openRequestCounts()
  const place = { baseUrl: () => 'http://a', basePath: '', real: () => 0 }
  app = createServer({ ...place, trustProxy: [], log: () => {}, limits: defaultRequestLimits, counts })
  const shedding = {
    ...place,
    gate,
    turns,
    guessPartner: ({ headers }: { readonly headers: IncomingHttpHeaders }) => headers.authorization ?? '',
  }
  refuseRouted(app, shedding)
  refuseEarly(app, shedding)
  for (const operation of [operations.prefillUser, operations.eraseUser])
    app.post(operation.path, { config: { operation, takes: 'application/json' } }, req => {
      begun.push((req.body as { name: string }).name)
      return isOver ? '"done"' : new Promise(resolve => finish.push(() => resolve('"done"')))
    })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  isOver = true
  for (const end of finish) end()
  await app.close()
})

/** Sends a request on a connection of its own; resolves once the service has begun it, or lets it wait. */
async function send(
  partner: string,
  name: string,
  { path }: Operation = operations.prefillUser,
): Promise<ClientRequest> {
  const { port } = app.server.address() as AddressInfo
  const headers = { authorization: partner, 'content-type': 'application/json' }
  const sent = request({ port, path, method: 'POST', headers, agent: false })
  sent.on('error', () => {})
  sent.end(JSON.stringify({ name }))
  const before = begun.length + turns.waiting()
  await expect.poll(() => begun.length + turns.waiting()).toBe(before + 1)
  return sent
}

test('requests beyond those under way wait, partner by partner, and count as in flight', async () => {
  await send('A', 'a1')
  await send('A', 'a2')
  await send('A', 'a3')
  await send('B', 'b1')
  expect(begun).toEqual(['a1'])
  expect(gate.numbers()).toMatchObject({ inFlight: 4, partners: 2 })
  for (const next of [['a1', 'a2'], ['a1', 'a2', 'b1'], ['a1', 'a2', 'b1', 'a3'], undefined]) {
    finish.shift()?.()
    if (next) await expect.poll(() => begun).toEqual(next)
  }
  await expect.poll(() => gate.numbers().inFlight).toBe(0)
})

test('an erasure does not wait', async () => {
  await send('A', 'a1')
  await send('A', 'a2')
  await send('A', 'erase', operations.eraseUser)
  expect(begun).toEqual(['a1', 'erase'])
})

test('a request whose caller has left while it waited does not begin', async () => {
  await send('A', 'a1')
  const left = await send('A', 'left')
  await send('A', 'a2')
  left.destroy()
  const { server } = app
  await expect
    .poll(() => new Promise(resolve => server.getConnections((_error, count) => resolve(count))))
    .toBe(2)
  finish.shift()?.()
  await expect.poll(() => begun).toEqual(['a1', 'a2'])
  expect(gate.numbers().inFlight).toBe(1)
})
