import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Outgoing, OutgoingOptions } from '../../service/src/webhooks/egress/outgoing.ts'
import { createResolver } from '../../service/src/webhooks/egress/resolver.ts'
import { assess } from '../../service/src/webhooks/endpoint/verdict.ts'
import { goByTicks } from '../ticks.ts'
import { CERTIFICATES } from './certificates.ts'
import { drip, type Endpoint, flood, reply, type Script } from './endpoint.ts'
import { answering, endpoint, openOutgoing } from './stage.ts'

const MEGABYTE = 1024 * 1024

const request = {
  headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json' },
  body: Buffer.from('{"userid":"u"}'),
}

beforeEach(goByTicks)
function out(options: Partial<OutgoingOptions> = {}): Outgoing {
  const resolver = createResolver({ servers: ['127.0.0.1:1'] })
  return openOutgoing({ rules: { sandbox: true, allow: [] }, resolver, ...options })
}

/** One attempt against an endpoint, after which neither side may hold a socket. */
async function attemptOnce(target: Endpoint, options: Partial<OutgoingOptions> = {}) {
  const outgoing = out(options)
  const outcome = await outgoing.send({ endpointId: 'e', url: target.url }, request)
  await outgoing.close()
  expect(outgoing.connections()).toBe(0)
  await expect.poll(target.open).toBe(0)
  return outcome
}

const OK = reply('200 OK', '"received"')

