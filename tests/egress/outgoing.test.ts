import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parseAllowList } from '../../service/src/webhooks/egress/address.ts'
import { faultOf } from '../../service/src/webhooks/egress/outcome.ts'
import type { Outgoing, OutgoingOptions } from '../../service/src/webhooks/egress/outgoing.ts'
import { createResolver, type NameResolver } from '../../service/src/webhooks/egress/resolver.ts'
import { assess } from '../../service/src/webhooks/endpoint/verdict.ts'
import { goByTicks } from '../ticks.ts'
import { CERTIFICATES } from './certificates.ts'
import { type Endpoint, reply } from './endpoint.ts'
import { HOSTILE_HOSTS, HOSTILE_IPS } from './hostile-addresses.ts'
import { type NameServer, startNameServer } from './name-server.ts'
import { answering, endpoint, openOutgoing } from './stage.ts'

const SERVFAIL = 2
const NXDOMAIN = 3
const OK = reply('200 OK', '"received"')
const request = { headers: { 'Idempotency-Key': 'k' }, body: Buffer.from('{"userid":"ü"}') }
let names: NameServer
let resolver: NameResolver

beforeEach(async () => {
  names = await startNameServer()
  resolver = lookUpWithin(20_000)
  onTestFinished(names.close)
})

/** A resolver that asks the test's name server and waits for it only this long. */
function lookUpWithin(timeoutMs: number): NameResolver {
  const made = createResolver({ servers: [names.address], timeoutMs })
  onTestFinished(async () => made.close())
  return made
}

/** The failure of a look-up that gets no address in a short time. */
function faultOfLookup(name: string): Promise<string> {
  return lookUpWithin(400)
    .resolve(name)
    .then(
      addresses => addresses.join(),
      (fault: { errorClass: string }) => fault.errorClass,
    )
}

function out(options: Partial<OutgoingOptions> = {}): Outgoing {
  const rules = { sandbox: false, allow: parseAllowList('127.0.0.1/32') }
  return openOutgoing({ rules, resolver, ...options })
}

function named(target: Endpoint, name = 'good.example') {
  return target.url.replace('127.0.0.1', name)
}

describe('what is sent', () => {
  test('is one POST with the given headers and exactly the given bytes', async () => {
    const target = await endpoint(answering(OK))
    const outcome = await out().send({ endpointId: 'e', url: `${target.url}?a=b` }, request)
    expect(outcome).toMatchObject({ status: 200, address: '127.0.0.1', snippet: '"received"' })
    expect(target.requests).toHaveLength(1)
    const [text = ''] = target.requests
    expect(text.split('\r\n')[0]).toBe('POST /hook?a=b HTTP/1.1')
    expect(text).toContain(`host: 127.0.0.1:${target.port}\r\n`)
    expect(text).toContain('Idempotency-Key: k\r\n')
    expect(text).toContain('content-length: 15\r\n')
    expect(text.endsWith('\r\n\r\n{"userid":"ü"}')).toBe(true)
    expect(text).not.toMatch(/accept-encoding|expect|upgrade/i)
  })
  test('is timed step by step, and the end of the certificate is reported', async () => {
    names.zones.set('good.example', ['127.0.0.1'])
    const target = await endpoint(answering(OK), { tls: CERTIFICATES.good })
    const outgoing = out({ trusted: CERTIFICATES.good.cert })
    const destination = { endpointId: 'e', url: named(target) }
    const number = expect.any(Number)
    expect(await outgoing.send(destination, request)).toMatchObject({
      status: 200,
      timings: { dnsMs: number, connectMs: number, tlsMs: number, firstByteMs: number, totalMs: number },
    })
    const again = await outgoing.send(destination, request)
    const { validTo } = new X509Certificate(CERTIFICATES.good.cert)
    expect(again).toMatchObject({ certificateEndsAt: Date.parse(validTo) })
    expect(Object.keys(again.timings).sort()).toEqual(['firstByteMs', 'totalMs'])
    expect(again.address).toBe('127.0.0.1')
  })
})

