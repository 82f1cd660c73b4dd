import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Operation, operations } from '../../contract/src/index.ts'
import { ada, startTestService, type TestService } from '../rig.ts'
import { type Answer, type Caller, eventsOf, openCaller } from './send.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

const hour = 3_600_000
type Write = { method: string; path: string; body?: object }
type Case = { id: string; write: Write; other: Write; prepare?: (caller: Caller) => Promise<unknown> }

const post = (path: string, body: object): Write => ({ method: 'POST', path, body })
const remove = (path: string): Write => ({ method: 'DELETE', path })
const create = (more: object = {}) =>
  post('/user/account/create', { userid: 'u1', ...ada, offername: 'starter', ...more })
const makeUser = ({ partner }: Caller) =>
  partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter', benefits: ['telehealth'] })

const cases: Case[] = [
  { id: 'createUser', write: create(), other: create({ benefits: ['dental'] }) },
  {
    id: 'updateUser',
    prepare: makeUser,
    write: post('/user/account/update', { userid: 'u1', phone: '3055550199' }),
    other: post('/user/account/update', { userid: 'u1', phone: '3055550198' }),
  },
  {
    id: 'cancelUser',
    prepare: makeUser,
    write: remove('/user/account/cancel/u1?reason=mistake'),
    other: remove('/user/account/cancel/u1?reason=mistake&effective=immediate'),
  },
  {
    id: 'reinstateUser',
    prepare: async caller => {
      await makeUser(caller)
      await caller.partner.client.cancelUser({ userid: 'u1', effective: 'immediate' })
    },
    write: post('/user/account/reinstate', { userid: 'u1' }),
    other: post('/user/account/reinstate', { userid: 'u2' }),
  },
  {
    id: 'changeOffer',
    prepare: makeUser,
    write: post('/user/offers', { userid: 'u1', offername: 'plus' }),
    other: post('/user/offers', { userid: 'u1', offername: 'premier' }),
  },
  {
    id: 'undoOfferChange',
    prepare: makeUser,
    write: remove('/user/offers/pending/u1'),
    other: remove('/user/offers/pending/u2'),
  },
  {
    id: 'swapBenefits',
    prepare: makeUser,
    write: post('/user/benefits/swap', { userid: 'u1', add: ['vision'], remove: ['telehealth'] }),
    other: post('/user/benefits/swap', { userid: 'u1', add: [], remove: [] }),
  },
  {
    id: 'undoSwap',
    prepare: makeUser,
    write: remove('/user/benefits/swap/u1'),
    other: remove('/user/benefits/swap/u2'),
  },
  {
    id: 'enrolBenefit',
    prepare: makeUser,
    write: post('/user/benefits/enrol', { userid: 'u1', name: 'vision' }),
    other: post('/user/benefits/enrol', { userid: 'u1', name: 'dental' }),
  },
  {
    id: 'declineBenefit',
    prepare: makeUser,
    write: post('/user/benefits/decline', { userid: 'u1', name: 'vision' }),
    other: post('/user/benefits/decline', { userid: 'u1', name: 'dental' }),
  },
]

const sendWrite = (
  caller: Caller,
  write: Write,
  key: string | undefined,
  version?: string,
): Promise<Answer> =>
  caller.send(write.method, write.path, {
    body: write.body,
    headers: { 'idempotency-key': key, version },
  })
const eventCount = async (caller: Caller) => (await eventsOf(service, caller.partner)).length

test('every keyed write on a user has its case here', () => {
  const keyed = (Object.values(operations) as Operation[]).filter(
    operation => operation.idempotency === 'keyed' && /\/user\/(?!linktoken)/.test(operation.path),
  )
  const here = new Set([...cases.map(({ id }) => id), 'eraseUser'])
  expect(keyed.map(({ id }) => id).filter(id => !here.has(id))).toEqual([])
})

describe.each(cases)('$id', ({ write, other, prepare }) => {
  test('a repeat gets the first answer again, marked, whatever Version says, and has no second effect', async () => {
    const caller = await openCaller(service)
    await prepare?.(caller)
    const first = await sendWrite(caller, write, 'k1')
    expect(first).toMatchObject({ status: 200 })
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const count = await eventCount(caller)
    for (const version of [undefined, 'v1', 'v2', 'v3']) {
      const again = await sendWrite(caller, write, 'k1', version)
      expect(again).toMatchObject({ status: 200, body: first.body })
      expect(again.headers.get('idempotency-replayed')).toBe('true')
    }
    expect(await eventCount(caller)).toBe(count)
  })

  test('the key with another request is 409 idempotency_key_reused and changes nothing', async () => {
    const caller = await openCaller(service)
    await prepare?.(caller)
    await sendWrite(caller, write, 'k1')
    const count = await eventCount(caller)
    expect(await sendWrite(caller, other, 'k1')).toMatchObject({
      status: 409,
      code: 'idempotency_key_reused',
    })
    expect(await eventCount(caller)).toBe(count)
  })

  test('once the user is erased, every key it was written with is 409 user_erased', async () => {
    const caller = await openCaller(service)
    await prepare?.(caller)
    await sendWrite(caller, write, 'k1')
    await caller.partner.client.eraseUser({ userid: 'u1' })
    expect(await sendWrite(caller, write, 'k1')).toMatchObject({ status: 409, code: 'user_erased' })
  })

  test('a key that is not 1 to 255 visible ASCII characters is 400 and changes nothing', async () => {
    const caller = await openCaller(service)
    await prepare?.(caller)
    const count = await eventCount(caller)
    for (const key of ['a b', 'k'.repeat(256)]) {
      expect(await sendWrite(caller, write, key)).toMatchObject({
        status: 400,
        code: 'idempotency_key_invalid',
      })
    }
    expect(await eventCount(caller)).toBe(count)
  })
})