describe('an endpoint without an answer is classified within the deadline', () => {
  test('a closed port', async () => {
    const target = await endpoint({})
    await target.close()
    expect(await attemptOnce(target)).toMatchObject({ errorClass: 'connect', address: '127.0.0.1' })
  })
  test('accepts nothing', async () => {
    const code = `require('net').createServer().listen(0,'127.0.0.1',1,function(){console.log(this.address().port)})`
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    child.kill('SIGSTOP')
    const port = Number(line.toString())
    const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    onTestFinished(async () => {
      for (const filler of fillers) filler.destroy()
    })
    await expect.poll(() => fillers.filter(filler => !filler.connecting).length).toBeGreaterThan(1)
    const outgoing = out({ connectMs: 250 })
    const outcome = await outgoing.send({ endpointId: 'e', url: `http://127.0.0.1:${port}/` }, request)
    expect(outcome).toMatchObject({ errorClass: 'connect' })
    await expect.poll(outgoing.connections).toBe(0)
  })
  test('resets on connect', async () => {
    // Sooner or later than this side learns of the connection.
    const target = await endpoint({ onConnection: socket => socket.resetAndDestroy() })
    expect(await attemptOnce(target)).toMatchObject({
      errorClass: expect.stringMatching(/^(connect|reset)$/),
    })
  })
  test.each<[string, Script, string]>([
    ['says nothing', {}, 'timeout'],
    [
      'says one byte now and then',
      { onRequest: socket => drip(socket, reply('200 OK', 'x'.repeat(999)), 50) },
      'timeout',
    ],
    [
      'sends one header byte now and then for ever',
      { onRequest: socket => drip(socket, `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(999)}`, 20) },
      'timeout',
    ],
    ['hangs up on connect', { onConnection: socket => socket.destroy() }, 'reset'],
    ['hangs up on the request', { onRequest: socket => socket.end() }, 'reset'],
    ['resets on the request', { onRequest: socket => socket.resetAndDestroy() }, 'reset'],
    [
      'resets in the head',
      { onRequest: socket => socket.write('HTTP/1.1 200 OK\r\nx: ', () => socket.resetAndDestroy()) },
      'reset',
    ],
    ['ends in the head', { onRequest: socket => socket.end('HTTP/1.1 200 OK\r\nx: ') }, 'reset'],
    ['is no HTTP server', { onConnection: socket => socket.write('SSH-2.0-OpenSSH_9.9\r\n') }, 'protocol'],
    ['speaks HTTP/2', answering(Buffer.from('000012040000000000', 'hex')), 'protocol'],
    [
      'switches protocols',
      answering('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
      'protocol',
    ],
    ['says 101 and no more', answering('HTTP/1.1 101 Switching Protocols\r\n\r\n'), 'protocol'],
    ['says 100 that nobody asked for', answering(`HTTP/1.1 100 Continue\r\n\r\n${OK}`), 'protocol'],
    [
      'sends two lengths',
      answering('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
      'protocol',
    ],
    [
      'sends a length and chunks',
      answering('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
      'protocol',
    ],
    [
      'sends 5,000 headers',
      answering(
        reply(
          '200 OK',
          '',
          Array.from({ length: 5000 }, (_, n) => `x-${n}: ${n}`),
        ),
      ),
      'headers_too_large',
    ],
    [
      'sends one header of 100 KB',
      answering(reply('200 OK', '', [`x: ${'a'.repeat(100_000)}`])),
      'headers_too_large',
    ],
  ])('%s', async (_name, script, errorClass) => {
    const limit = errorClass === 'timeout' ? { deadlineMs: 600 } : {}
    const outcome = await attemptOnce(await endpoint(script), limit)
    expect(outcome).toMatchObject({ errorClass, address: '127.0.0.1' })
    expect(outcome).not.toHaveProperty('status', expect.anything())
    expect(assess(outcome, 0)).toEqual({ kind: 'failed', blame: 'endpoint' })
  })
})

describe('an endless answer is cut off long before 20 MB', () => {
  const onRequest = (head: string, piece: string): Script => ({
    onRequest: socket => {
      socket.write(head)
      flood(socket, piece)
    },
  })
  const big = 'a'.repeat(65_536)
  const chunk = `10000\r\n${big}\r\n`
  test.each<[string, Script, object]>([
    ['100 MB', onRequest('HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n', big), { status: 200 }],
    ['a body without length', onRequest('HTTP/1.1 500 Oops\r\n\r\n', big), { status: 500 }],
    ['chunks', onRequest('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', chunk), { status: 200 }],
    [
      'chunks of one byte',
      onRequest('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\na\r\n'.repeat(5000)),
      { status: 200 },
    ],
    [
      'a chunk extension',
      onRequest('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x=', big),
      { status: 200 },
    ],
    [
      'trailers',
      onRequest('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', 'x: y\r\n'.repeat(5000)),
      { status: 200 },
    ],
    [
      'headers',
      onRequest('HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(5000)),
      { errorClass: 'headers_too_large' },
    ],
    ['one header', onRequest('HTTP/1.1 200 OK\r\nx: ', big), { errorClass: 'headers_too_large' }],
    ['a reason phrase', onRequest('HTTP/1.1 200 ', big), { errorClass: 'protocol' }],
    [
      'interim answers',
      onRequest('', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(500)),
      { errorClass: 'protocol' },
    ],
    ['empty lines', onRequest('', '\r\n'.repeat(30_000)), { errorClass: 'protocol' }],
    ['garbage', onRequest('', big), { errorClass: 'protocol' }],
  ])('%s', async (_name, script, outcome) => {
    const target = await endpoint(script)
    expect(await attemptOnce(target)).toMatchObject(outcome)
    // This includes what the kernel buffers on both sides of a local connection, so the limit is not 64 KiB.
    expect(target.sent()).toBeLessThan(10 * MEGABYTE)
  })
  const inPieces = (count: number) =>
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(count)}0\r\n\r\n`
  test('more than 16 KiB or 512 chunks are not read, and the connection serves no other attempt', async () => {
    for (const [answer, connections] of [
      [reply('200 OK', 'a'.repeat(16 * 1024)), 1],
      [reply('200 OK', 'a'.repeat(16 * 1024 + 1)), 2],
      [inPieces(512), 1],
      [inPieces(513), 2],
    ] as const) {
      const target = await endpoint(answering(answer))
      const outgoing = out()
      for (const _ of [1, 2])
        expect(await outgoing.send({ endpointId: 'e', url: target.url }, request)).toMatchObject({
          status: 200,
        })
      expect(target.accepted()).toBe(connections)
    }
  })
  test('a gzip bomb, which is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * MEGABYTE))
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
    const outcome = await attemptOnce(await endpoint(answering(Buffer.concat([Buffer.from(head), bomb]))))
    expect(outcome).toMatchObject({ status: 200 })
    expect(outcome.status !== undefined && outcome.snippet.length).toBeLessThanOrEqual(1024)
  })
})

describe('the status decides, whatever happens to the body', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
  test.each<[string, Script]>([
    ['stalls', answering(`${head}abc`)],
    [
      'comes byte by byte',
      {
        onRequest: socket => {
          socket.write(head)
          drip(socket, 'abc'.repeat(33), 30)
        },
      },
    ],
    ['is reset', { onRequest: socket => socket.write(`${head}abc`, () => socket.resetAndDestroy()) }],
    ['is too short', { onRequest: socket => socket.end(`${head}abc`) }],
    ['is too long', answering('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcdef')],
    [
      'has broken chunks',
      answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'),
    ],
    ['never begins', answering(head)],
  ])('when it %s', async (name, script) => {
    const outcome = await attemptOnce(await endpoint(script), { deadlineMs: 1000 })
    expect(outcome).toMatchObject({ status: 200 })
    if (name !== 'never begins') expect(outcome).toMatchObject({ snippet: expect.stringMatching(/^abc/) })
    expect(assess(outcome, 0)).toEqual({ kind: 'delivered' })
  })
  test('no more than 1 KiB of the body is kept, as text that PostgreSQL accepts', async () => {
    const kept = async (body: Buffer) => {
      const answer = Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`),
        body,
      ])
      const outcome = await attemptOnce(await endpoint(answering(answer)))
      return outcome.status === undefined ? undefined : outcome.snippet
    }
    expect(await kept(Buffer.from('é'.repeat(2000)))).toBe('é'.repeat(512))
    expect(await kept(Buffer.from(`x${'é'.repeat(2000)}`))).toBe(`x${'é'.repeat(511)}`)
    expect(await kept(Buffer.from('a\0b\xff', 'latin1'))).toBe('a\uFFFDb\uFFFD')
    expect(await kept(Buffer.from(''))).toBe('')
  })
})