describe('connections', () => {
  test('serve one attempt after the other, and as many at once as are requested', async () => {
    const target = await endpoint({ onRequest: socket => setTimeout(() => socket.write(OK), 30) })
    const outgoing = out()
    const destination = { endpointId: 'e', url: target.url }
    for (let n = 0; n < 5; n += 1) await outgoing.send(destination, request)
    expect(target.accepted()).toBe(1)
    await Promise.all(Array.from({ length: 6 }, () => outgoing.send(destination, request)))
    expect(target.accepted()).toBe(6)
    expect(outgoing.connections()).toBe(6)
  })
  test('are never shared between endpoints, even of one address', async () => {
    const target = await endpoint(answering(OK))
    const outgoing = out()
    for (const endpointId of ['a', 'b', 'a', 'b'])
      await outgoing.send({ endpointId, url: target.url }, request)
    expect(target.accepted()).toBe(2)
  })
  test('to an old address are not used for a new one', async () => {
    const before = await endpoint(answering(OK))
    const after = await endpoint(answering(reply('201 Created')))
    const outgoing = out()
    await outgoing.send({ endpointId: 'e', url: before.url }, request)
    expect(await outgoing.send({ endpointId: 'e', url: after.url }, request)).toMatchObject({ status: 201 })
    await expect.poll(before.open).toBe(0)
  })
  test('that the endpoint asks to close are closed', async () => {
    const target = await endpoint(answering(reply('200 OK', 'x', ['connection: close'])))
    const outgoing = out()
    await outgoing.send({ endpointId: 'e', url: target.url }, request)
    await expect.poll(target.open).toBe(0)
    await expect.poll(outgoing.connections).toBe(0)
  })
  test('are kept after an answer of 16 KiB and closed within one that is longer', async () => {
    for (const [bytes, kept] of [
      [16 * 1024, 1],
      [16 * 1024 + 1, 0],
    ] as const) {
      const target = await endpoint(answering(reply('200 OK', 'a'.repeat(bytes))))
      const outgoing = out()
      const outcome = await outgoing.send({ endpointId: 'e', url: target.url }, request)
      expect(outcome).toMatchObject({ status: 200, snippet: 'a'.repeat(1024) })
      await expect.poll(outgoing.connections).toBe(kept)
      await expect.poll(target.open).toBe(kept)
    }
  })
  test('of a forgotten endpoint are closed, a busy one after its attempt', async () => {
    const target = await endpoint({ onRequest: socket => setTimeout(() => socket.write(OK), 60) })
    const outgoing = out()
    const destination = { endpointId: 'e', url: target.url }
    await Promise.all([outgoing.send(destination, request), outgoing.send(destination, request)])
    const busy = outgoing.send(destination, request)
    outgoing.forget('e')
    expect(await busy).toMatchObject({ status: 200 })
    await expect.poll(target.open).toBe(0)
    expect(outgoing.connections()).toBe(0)
  })
  test('that went stale while idle cost no attempt: it is repeated at once on a new connection', async () => {
    const target = await endpoint({
      onRequest: (socket, count) => (count === 1 ? socket.write(OK) : socket.resetAndDestroy()),
    })
    const outgoing = out()
    const destination = { endpointId: 'e', url: target.url }
    for (let n = 0; n < 4; n += 1)
      expect(await outgoing.send(destination, request)).toMatchObject({ status: 200 })
    expect(target.accepted()).toBe(4)
    expect(new Set(target.requests).size).toBe(1)
  })
  test('that break after the first byte of the answer do cost the attempt', async () => {
    const target = await endpoint({
      onRequest: (socket, count) =>
        count === 1 ? socket.write(OK) : socket.write('HTTP/1.1 ', () => socket.resetAndDestroy()),
    })
    const outgoing = out()
    const destination = { endpointId: 'e', url: target.url }
    await outgoing.send(destination, request)
    expect(await outgoing.send(destination, request)).toMatchObject({ errorClass: 'reset' })
    expect(target.accepted()).toBe(1)
  })
})