describe('eraseUser', () => {
  const erase = (userid: string) => post('/user/account/erase', { userid })

  test('a repeat gets the same answer, with the key and without, also when a new user has the name', async () => {
    const caller = await openCaller(service)
    await makeUser(caller)
    const first = await sendWrite(caller, erase('u1'), 'k1')
    expect(first).toMatchObject({ status: 200 })
    const again = await sendWrite(caller, erase('u1'), 'k1')
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const unkeyed = await sendWrite(caller, erase('u1'), undefined)
    expect(unkeyed).toMatchObject({ status: 200, body: first.body })
    expect((await sendWrite(caller, erase('u1'), 'k2')).body).toEqual(first.body)
    await makeUser(caller)
    expect((await sendWrite(caller, erase('u1'), 'k1')).body).toEqual(first.body)
    expect(await caller.partner.client.getUser({ userid: 'u1' })).toMatchObject({ status: 'active' })
  })

  test('its key with another user is 409 idempotency_key_reused, and that user stays', async () => {
    const caller = await openCaller(service)
    await makeUser(caller)
    await caller.partner.client.prefillUser({ userid: 'u2' })
    await sendWrite(caller, erase('u1'), 'k1')
    expect(await sendWrite(caller, erase('u2'), 'k1')).toMatchObject({
      status: 409,
      code: 'idempotency_key_reused',
    })
    expect(await caller.partner.client.getUser({ userid: 'u2' })).toMatchObject({ status: 'prefilled' })
  })
})

describe('the life of a key', () => {
  test('the first answer is repeated although the user has changed since', async () => {
    const caller = await openCaller(service)
    const first = await sendWrite(caller, create(), 'k1')
    await caller.partner.client.changeOffer({ userid: 'u1', offername: 'premier' })
    expect((await sendWrite(caller, create(), 'k1')).body).toEqual(first.body)
  })

  test('after 24 hours the key is free and the request runs anew', async () => {
    const caller = await openCaller(service)
    await sendWrite(caller, create(), 'k1')
    service.advance(24 * hour - 60_000)
    expect((await sendWrite(caller, create(), 'k1')).headers.get('idempotency-replayed')).toBe('true')
    service.advance(60_000)
    expect(await sendWrite(caller, create(), 'k1')).toMatchObject({ status: 409, code: 'user_exists' })
    // A refusal spends no key: it can be used for another request now.
    const other = create({ userid: 'u2' })
    expect(await sendWrite(caller, other, 'k1')).toMatchObject({ status: 200 })
  })

  test('a refused first try spends no key', async () => {
    const caller = await openCaller(service)
    expect(await sendWrite(caller, create({ benefits: ['hospital'] }), 'k1')).toMatchObject({ status: 422 })
    expect(await sendWrite(caller, create({ offername: 'none' }), 'k1')).toMatchObject({ status: 400 })
    expect(await sendWrite(caller, create(), 'k1')).toMatchObject({ status: 200 })
  })

  test('without a key each request runs for itself', async () => {
    const caller = await openCaller(service)
    expect(await sendWrite(caller, create(), undefined)).toMatchObject({ status: 200 })
    expect(await sendWrite(caller, create(), undefined)).toMatchObject({ status: 409, code: 'user_exists' })
  })

  test('the same request is compared by canonical JSON, the query as it was sent', async () => {
    const caller = await openCaller(service)
    await makeUser(caller)
    const write = post('/user/account/update', { userid: 'u1', phone: '3055550199', gender: 'X' })
    await sendWrite(caller, write, 'k1')
    const reordered = post('/user/account/update', { gender: 'X', phone: '3055550199', userid: 'u1' })
    expect((await sendWrite(caller, reordered, 'k1')).headers.get('idempotency-replayed')).toBe('true')
  })

  test('100 creates with one key at the same time: one account, the same answer to all', async () => {
    const caller = await openCaller(service)
    const answers = await Promise.all(Array.from({ length: 100 }, () => sendWrite(caller, create(), 'k1')))
    expect(new Set(answers.map(answer => answer.text)).size).toBe(1)
    expect(answers.filter(answer => !answer.headers.has('idempotency-replayed'))).toHaveLength(1)
    expect((await eventsOf(service, caller.partner)).map(event => event.eventname)).toEqual([
      'enrollment_successful',
      'offer_activiation_successful',
    ])
  })
})

describe('reads sent by POST ignore the key', () => {
  test.each([
    ['/user/benefits', { userid: 'u1', age: 36, state: 'FL', zipcode: '33101' }],
    ['/user/account/get', { userid: 'u1' }],
    ['/user/offers/available', { userid: 'u1' }],
    ['/user/offers/preview', { userid: 'u1', offername: 'plus' }],
    ['/user/benefits/swap', { userid: 'u1', add: ['vision'], remove: ['telehealth'], previewonly: true }],
  ])('%s', async (path, body) => {
    const caller = await openCaller(service)
    await makeUser(caller)
    for (const key of ['k1', 'k1', 'a b']) {
      const answer = await caller.post(path, body, { 'idempotency-key': key })
      expect(answer).toMatchObject({ status: 200 })
      expect(answer.headers.get('idempotency-replayed')).toBeNull()
    }
    const swapped = { userid: 'u1', add: [], remove: [] }
    expect(await caller.post('/user/benefits/swap', swapped, { 'idempotency-key': 'k1' })).toMatchObject({
      status: 200,
    })
  })
})
