import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holdUsers } from '../hold-users.ts'
import { ada, startTestService, type TestService } from '../rig.ts'
import { type Answer, type Caller, eventsOf, openCaller, sendBytes } from './send.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

const day = 86_400_000
const body = { userid: 'u1', ...ada }

/** A prefill with `Version: v2` and a key. */
const prefill = (caller: Caller, key: string, sent: object = body): Promise<Answer> =>
  caller.post('/user/prefill', sent, { version: 'v2', 'idempotency-key': key })

const expectReplay = (answer: Answer, code: 'user_exists' | 'prefill_superseded') => {
  expect(answer).toMatchObject({ status: 409, code })
  expect(answer.headers.get('idempotency-replayed')).toBe('true')
  expect(answer.headers.get('idempotency-original-status')).toBe('200')
}
const expectRefused = (answer: Answer, code: string) => {
  expect(answer).toMatchObject({ status: 409, code })
  expect(answer.headers.get('idempotency-replayed')).toBeNull()
}

/** The first name that the entry holds, told by what create misses or takes over. */
const missingFields = async ({ post }: Caller): Promise<string[]> => {
  const answer = await post('/user/account/create', { userid: 'u1', offername: 'starter' })
  return ((answer.body as { errors?: { field: string }[] }).errors ?? []).map(({ field }) => field)
}
const serviceIdOf = async ({ post }: Caller): Promise<string> =>
  ((await post('/user/account/get', { userid: 'u1' })).body as { serviceid: string }).serviceid
const eventCount = async (caller: Caller) => (await eventsOf(service, caller.partner)).length

describe('without Version, or with v1', () => {
  test.each([undefined, 'v1'])('Version %s: the key is ignored and each request counts', async version => {
    const caller = await openCaller(service)
    for (const key of ['k1', 'k1', undefined, 'not visible ASCII']) {
      const headers = { version, 'idempotency-key': key }
      const answer = await caller.post('/user/prefill', body, headers)
      expect(answer).toMatchObject({ status: 200, text: '"prefill saved"' })
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(answer.headers.get('idempotency-replayed')).toBeNull()
    }
    expect(await eventCount(caller)).toBe(4)
  })
})

describe('Version', () => {
  test('v2 without a key is 400 idempotency_key_missing and stores nothing', async () => {
    const caller = await openCaller(service)
    const answer = await caller.post('/user/prefill', body, { version: 'v2' })
    expect(answer).toMatchObject({ status: 400, code: 'idempotency_key_missing' })
    expect(await caller.post('/user/account/get', { userid: 'u1' })).toMatchObject({ status: 404 })
  })

  test.each(['v3', 'V2', '2', 'v2, v2', '1.0.2'])(
    '%s is 400 unsupported_version, naming those allowed',
    async version => {
      const caller = await openCaller(service)
      const answer = await caller.post('/user/prefill', body, { version, 'idempotency-key': 'k1' })
      expect(answer).toMatchObject({ status: 400, code: 'unsupported_version' })
      const { detail } = answer.body as { detail: string }
      expect(detail).toContain('v1')
      expect(detail).toContain('v2')
      expect(await prefill(caller, 'k1')).toMatchObject({ status: 200 })
    },
  )
})