describe('faults of our own are told apart', () => {
  test('closing ends every attempt, under way or later, as stopped, and leaves no socket', async () => {
    const silent = await endpoint({})
    const handshake = await endpoint({})
    goByTicks()
    names.zones.set('slow.example', 'silent')
    const outgoing = out({ resolver: lookUpWithin(3000) })
    const attempts = [
      outgoing.send({ endpointId: 'a', url: silent.url }, request),
      outgoing.send({ endpointId: 'b', url: handshake.url.replace('http:', 'https:') }, request),
      outgoing.send({ endpointId: 'c', url: 'https://slow.example/' }, request),
    ]
    await expect.poll(() => silent.requests.length + handshake.accepted()).toBe(2)
    await outgoing.close()
    for (const outcome of await Promise.all(attempts))
      expect(outcome).toMatchObject({ errorClass: 'stopped' })
    expect(outgoing.connections()).toBe(0)
    await expect.poll(() => silent.open() + handshake.open()).toBe(0)
    const late = await outgoing.send({ endpointId: 'a', url: silent.url }, request)
    expect(assess(late, 0)).toEqual({ kind: 'unspent', fault: 'stopped' })
  })
  test('a deadline that passed while this process stood still is no time-out of the endpoint', async () => {
    const target = await endpoint({})
    const sending = out({ deadlineMs: 200 }).send({ endpointId: 'e', url: target.url }, request)
    // Blocks at once, because on a slow machine the deadline could pass before.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1400)
    expect(await sending).toMatchObject({ errorClass: 'stalled' })
  })
  test('a proxy that could not answer because this process stood still is no fault of the endpoint', async () => {
    // Its timers go off when the test says so, and by then they are late.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const server = createServer().on('connect', (_request, socket) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100)
      vi.advanceTimersByTime(50)
      socket.destroy()
    })
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const proxy = { host: '127.0.0.1', port, authorization: undefined }
    const outcome = await out({ connectMs: 50, proxy }).send(
      { endpointId: 'e', url: 'http://127.0.0.1:1/' },
      request,
    )
    expect(outcome).toMatchObject({ errorClass: 'stalled' })
  })
  test('a name server that cannot be reached is our fault', async () => {
    const nobody = createResolver({ servers: ['127.0.0.1:1'], timeoutMs: 400 })
    const outcome = await out({ resolver: nobody }).send(
      { endpointId: 'e', url: 'https://good.example/' },
      request,
    )
    expect(outcome).toMatchObject({ errorClass: 'resolver' })
  })
  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])('%s is our shortage', code => {
    const error = Object.assign(new Error(code), { code })
    expect(faultOf(error, 'connect').errorClass).toBe('exhausted')
    expect(assess({ errorClass: 'exhausted', timings: { totalMs: 1 } }, 0).kind).toBe('unspent')
  })
  test('a name server that answers nothing is our fault, but silence about a single name is the fault of that name', async () => {
    names.zones.set('silent.example', 'silent')
    names.zones.set('', 'silent')
    expect(await faultOfLookup('silent.example')).toBe('resolver')
    // Any answer about the root shows that the name server is alive, unless it arrives too late.
    for (const rcode of [SERVFAIL, NXDOMAIN]) {
      names.zones.set('', { rcode })
      await expect.poll(() => faultOfLookup('silent.example')).toBe('dns')
    }
  })
  test('a name server that answers for another name counts as present, and concurrent look-ups ask it for the root once', async () => {
    goByTicks()
    names.zones.set('silent.example', 'silent')
    names.zones.set('other.example', ['192.0.2.1'])
    names.zones.set('', 'silent')
    const resolver = lookUpWithin(1500)
    const looking = resolver.resolve('silent.example')
    expect(await resolver.resolve('other.example')).toEqual(['192.0.2.1'])
    await expect(looking).rejects.toMatchObject({ errorClass: 'dns' })
    names.questions.length = 0
    const all = await Promise.allSettled([1, 2, 3].map(() => resolver.resolve('silent.example')))
    expect(all).toMatchObject([1, 2, 3].map(() => ({ reason: { errorClass: 'resolver' } })))
    expect(names.questions.filter(question => question === '/4').length).toBeLessThanOrEqual(2)
  })
  test('a missing network is our shortage, but a missing IPv6 route to an endpoint with IPv6 only is not', () => {
    const unreachable = (address: string) =>
      Object.assign(new Error('connect'), { code: 'ENETUNREACH', address })
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', address: '2001:db8::1' })
    const classOf = (error: Error) => faultOf(error, 'connect').errorClass
    expect(classOf(unreachable('192.0.2.1'))).toBe('exhausted')
    expect(classOf(new AggregateError([unreachable('192.0.2.1'), unreachable('2001:db8::1')]))).toBe(
      'exhausted',
    )
    expect(classOf(unreachable('2001:db8::1'))).toBe('connect')
    expect(classOf(new AggregateError([unreachable('192.0.2.1'), refused]))).toBe('connect')
  })
  test('headers that cannot be sent are our mistake', async () => {
    const target = await endpoint(answering(OK))
    const outcome = await out().send(
      { endpointId: 'e', url: target.url },
      { ...request, headers: { x: 'a\nb' } },
    )
    expect(outcome).toMatchObject({ errorClass: 'unexpected', cause: expect.any(Error) })
  })
})