describe('an answer counts as sent, and nothing more is read into it', () => {
  test('a redirect is not followed', async () => {
    const trap = await endpoint(answering(OK))
    for (const location of [trap.url, 'http://169.254.169.254/latest/meta-data/']) {
      const target = await endpoint(answering(reply('302 Found', '', [`location: ${location}`])))
      expect(await attemptOnce(target)).toMatchObject({ status: 302 })
    }
    expect(trap.accepted()).toBe(0)
  })
  test('the first of two Retry-After headers counts', async () => {
    const target = await endpoint(
      answering(reply('503 Later', '', ['retry-after: 7', 'x-other: y', 'retry-after: 9'])),
    )
    expect(await attemptOnce(target)).toMatchObject({ status: 503, retryAfter: '7' })
  })
  test('an answer that comes before the request is complete counts', async () => {
    const target = await endpoint({
      onConnection: socket => socket.write(reply('503 Busy', '', ['connection: close'])),
    })
    expect(await attemptOnce(target)).toMatchObject({ status: 503 })
  })
  test('an early hint does not replace the answer', async () => {
    const target = await endpoint(answering(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`))
    expect(await attemptOnce(target)).toMatchObject({ status: 200, snippet: '"received"' })
  })
  test('an extra answer is never taken for the answer to the next attempt', async () => {
    const target = await endpoint({
      onRequest: socket =>
        socket.write(target.accepted() === 1 ? `${OK}${reply('204 Forged')}` : reply('500 Real')),
    })
    const outgoing = out()
    const destination = { endpointId: 'e', url: target.url }
    expect(await outgoing.send(destination, request)).toMatchObject({ status: 200 })
    expect(await outgoing.send(destination, request)).toMatchObject({ status: 500 })
    expect(target.accepted()).toBe(2)
  })
  test('an extra answer that comes late closes the idle connection', async () => {
    const target = await endpoint({
      onRequest: socket => {
        socket.write(target.accepted() === 1 ? OK : reply('500 Real'))
        if (target.accepted() === 1) setTimeout(() => socket.write(reply('204 Forged')), 50)
      },
    })
    const outgoing = out()
    const destination = { endpointId: 'e', url: target.url }
    expect(await outgoing.send(destination, request)).toMatchObject({ status: 200 })
    await expect.poll(target.open).toBe(0)
    expect(outgoing.connections()).toBe(0)
    expect(await outgoing.send(destination, request)).toMatchObject({ status: 500 })
  })
})

describe('TLS', () => {
  const { good, wrong, expired } = CERTIFICATES
  test('a certificate that is trusted and fits is accepted, and the handshake is timed', async () => {
    const target = await endpoint(answering(OK), { tls: good })
    const outcome = await attemptOnce(target, { trusted: good.cert })
    expect(outcome).toMatchObject({
      status: 200,
      timings: { connectMs: expect.any(Number), tlsMs: expect.any(Number) },
    })
  })
  test.each<[string, Parameters<typeof endpoint>[1], string | undefined]>([
    ['an unknown issuer', { tls: good }, undefined],
    ['another name', { tls: wrong }, wrong.cert],
    ['a date long past', { tls: expired }, expired.cert],
    [
      'an old protocol only',
      { tls: { ...good, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } },
      good.cert,
    ],
    [
      'a client certificate asked for',
      { tls: { ...good, requestCert: true, rejectUnauthorized: true } },
      good.cert,
    ],
  ])('%s ends the attempt before the request is sent', async (name, options, trusted) => {
    const target = await endpoint(answering(OK), options)
    const outcome = await attemptOnce(target, trusted === undefined ? {} : { trusted })
    expect(outcome.errorClass, name).toMatch(/^(tls|reset)$/)
    expect(target.requests).toEqual([])
  })
  test.each<[string, Script]>([
    ['never shakes hands', {}],
    ['speaks plain HTTP', { onConnection: socket => socket.write(OK) }],
    ['hangs up in the handshake', { onConnection: socket => socket.end() }],
    [
      'sends garbage in the handshake for ever',
      { onConnection: socket => flood(socket, Buffer.alloc(65_536, 22)) },
    ],
  ])('an endpoint that %s', async (_name, script) => {
    const plain = await endpoint(script)
    const target = { ...plain, url: plain.url.replace('http:', 'https:') }
    const outcome = await attemptOnce(target, { tlsMs: 300 })
    expect(outcome).toMatchObject({ errorClass: 'tls', address: '127.0.0.1' })
    expect(plain.sent()).toBeLessThan(10 * MEGABYTE)
  })
  test('an endless answer is cut off inside TLS too', async () => {
    const script: Script = {
      onRequest: socket => {
        socket.write('HTTP/1.1 200 ')
        flood(socket, 'a'.repeat(65_536))
      },
    }
    const target = await endpoint(script, { tls: good })
    expect(await attemptOnce(target, { trusted: good.cert })).toMatchObject({ errorClass: 'protocol' })
    expect(target.sent()).toBeLessThan(10 * MEGABYTE)
  })
})

test('forty hostile endpoints at once hold one connection each and harm no healthy one', async () => {
  const scripts: Script[] = [
    {},
    { onRequest: socket => drip(socket, OK, 100) },
    {
      onRequest: socket => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        flood(socket, 'a'.repeat(65_536))
      },
    },
    { onRequest: socket => socket.resetAndDestroy() },
  ]
  const hostile = await Promise.all(Array.from({ length: 40 }, (_, n) => endpoint(scripts[n % 4] ?? {})))
  const healthy = await endpoint(answering(OK))
  const outgoing = out({ deadlineMs: 3000 })
  const bad = hostile.map(({ url }, n) => outgoing.send({ endpointId: `bad${n}`, url }, request))
  const good = await Promise.all(
    Array.from({ length: 20 }, () => outgoing.send({ endpointId: 'good', url: healthy.url }, request)),
  )
  expect(good.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(hostile.every(target => target.open() <= 1)).toBe(true)
  const outcomes = await Promise.all(bad)
  expect(outcomes).toHaveLength(40)
  expect(hostile.map(target => target.accepted())).toEqual(Array(40).fill(1))
})
