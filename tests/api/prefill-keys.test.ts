// @prism

import { describe, expect, test } from 'vitest'
import type { BenefitEnrolmentError, Prefill } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdUsers, testInTime, waitForLock } from '../hold-users.ts'
import { everydayOr, wholeRunTest } from '../long.ts'
import { newVisitor, recordsAgreed } from '../page/visitor.ts'
import { ada, adaAsks, startTestService, type TestPartner } from '../rig.ts'
import { eventsOf } from './events-of.ts'
import { type Listener, listenTo } from './listener.ts'
import { fieldsOf, outcomesOf, refusalOf } from './refusal.ts'

const service = forAllTests(startTestService)

const day = 86_400_000
const body = { userid: 'u1', ...ada }

/** A partner that prefills, with its listener. */
type Caller = Listener & { readonly partner: TestPartner }
async function openCaller(): Promise<Caller> {
  const partner = await service.newPartner()
  return { partner, ...listenTo(partner) }
}

/** A prefill with `Version: v2` and a key. */
function prefill({ client }: Pick<Caller, 'client'>, key: string, sent: Prefill = body) {
  return client.prefillUser(sent, { idempotencyKey: key })
}

async function expectReplay(
  caller: Caller,
  call: Promise<unknown>,
  code: 'user_exists' | 'prefill_superseded',
) {
  expect(await refusalOf(call)).toMatchObject({ status: 409, code, replayed: true })
  expect(caller.last().headers.get('idempotency-original-status')).toBe('200')
}
async function expectRefused(call: Promise<unknown>, code: BenefitEnrolmentError['code']) {
  return expect(await refusalOf(call)).toMatchObject({ status: 409, code, replayed: false })
}

/** The fields that the entry lacks, as create reports them. */
async function missingFields({ client }: Caller): Promise<string[]> {
  return fieldsOf(await refusalOf(client.createUser({ userid: 'u1', offername: 'starter' })))
}
async function serviceIdOf({ client }: Caller): Promise<string> {
  return (await client.getUser({ userid: 'u1' })).serviceid
}
async function eventCount({ partner }: Caller) {
  return (await eventsOf(service, partner)).length
}

test('with v1 each request counts', async () => {
  const caller = await openCaller()
  for (const _ of ['first', 'again', 'once more']) {
    expect(await caller.client.prefillUser(body, { version: 'v1' })).toBe('prefill saved')
    expect(caller.last()).toMatchObject({ status: 200, replayed: false })
  }
  expect(await eventCount(caller)).toBe(3)
})