describe('names', () => {
  const send = (outgoing: Outgoing, url: string) => outgoing.send({ endpointId: 'e', url }, request)

  test('are looked up once for each connection, in both families', async () => {
    const target = await endpoint(answering(OK))
    names.zones.set('good.example', ['127.0.0.1'])
    const outgoing = out()
    expect(await send(outgoing, named(target))).toMatchObject({ status: 200 })
    expect(await send(outgoing, named(target))).toMatchObject({ status: 200 })
    expect([...names.questions].sort()).toEqual(['good.example/4', 'good.example/6'])
  })
  test('with one private address among allowed ones are refused altogether', async () => {
    const target = await endpoint(answering(OK))
    for (const bad of ['10.0.0.1', '::1', '169.254.169.254', 'fd00::1', '::ffff:127.0.0.1', '127.0.0.2']) {
      for (const answer of [
        ['127.0.0.1', bad],
        [bad, '127.0.0.1'],
      ]) {
        names.zones.set('mixed.example', answer)
        expect(await send(out(), named(target, 'mixed.example'))).toMatchObject({
          errorClass: 'blocked_address',
          address: undefined,
        })
      }
    }
    expect(target.accepted()).toBe(0)
  })
  test('that point to another address at the second attempt reach nothing there', async () => {
    const target = await endpoint(answering(reply('200 OK', '', ['connection: close'])))
    const outgoing = out()
    names.zones.set('rebind.example', ['127.0.0.1'])
    expect(await send(outgoing, named(target, 'rebind.example'))).toMatchObject({ status: 200 })
    names.zones.set('rebind.example', ['169.254.169.254'])
    expect(await send(outgoing, named(target, 'rebind.example'))).toMatchObject({
      errorClass: 'blocked_address',
    })
  })
  test('that change with each look-up are never connected to at an address that was not checked', async () => {
    const trap = await endpoint(answering(OK), { host: '0.0.0.0' })
    let asked = 0
    names.zones.set('flip.example', family => {
      asked += 1
      return family === 4 ? [asked % 4 < 2 ? '127.0.0.1' : '127.0.0.2'] : []
    })
    const seen = new Set<string>()
    for (let n = 0; n < 8; n += 1) {
      const outcome = await send(out(), `http://flip.example:${trap.port}/`)
      seen.add(outcome.errorClass ?? `${outcome.status} ${outcome.address}`)
    }
    expect([...seen].sort()).toEqual(['200 127.0.0.1', 'blocked_address'])
  })
  test('that do not exist, have no address or cannot be looked up are faults of the endpoint', async () => {
    names.zones.set('empty.example', [])
    names.zones.set('broken.example', { rcode: SERVFAIL })
    names.zones.set('missing.example', { rcode: NXDOMAIN })
    names.zones.set('silent.example', 'silent')
    for (const name of ['empty', 'broken', 'missing'])
      expect(await send(out(), `https://${name}.example/`), name).toMatchObject({ errorClass: 'dns' })
    const ofSilent = () => send(out({ resolver: lookUpWithin(400) }), 'https://silent.example/')
    await expect.poll(async () => (await ofSilent()).errorClass).toBe('dns')
  })
  test('whose name server never answers for IPv6 are reached by IPv4', async () => {
    const target = await endpoint(answering(OK))
    names.zones.set('half.example', family => (family === 4 ? ['127.0.0.1'] : 'silent'))
    expect(await send(out(), named(target, 'half.example'))).toMatchObject({ status: 200 })
    names.zones.set('half.example', family => (family === 4 ? ['127.0.0.1'] : { rcode: SERVFAIL }))
    expect(await send(out(), named(target, 'half.example'))).toMatchObject({ status: 200 })
  })
  test('with a dead address first are reached at the next one', async () => {
    const target = await endpoint(answering(OK))
    names.zones.set('two.example', ['127.0.0.3', '127.0.0.1'])
    const rules = { sandbox: false, allow: parseAllowList('127.0.0.0/8') }
    expect(await send(out({ rules }), named(target, 'two.example'))).toMatchObject({
      status: 200,
      address: '127.0.0.1',
    })
  })
  test('under localhost mean this machine, are not looked up, and count in a sandbox only', async () => {
    const target = await endpoint(answering(OK))
    const sandbox = out({ rules: { sandbox: true, allow: [] } })
    for (const name of ['localhost', 'a.localhost'])
      expect(await send(sandbox, named(target, name))).toMatchObject({ status: 200, address: '127.0.0.1' })
    const live = out({ rules: { sandbox: false, allow: [] } })
    expect(await send(live, named(target, 'localhost'))).toMatchObject({ errorClass: 'blocked_address' })
    expect(names.questions).toEqual([])
  })
  test('are resolved within a limit, after which the second address family is no longer awaited', async () => {
    names.zones.set('late.example', family => (family === 4 ? ['192.0.2.1'] : 'silent'))
    expect(await resolver.resolve('late.example')).toEqual(['192.0.2.1'])
    names.zones.set('never.example', 'silent')
    await expect.poll(() => faultOfLookup('never.example')).toBe('dns')
  })
})

