import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type Operation, operations } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRequestCounts } from '../request-counts.ts'
import { defaultRequestLimits } from '../request-limits.ts'
import { createServer } from '../server.ts'
import { type Gate, openGate } from './gate.ts'
import { refuseEarly } from './refuse-early.ts'
import { refuseRouted } from './refuse-routed.ts'
import { openResting, type Resting } from './resting.ts'
import { openTurns, type Turns } from './turns.ts'

let app: FastifyInstance
let gate: Gate
let turns: Turns
let resting: Resting
let now: number
let begun: string[]
let finish: (() => void)[]
let isOver: boolean
beforeEach(async () => {
  gate = openGate({ inFlight: 100, reserved: 0, loopDelayMs: 1000 })
  turns = openTurns({ atOnce: 1, longestTicks: 1000, patienceTicks: 50 })
  now = 0
  resting = openResting(turns, () => now)
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
    resting,
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

test('a request whose body is still arriving takes no turn, and is counted when its handler begins', async () => {
  await send('A', 'a1')
  const { port } = app.server.address() as AddressInfo
  const headers = { authorization: 'A', 'content-type': 'application/json' }
  const slow = request({ port, path: operations.prefillUser.path, method: 'POST', headers, agent: false })
  slow.on('error', () => {})
  slow.write('{"name":')
  await expect.poll(turns.waiting).toBe(1)
  await send('A', 'a2')
  await send('A', 'a3')
  finish.shift()?.()
  await expect.poll(() => begun).toEqual(['a1', 'a2'])
  slow.end('"slow"}')
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'slow'])
  finish.shift()?.()
  expect(turns.waiting()).toBe(1)
  finish.shift()?.()
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'slow', 'a3'])
})

test('an erasure does not wait', async () => {
  await send('A', 'a1')
  await send('A', 'a2')
  await send('A', 'erase', operations.eraseUser)
  expect(begun).toEqual(['a1', 'erase'])
})

test('a request that has waited for too long is refused like others for which there is no room', async () => {
  await send('A', 'a1')
  const late = await send('A', 'a2')
  const answered = new Promise<IncomingMessage>(resolve => late.on('response', resolve))
  for (let tick = 0; tick < 50; tick += 1) turns.tick()
  const { statusCode, headers } = await answered
  expect([statusCode, headers['retry-after'], begun]).toEqual([503, expect.any(String), ['a1']])
  expect(gate.numbers()).toMatchObject({ inFlight: 1, shed: { full: 1 } })
})

test('a stop answers those that wait for their turn, and at once those whose refusal waits', async () => {
  let arrived = 0
  app.server.on('request', () => {
    arrived += 1
  })
  const { port } = app.server.address() as AddressInfo
  const { path } = operations.prefillUser
  const headers = { authorization: 'A', 'content-type': 'application/json' }
  // A hundred are admitted. Of the refusals fifty are sent at once, and the others later.
  const answers = Array.from({ length: 180 }, () => {
    const sent = request({ port, path, method: 'POST', headers, agent: false })
    sent.end('{}')
    return new Promise<unknown>(resolve => {
      sent.on('response', ({ statusCode }) => resolve(statusCode))
      sent.on('error', resolve)
    })
  })
  await expect.poll(() => arrived).toBe(answers.length)
  isOver = true
  const stopped = app.close()
  await expect.poll(() => finish).toHaveLength(1)
  finish.shift()?.()
  const statuses = await Promise.all(answers)
  expect(statuses.filter(status => status === 200)).toHaveLength(100)
  expect(statuses.filter(status => status === 503)).toHaveLength(80)
  await stopped
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

/** A connection to write requests on, and what it has received. */
function openConnection(partner: string) {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  let received = ''
  socket.on('data', chunk => {
    received += chunk
  })
  return {
    socket,
    write(name: string) {
      const body = JSON.stringify({ name })
      const head = `Host: a\r\nAuthorization: ${partner}\r\nContent-Type: application/json`
      socket.write(
        `POST ${operations.prefillUser.path} HTTP/1.1\r\n${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
    },
    answers: () => received.split('HTTP/1.1 200 ').length - 1,
    destroy: () => socket.destroy(),
  }
}

test('a connection with 64 requests behind an unanswered one is served in order; one with more is closed', async () => {
  const closed = openConnection('B')
  const ended = new Promise(resolve => closed.socket.on('error', () => {}).on('close', resolve))
  closed.write('b')
  await expect.poll(() => begun).toEqual(['b'])
  for (let count = 0; count < 65; count += 1) closed.write('too many')
  await ended
  const served = openConnection('A')
  for (let times = 1; times <= 2; times += 1) {
    for (const end of finish.splice(0)) end()
    await expect.poll(() => gate.numbers().inFlight).toBe(0)
    begun = []
    const names = Array.from({ length: 65 }, (_, count) => `a${count}`)
    served.write('a0')
    await expect.poll(() => begun).toEqual(['a0'])
    for (const name of names.slice(1)) served.write(name)
    await expect.poll(turns.waiting).toBe(64)
    while (served.answers() < 65 * times) {
      for (const end of finish.splice(0)) end()
      await new Promise(setImmediate)
    }
    expect(begun).toEqual(names)
  }
  served.destroy()
})

describe('a connection of a partner that floods alone', () => {
  let flooding: ReturnType<typeof openConnection>
  beforeEach(async () => {
    flooding = openConnection('A')
    await send('A', 'a1')
    now = 60_000
    flooding.write('a2')
    await expect.poll(turns.waiting).toBe(1)
    for (let count = 0; count < 200; count += 1)
      turns.wait('A', {}, end => {
        if (end) finish.push(end)
        return !isOver
      })
    finish.shift()?.()
    await expect.poll(() => begun).toEqual(['a1', 'a2'])
    finish.shift()?.()
    await expect.poll(flooding.answers).toBe(1)
    flooding.write('a3')
    const waiting = turns.waiting()
    // What arrives on another connection afterwards is read, so this one would have been read, too.
    await send('A', 'a4')
    expect(turns.waiting()).toBe(waiting + 1)
  })
  afterEach(() => flooding.destroy())

  test('rests until another partner asks', async () => {
    const other = openConnection('B')
    const waiting = turns.waiting()
    other.write('b1')
    await expect.poll(turns.waiting).toBe(waiting + 2)
    other.destroy()
  })

  test('is read before a stop closes it', async () => {
    const waiting = turns.waiting()
    resting.end()
    const closed = app.close()
    await expect.poll(turns.waiting).toBe(waiting + 1)
    isOver = true
    for (const end of finish) end()
    await closed
    await expect.poll(flooding.answers).toBe(2)
  })
})