describe('v2 with a key', () => {
  test('a new key creates the entry, and the next new key replaces it whole', async () => {
    const caller = await openCaller(service)
    expect(await prefill(caller, 'k1')).toMatchObject({ status: 200, text: '"prefill saved"' })
    const serviceId = await serviceIdOf(caller)
    const sparse = { userid: 'u1', firstname: 'Ada', address: { state: 'FL' } }
    expect(await prefill(caller, 'k2', sparse)).toMatchObject({ status: 200 })
    expect(await serviceIdOf(caller)).toBe(serviceId)
    expect((await missingFields(caller)).sort()).toEqual(['dob', 'email', 'lastname', 'zipcode'])
  })

  test('a seen key with the same request is 409 user_exists that tells it had worked, and changes nothing', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    expectReplay(await prefill(caller, 'k1'), 'user_exists')
    expect(await eventCount(caller)).toBe(1)
  })

  test('the same request is the same JSON, whatever the order of its members', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1', { userid: 'u1', firstname: 'A', address: { city: 'B', state: 'FL' } })
    const reordered = '{ "address": {"state":"FL", "city":"\\u0042"}, "firstname":"A", "userid":"u1" }'
    const headers = { version: 'v2', 'idempotency-key': 'k1' }
    expectReplay(await caller.send('POST', '/user/prefill', { bytes: reordered, headers }), 'user_exists')
  })

  test('after create has consumed the entry it is user_exists still', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    await caller.partner.client.createUser({ userid: 'u1', offername: 'starter' })
    expectReplay(await prefill(caller, 'k1'), 'user_exists')
  })

  test('a registered user takes a new prefill: 200 and the event, and confirmed data stays', async () => {
    const caller = await openCaller(service)
    const { client } = caller.partner
    await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
    const before = await client.getUser({ userid: 'u1' })
    expect(await prefill(caller, 'k1', { userid: 'u1', dob: '2020-01-01', zipcode: '99501' })).toMatchObject({
      status: 200,
    })
    const after = await client.getUser({ userid: 'u1' })
    expect(after).toMatchObject({ ...before, updatedat: expect.any(String) })
    // Judged by the account's own data: the suggested child of Alaska could not move to Plus.
    expect(await client.changeOffer({ userid: 'u1', offername: 'plus' })).toMatchObject({
      direction: 'upgrade',
    })
    expect((await eventsOf(service, caller.partner)).map(event => event.eventname)).toContain(
      'enrollment_request_received',
    )
  })

  test('when a newer request has changed the entry: prefill_superseded, and the newer data stays', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    await prefill(caller, 'k2', { userid: 'u1' })
    expectReplay(await prefill(caller, 'k1'), 'prefill_superseded')
    expectReplay(await prefill(caller, 'k2', { userid: 'u1' }), 'user_exists')
    expect(await missingFields(caller)).toContain('firstname')
    await prefill(caller, 'k3')
    expectReplay(await prefill(caller, 'k2', { userid: 'u1' }), 'prefill_superseded')
    expect(await eventCount(caller)).toBe(3)
  })

  test('a newer request without a key supersedes too', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    await caller.post('/user/prefill', { userid: 'u1' })
    expectReplay(await prefill(caller, 'k1'), 'prefill_superseded')
  })

  test('a seen key with another body or userid is idempotency_key_reused, and nothing changes', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    for (const other of [{ ...body, firstname: 'Eve' }, { ...body, userid: 'u2' }, { userid: 'u1' }]) {
      expectRefused(await prefill(caller, 'k1', other), 'idempotency_key_reused')
    }
    expect(await caller.post('/user/account/get', { userid: 'u2' })).toMatchObject({ status: 404 })
    expect(await missingFields(caller)).toEqual([])
    expect((await eventsOf(service, caller.partner)).map(event => event.userid)).not.toContain('u2')
  })

  test('only a 2xx spends a key: a refused first try does not', async () => {
    const caller = await openCaller(service)
    expect(await prefill(caller, 'k1', { userid: 'u1', zipcode: 'x' })).toMatchObject({ status: 400 })
    expect(await prefill(caller, 'k1', { userid: 'u1', dob: '2999-01-01' })).toMatchObject({ status: 400 })
    expect(await prefill(caller, 'k1')).toMatchObject({ status: 200 })
  })
})

describe('the form of a key', () => {
  test('double quotes around a key are not part of it', async () => {
    const caller = await openCaller(service)
    await prefill(caller, '"k1"')
    expectReplay(await prefill(caller, 'k1'), 'user_exists')
    expectRefused(await prefill(caller, '"k1"', { userid: 'u1' }), 'idempotency_key_reused')
  })

  test.each([
    ['255 characters', 'k'.repeat(255)],
    ['255 characters in quotes', `"${'k'.repeat(255)}"`],
    ['one character', '!'],
    ['every visible sign', Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)).join('')],
  ])('%s are taken', async (_, key) => {
    expect(await prefill(await openCaller(service), key)).toMatchObject({ status: 200 })
  })

  test.each([
    ['256 characters', 'k'.repeat(256)],
    ['a space inside', 'a b'],
    ['nothing between the quotes', '""'],
    ['nothing at all', ''],
    ['a letter outside ASCII', 'é'],
    ['a tab inside', 'a\tb'],
  ])('%s are 400 idempotency_key_invalid', async (_, key) => {
    const caller = await openCaller(service)
    const answer = await sendBytes(service, {
      method: 'POST',
      path: '/user/prefill',
      headers: [
        ...Object.entries(await caller.credentials()),
        ['Content-Type', 'application/json'],
        ['Version', 'v2'],
        ['Idempotency-Key', key],
      ],
      body: JSON.stringify(body),
    })
    expect(answer).toMatchObject({ status: 400, code: 'idempotency_key_invalid' })
  })

  test('a key is one per partner and operation: the same elsewhere never meets it', async () => {
    const [a, b] = [await openCaller(service), await openCaller(service)]
    expect(await prefill(a, 'k1')).toMatchObject({ status: 200 })
    expect(await prefill(b, 'k1', { userid: 'u1' })).toMatchObject({ status: 200 })
    expectReplay(await prefill(a, 'k1'), 'user_exists')
    const created = await a.post(
      '/user/account/create',
      { userid: 'u1', offername: 'starter' },
      { 'idempotency-key': 'k1' },
    )
    expect(created).toMatchObject({ status: 200 })
    expectReplay(await prefill(b, 'k1', { userid: 'u1' }), 'user_exists')
  })
})