describe('no connection is made to an address that is not public', () => {
  const live = { sandbox: false, allow: [] }

  test('however its IP address is written', async () => {
    const outgoing = out({ rules: live })
    const literals = [
      ...HOSTILE_IPS.map(ip => (ip.includes(':') ? `[${ip}]` : ip)),
      ...HOSTILE_HOSTS.filter(host => /^[\d[]|^%3/.test(host)),
    ]
    expect(literals.length).toBeGreaterThan(200)
    for (const host of literals) {
      const outcome = await outgoing.send({ endpointId: 'e', url: `https://${host}/` }, request)
      expect(outcome, host).toMatchObject({ errorClass: 'blocked_address' })
    }
    expect(names.questions).toEqual([])
  })
  test('whatever name resolves to it', async () => {
    const outgoing = out({ rules: live })
    for (const ip of HOSTILE_IPS) {
      names.zones.set('evil.example', [ip])
      const outcome = await outgoing.send({ endpointId: 'e', url: 'https://evil.example/' }, request)
      expect(outcome, ip).toMatchObject({ errorClass: 'blocked_address' })
    }
  })
  test('a public address is not reached by plain http', async () => {
    names.zones.set('public.example', ['8.8.8.8'])
    const outgoing = out({ rules: { sandbox: false, allow: parseAllowList('127.0.0.1') } })
    for (const host of ['8.8.8.8', 'public.example'])
      expect(await outgoing.send({ endpointId: 'e', url: `http://${host}/` }, request)).toMatchObject({
        errorClass: 'blocked_address',
      })
  })
  test('this machine is not reached by an address that the system maps to one of its own', async () => {
    const target = await endpoint(answering(OK), { host: '0.0.0.0' })
    // On Linux 0.0.0.0 means this machine; only the connected socket shows this.
    const rules = { sandbox: false, allow: parseAllowList('0.0.0.0/32') }
    const outcome = await out({ rules }).send(
      { endpointId: 'e', url: `http://0.0.0.0:${target.port}/` },
      request,
    )
    expect(outcome).toMatchObject({ errorClass: 'blocked_address', address: undefined })
    expect(target.requests).toEqual([])
    await expect.poll(target.open).toBe(0)
  })
  test('a private address of this machine is not reached, unless the operator allows it', async () => {
    const own = Object.values(networkInterfaces())
      .flatMap(list => list ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4')?.address
    if (own === undefined) return
    const target = await endpoint(answering(OK), { host: own })
    const destination = { endpointId: 'e', url: target.url }
    const sandboxed = out({ rules: { sandbox: true, allow: [] } })
    expect(await sandboxed.send(destination, request)).toMatchObject({ errorClass: 'blocked_address' })
    const allowing = out({ rules: { sandbox: false, allow: parseAllowList(`${own}/32`) } })
    expect(await allowing.send(destination, request)).toMatchObject({ status: 200 })
    expect(target.accepted()).toBe(1)
  })
})

test('the deadline holds for everything together', async () => {
  goByTicks()
  names.zones.set('good.example', family => (family === 4 ? ['127.0.0.1'] : 'silent'))
  const target = await endpoint({})
  const outcome = await out({ deadlineMs: 450 }).send({ endpointId: 'e', url: named(target) }, request)
  expect(outcome).toMatchObject({ errorClass: 'timeout' })
  const silentName = out({ deadlineMs: 100, resolver: lookUpWithin(600) })
  names.zones.set('silent.example', 'silent')
  expect(await silentName.send({ endpointId: 'e', url: 'https://silent.example/' }, request)).toMatchObject({
    errorClass: 'timeout',
  })
  await expect.poll(silentName.connections).toBe(0)
})