describe('v2 with a key', () => {
  test('a new key creates the entry, and the next new key replaces it whole', async () => {
    const caller = await openCaller()
    expect(await prefill(caller, 'k1')).toBe('prefill saved')
    const serviceId = await serviceIdOf(caller)
    const sparse = { userid: 'u1', firstname: 'Ada', address: { state: 'FL' } } as const
    expect(await prefill(caller, 'k2', sparse)).toBe('prefill saved')
    expect(await serviceIdOf(caller)).toBe(serviceId)
    expect((await missingFields(caller)).sort()).toEqual(['dob', 'email', 'lastname', 'zipcode'])
  })

  test('a seen key with the same request is 409 user_exists that tells it had worked, and changes nothing', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    await expectReplay(caller, prefill(caller, 'k1'), 'user_exists')
    expect(await eventCount(caller)).toBe(1)
  })

  test('the same request is the same JSON, whatever the order of its members', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1', { userid: 'u1', firstname: 'A', address: { city: 'B', state: 'FL' } })
    const reordered = { address: { state: 'FL', city: 'B' }, firstname: 'A', userid: 'u1' } as const
    await expectReplay(caller, prefill(caller, 'k1', reordered), 'user_exists')
  })

  test('after create has consumed the entry it is user_exists still', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    await caller.client.createUser({ userid: 'u1', offername: 'starter' })
    await expectReplay(caller, prefill(caller, 'k1'), 'user_exists')
  })

  test('after the person has consumed it by registering, too', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    const { linkurl } = await caller.client.createLinkToken({ userid: 'u1', offername: 'starter' })
    const visitor = newVisitor(service.baseUrl)
    await visitor.get(linkurl ?? '')
    await visitor.post(linkurl ?? '')
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits')
    expect((await visitor.post('/register/enrol', recordsAgreed)).view).toBe('DONE')
    expect(await caller.client.getUser({ userid: 'u1' })).toMatchObject({ status: 'active' })
    await expectReplay(caller, prefill(caller, 'k1'), 'user_exists')
  })

  test('a registered user takes a new prefill: 200 and the event, and confirmed data stays', async () => {
    const caller = await openCaller()
    const { client } = caller
    await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
    const before = await client.getUser({ userid: 'u1' })
    await prefill(caller, 'k1', { userid: 'u1', dob: '2020-01-01', zipcode: '99501' })
    const after = await client.getUser({ userid: 'u1' })
    expect(after).toMatchObject({ ...before, updatedat: expect.any(String) })
    // The account's own data decides: the suggested child in Alaska could not move to Plus.
    expect(await client.changeOffer({ userid: 'u1', offername: 'plus' })).toMatchObject({
      direction: 'upgrade',
    })
    expect((await eventsOf(service, caller.partner)).map(event => event.eventname)).toContain(
      'enrollment_request_received',
    )
  })

  test('when a newer request has changed the entry: prefill_superseded, and the newer data stays', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    await prefill(caller, 'k2', { userid: 'u1' })
    await expectReplay(caller, prefill(caller, 'k1'), 'prefill_superseded')
    await expectReplay(caller, prefill(caller, 'k2', { userid: 'u1' }), 'user_exists')
    expect(await missingFields(caller)).toContain('firstname')
    await prefill(caller, 'k3')
    await expectReplay(caller, prefill(caller, 'k2', { userid: 'u1' }), 'prefill_superseded')
    expect(await eventCount(caller)).toBe(3)
  })

  test('a newer request without a key supersedes too', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    await caller.client.prefillUser({ userid: 'u1' }, { version: 'v1' })
    await expectReplay(caller, prefill(caller, 'k1'), 'prefill_superseded')
  })

  test('a seen key with another body or userid is idempotency_key_reused, and nothing changes', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    for (const other of [{ ...body, firstname: 'Eve' }, { ...body, userid: 'u2' }, { userid: 'u1' }]) {
      await expectRefused(prefill(caller, 'k1', other), 'idempotency_key_reused')
    }
    await expect(caller.client.getUser({ userid: 'u2' })).rejects.toMatchObject({ status: 404 })
    expect(await eventCount(caller)).toBe(1)
    await caller.client.createUser({ userid: 'u1', offername: 'starter' })
  })

  test('a refused first try spends no key', async () => {
    const caller = await openCaller()
    await expect(prefill(caller, 'k1', { userid: 'u1', zipcode: 'x' })).rejects.toMatchObject({ status: 400 })
    expect(await prefill(caller, 'k1')).toBe('prefill saved')
  })

  test('double quotes around a key are not part of it', async () => {
    const caller = await openCaller()
    await prefill(caller, '"k1"')
    await expectReplay(caller, prefill(caller, 'k1'), 'user_exists')
    await expectRefused(prefill(caller, '"k1"', { userid: 'u1' }), 'idempotency_key_reused')
  })

  test.each([
    ['255 characters', 'k'.repeat(255)],
    ['one character', '!'],
    ['every visible sign', Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)).join('')],
  ])('a key of %s is taken', async (_, key) => {
    const caller = await openCaller()
    expect(await prefill(caller, key)).toBe('prefill saved')
    await expectReplay(caller, prefill(caller, key), 'user_exists')
  })

  test('a key is one per partner and operation: the same elsewhere never meets it', async () => {
    const [a, b] = [await openCaller(), await openCaller()]
    expect(await prefill(a, 'k1')).toBe('prefill saved')
    expect(await prefill(b, 'k1', { userid: 'u1' })).toBe('prefill saved')
    await expectReplay(a, prefill(a, 'k1'), 'user_exists')
    await a.client.createUser({ userid: 'u1', offername: 'starter' }, { idempotencyKey: 'k1' })
    expect(a.last()).toMatchObject({ status: 200, replayed: false })
    await expectReplay(b, prefill(b, 'k1', { userid: 'u1' }), 'user_exists')
  })
})

describe('erasure', () => {
  test('a key of an erased user is user_erased; a new key starts a new user; a day later the key is free', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    const serviceId = await serviceIdOf(caller)
    await caller.client.eraseUser({ userid: 'u1' })
    await expectRefused(prefill(caller, 'k1'), 'user_erased')
    await expectRefused(prefill(caller, 'k1', { userid: 'u1' }), 'user_erased')
    expect(await caller.client.getUser({ userid: 'u1' })).toMatchObject({ status: 'erased' })
    expect(await prefill(caller, 'k2')).toBe('prefill saved')
    const fresh = await serviceIdOf(caller)
    expect(fresh).not.toBe(serviceId)
    await expectRefused(prefill(caller, 'k1'), 'user_erased')
    service.advance(day)
    expect(await prefill(caller, 'k1')).toBe('prefill saved')
    expect(await serviceIdOf(caller)).toBe(fresh)
  })
})

