// @prism

// The headers Version and Idempotency-Key in forms that the client does not send: it always sends v1 or v2, gives each
// write a key, and refuses a malformed key itself. So all of these are sent raw.
import { describe, expect, test } from 'vitest'
import { type Operation, operations } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService } from '../rig.ts'
import { eventsOf } from './events-of.ts'
import { type Caller, openCaller, sendBytes } from './raw.ts'

// In the middle of a month, because at its end swaps are refused.
const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const body = { userid: 'u1', ...ada }
const account = { ...body, offername: 'starter', benefits: ['telehealth'] }
async function eventCount(caller: Caller) {
  return (await eventsOf(service, caller.partner)).length
}

describe('prefill without Version, or with v1', () => {
  test.each([undefined, 'v1'])('Version %s: the key is ignored and each request counts', async version => {
    const caller = await openCaller(service)
    for (const key of ['k1', 'k1', undefined, 'not visible ASCII']) {
      const headers = { version, 'idempotency-key': key }
      const answer = await caller.post('/user/prefill', body, headers)
      // The reply is a JSON string (interface §4.1), with the media type of JSON.
      expect(answer).toMatchObject({ status: 200, text: '"prefill saved"' })
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(answer.headers.get('idempotency-replayed')).toBeNull()
    }
    expect(await eventCount(caller)).toBe(4)
  })
})

describe('prefill with another Version', () => {
  test('v2 without a key is 400 idempotency_key_missing and stores nothing', async () => {
    const caller = await openCaller(service)
    const answer = await caller.post('/user/prefill', body, { version: 'v2' })
    expect(answer).toMatchObject({ status: 400, code: 'idempotency_key_missing' })
    await expect(caller.partner.client.getUser({ userid: 'u1' })).rejects.toMatchObject({ status: 404 })
  })

  test.each(['v3', 'V2', '2', '', 'v2, v2', '1.0.2'])(
    '"%s" is 400 unsupported_version, naming those allowed, and spends no key',
    async version => {
      const caller = await openCaller(service)
      const answer = await caller.post('/user/prefill', body, { version, 'idempotency-key': 'k1' })
      expect(answer).toMatchObject({ status: 400, code: 'unsupported_version' })
      const { detail } = answer.body as { detail: string }
      expect(detail).toContain('v1')
      expect(detail).toContain('v2')
      const { client } = caller.partner
      expect(await client.prefillUser(body, { idempotencyKey: 'k1' })).toBe('prefill saved')
    },
  )
})

describe('the form of a key', () => {
  test('255 characters in quotes are taken', async () => {
    const headers = { version: 'v2', 'idempotency-key': `"${'k'.repeat(255)}"` }
    expect(await (await openCaller(service)).post('/user/prefill', body, headers)).toMatchObject({
      status: 200,
    })
  })

  test.each([
    ['256 characters', 'k'.repeat(256)],
    ['a space inside', 'a b'],
    ['nothing between the quotes', '""'],
    ['nothing at all', ''],
    ['a letter outside ASCII', 'é'],
    ['a tab inside', 'a\tb'],
  ])('%s: 400 idempotency_key_invalid, at prefill with v2 and at create', async (_, key) => {
    const caller = await openCaller(service)
    for (const [path, sent] of [
      ['/user/prefill', body],
      ['/user/account/create', account],
    ] as const) {
      const answer = await sendBytes(service, {
        method: 'POST',
        path,
        headers: [
          ...Object.entries(await caller.credentials()),
          ['Content-Type', 'application/json'],
          ['Version', 'v2'],
          ['Idempotency-Key', key],
        ],
        body: JSON.stringify(sent),
      })
      expect(answer).toMatchObject({ status: 400, code: 'idempotency_key_invalid' })
    }
    expect(await eventCount(caller)).toBe(0)
  })

  test('the same request is the same JSON, whatever its escapes and its white space', async () => {
    const caller = await openCaller(service)
    const headers = { version: 'v2', 'idempotency-key': 'k1' }
    await caller.post('/user/prefill', { userid: 'u1', firstname: 'A', address: { city: 'B' } }, headers)
    const bytes = '{ "address": {"city":"\\u0042"}, "first\\u006eame":"A", "userid":"u1" }'
    expect(await caller.send('POST', '/user/prefill', { bytes, headers })).toMatchObject({
      status: 409,
      code: 'user_exists',
    })
  })
})