describe('erasure', () => {
  test('a key of an erased user is user_erased; a new key starts a new user; a day later the key is free', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    const serviceId = await serviceIdOf(caller)
    await caller.partner.client.eraseUser({ userid: 'u1' })
    expectRefused(await prefill(caller, 'k1'), 'user_erased')
    expectRefused(await prefill(caller, 'k1', { userid: 'u1' }), 'user_erased')
    expect((await caller.post('/user/account/get', { userid: 'u1' })).body).toMatchObject({
      status: 'erased',
    })
    expect(await prefill(caller, 'k2')).toMatchObject({ status: 200 })
    const fresh = await serviceIdOf(caller)
    expect(fresh).not.toBe(serviceId)
    expectRefused(await prefill(caller, 'k1'), 'user_erased')
    service.advance(day)
    expect(await prefill(caller, 'k1')).toMatchObject({ status: 200 })
    expect(await serviceIdOf(caller)).toBe(fresh)
  })
})

describe('90 days', () => {
  test('an entry lapses 90 days after its last write; its keys are free then, and the serviceid stays', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    const serviceId = await serviceIdOf(caller)
    service.advance(60 * day)
    await prefill(caller, 'k2', { userid: 'u1' })
    service.advance(60 * day)
    expectReplay(await prefill(caller, 'k1'), 'prefill_superseded')
    service.advance(30 * day - 60_000)
    expectReplay(await prefill(caller, 'k2', { userid: 'u1' }), 'user_exists')
    expect(await serviceIdOf(caller)).toBe(serviceId)
    service.advance(60_000)
    expect(await caller.post('/user/account/get', { userid: 'u1' })).toMatchObject({ status: 404 })
    const asks = { userid: 'u1', age: 36, state: 'FL', zipcode: '33101' }
    expect(await caller.post('/user/benefits', asks)).toMatchObject({ status: 404, code: 'user_not_found' })
    expect(await prefill(caller, 'k1')).toMatchObject({ status: 200 })
    expect(await serviceIdOf(caller)).toBe(serviceId)
  })

  test("a consumed entry's keys live 90 days from its last write too", async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k1')
    await caller.partner.client.createUser({ userid: 'u1', offername: 'starter' })
    service.advance(89 * day)
    expectReplay(await prefill(caller, 'k1'), 'user_exists')
    service.advance(day)
    expect(await prefill(caller, 'k1')).toMatchObject({ status: 200 })
  })
})

describe('at the same time', () => {
  test('1,000 prefills with one key: one 200, 999 times 409, one event', async () => {
    const caller = await openCaller(service)
    const answers = await Promise.all(Array.from({ length: 1000 }, () => prefill(caller, 'k1')))
    const count = (status: number) => answers.filter(answer => answer.status === status).length
    expect([count(200), count(409)]).toEqual([1, 999])
    for (const answer of answers.filter(answer => answer.status === 409)) expectReplay(answer, 'user_exists')
    expect(await eventCount(caller)).toBe(1)
  })

  test('100 prefills of one user with own keys: each is applied once, one is the last', async () => {
    const caller = await openCaller(service)
    const keys = Array.from({ length: 100 }, (_, n) => `k${n}`)
    const answers = await Promise.all(keys.map(key => prefill(caller, key)))
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
    const repeats = await Promise.all(keys.map(key => prefill(caller, key)))
    expect(repeats.filter(answer => answer.code === 'user_exists')).toHaveLength(1)
    expect(repeats.filter(answer => answer.code === 'prefill_superseded')).toHaveLength(99)
    expect(await eventCount(caller)).toBe(100)
  })

  test('when the first try cannot end in time, the second gets 503 with Retry-After, and its key is not spent', async () => {
    const caller = await openCaller(service)
    await prefill(caller, 'k0')
    const held = await holdUsers(service, caller.partner)
    const answers = await Promise.all([prefill(caller, 'k1'), prefill(caller, 'k1')])
    await held.release()
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, code: 'unavailable' })
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    expect(await prefill(caller, 'k1')).toMatchObject({ status: 200 })
  })
})