describe('90 days', () => {
  const documentCount = async ({ partner }: Caller): Promise<number> => {
    const rows = await service.database.query({
      name: '',
      text: 'select 1 from sealed_records where partner_id = $1',
      values: [partner.partnerId],
    })
    return rows.length
  }

  test('an entry lapses 90 days after its last write; its keys are free then, and the serviceid stays', async () => {
    const caller = await openCaller()
    const { client } = caller
    await prefill(caller, 'k1')
    const serviceId = await serviceIdOf(caller)
    service.advance(60 * day)
    await prefill(caller, 'k2', { userid: 'u1' })
    service.advance(60 * day)
    await expectReplay(caller, prefill(caller, 'k1'), 'prefill_superseded')
    service.advance(30 * day - 60_000)
    await expectReplay(caller, prefill(caller, 'k2', { userid: 'u1' }), 'user_exists')
    expect(await serviceIdOf(caller)).toBe(serviceId)
    service.advance(60_000)
    await expect(client.getUser({ userid: 'u1' })).rejects.toMatchObject({ status: 404 })
    await expect(client.getBenefits({ userid: 'u1', ...adaAsks })).rejects.toMatchObject({
      status: 404,
      code: 'user_not_found',
    })
    expect(await prefill(caller, 'k1')).toBe('prefill saved')
    expect(await serviceIdOf(caller)).toBe(serviceId)
  })

  test('when it lapses its personal data is deleted', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    expect(await documentCount(caller)).toBe(1)
    await caller.client.advanceClock({ advanceto: new Date(service.now() + 91 * day).toISOString() })
    await expect.poll(() => documentCount(caller)).toBe(0)
  })

  test("a consumed entry's keys live 90 days from its last write too", async () => {
    const caller = await openCaller()
    await prefill(caller, 'k1')
    await caller.client.createUser({ userid: 'u1', offername: 'starter' })
    service.advance(89 * day)
    await expectReplay(caller, prefill(caller, 'k1'), 'user_exists')
    service.advance(day)
    expect(await prefill(caller, 'k1')).toBe('prefill saved')
  })
})

describe('at the same time', () => {
  const countOf = <T>(outcomes: readonly T[], wanted: T) => outcomes.filter(one => one === wanted).length

  const times = everydayOr(200, 1000)
  test(`${times} prefills with one key: one 200, every other time 409, one event`, async () => {
    const caller = await openCaller()
    const outcomes = await outcomesOf(Array.from({ length: times }, () => prefill(caller, 'k1')))
    expect([countOf(outcomes, 200), countOf(outcomes, 'user_exists')]).toEqual([1, times - 1])
    const original = ({ headers }: Caller['told'][number]) => headers.get('idempotency-original-status')
    const told = caller.told.map(info => `${info.status} ${info.replayed} ${original(info)}`)
    expect([countOf(told, '200 false null'), countOf(told, '409 true 200')]).toEqual([1, times - 1])
    expect(await eventCount(caller)).toBe(1)
  })

  test('100 prefills of one user with own keys: each is applied once, one is the last', async () => {
    const caller = await openCaller()
    const keys = Array.from({ length: 100 }, (_, n) => `k${n}`)
    const outcomes = await outcomesOf(keys.map(key => prefill(caller, key)))
    expect(countOf(outcomes, 200)).toBe(100)
    const repeats = await outcomesOf(keys.map(key => prefill(caller, key)))
    expect(countOf(repeats, 'user_exists')).toBe(1)
    expect(countOf(repeats, 'prefill_superseded')).toBe(99)
    expect(await eventCount(caller)).toBe(100)
  })

  testInTime('while the first is still running the second waits for it, and is then a repeat', async () => {
    const caller = await openCaller()
    await prefill(caller, 'k0')
    const held = await holdUsers(service, caller.partner)
    const outcomes = outcomesOf([prefill(caller, 'k1'), prefill(caller, 'k1')])
    await waitForLock(service)
    await held.release()
    expect(new Set(await outcomes)).toEqual(new Set([200, 'user_exists']))
  })

  wholeRunTest(
    'when the first try cannot end in time, the second gets 503 with Retry-After, and its key is not spent',
    async () => {
      const caller = await openCaller()
      await prefill(caller, 'k0')
      const held = await holdUsers(service, caller.partner)
      const outcomes = await outcomesOf([prefill(caller, 'k1'), prefill(caller, 'k1')])
      await held.release()
      expect(outcomes).toEqual(['unavailable', 'unavailable'])
      for (const { status, headers } of caller.told.slice(-2)) {
        expect([status, headers.get('retry-after')]).toEqual([503, '1'])
      }
      expect(await prefill(caller, 'k1')).toBe('prefill saved')
    },
  )
})