describe('the other writes', () => {
  const keyed = (Object.values(operations) as Operation[]).filter(
    ({ idempotency }) => idempotency === 'keyed',
  )

  test.each(keyed)('$id with a malformed key is 400 idempotency_key_invalid', async operation => {
    const caller = await openCaller(service)
    const named = operation.path.replace(/\{\w+\}/g, '01890000-0000-7000-8000-000000000000')
    const path = operation.id === 'undoCover' ? `${named}?name=dental` : named
    for (const key of ['a b', 'k'.repeat(256)]) {
      const answer = await caller.send(operation.method, path, {
        headers: { 'idempotency-key': key },
        body: operation.example.body,
      })
      expect(answer).toMatchObject({ status: 400, code: 'idempotency_key_invalid' })
    }
  })

  test('read no Version: a replay is one, whatever it says', async () => {
    const caller = await openCaller(service)
    const created = { 'idempotency-key': 'k1' }
    const cancelled = { 'idempotency-key': 'k2' }
    const create = (version?: string) => caller.post('/user/account/create', account, { ...created, version })
    const cancel = (version?: string) =>
      caller.send('DELETE', '/user/account/cancel/u1', { headers: { ...cancelled, version } })
    const first = [await create(), await cancel()]
    for (const version of ['v1', 'v2', 'v3']) {
      for (const [index, again] of [await create(version), await cancel(version)].entries()) {
        expect(again).toMatchObject({ status: 200, text: first[index]?.text })
        expect(again.headers.get('idempotency-replayed')).toBe('true')
      }
    }
  })

  test('without a key each request runs for itself', async () => {
    const { post } = await openCaller(service)
    expect(await post('/user/account/create', account)).toMatchObject({ status: 200 })
    expect(await post('/user/account/create', account)).toMatchObject({ status: 409, code: 'user_exists' })
  })

  test('an erase without a key, asked again, is the same answer', async () => {
    const caller = await openCaller(service)
    await caller.partner.client.prefillUser({ userid: 'u1' })
    const erased = await caller.post('/user/account/erase', { userid: 'u1' })
    expect(erased).toMatchObject({ status: 200, body: { status: 'erased' } })
    const again = await caller.post('/user/account/erase', { userid: 'u1' })
    expect(again).toMatchObject({ status: 200, body: erased.body })
    expect(again.headers.get('idempotency-replayed')).toBeNull()
  })
})

describe('reads sent by POST ignore the key', () => {
  test.each([
    ['/user/benefits', { userid: 'u1', ...adaAsks }],
    ['/user/account/get', { userid: 'u1' }],
    ['/user/offers/available', { userid: 'u1' }],
    ['/user/offers/preview', { userid: 'u1', offername: 'plus' }],
    ['/user/benefits/swap', { userid: 'u1', add: ['vision'], remove: ['telehealth'], previewonly: true }],
  ])('%s', async (path, sent) => {
    const caller = await openCaller(service)
    await caller.post('/user/account/create', account)
    for (const key of ['k1', 'k1', 'a b']) {
      const answer = await caller.post(path, sent, { 'idempotency-key': key })
      expect(answer).toMatchObject({ status: 200 })
      expect(answer.headers.get('idempotency-replayed')).toBeNull()
    }
    const swapped = { userid: 'u1', add: [], remove: [] }
    expect(await caller.post('/user/benefits/swap', swapped, { 'idempotency-key': 'k1' })).toMatchObject({
      status: 200,
    })
  })
})
