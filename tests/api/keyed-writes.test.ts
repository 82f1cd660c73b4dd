// @prism

import { describe, expect, test } from 'vitest'
import type { Client, CreateUser } from '../../client/src/index.ts'
import { type Operation, operations } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'
import { eventsOf } from './events-of.ts'
import { type Listener, listenTo, loseAnswers } from './listener.ts'
import { openCaller } from './raw.ts'

// In the middle of a month, because at its end swaps are refused.
const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const hour = 3_600_000
type Write = (client: Client, idempotencyKey: string) => Promise<unknown>
type Case = { id: string; write: Write; other: Write; prepare?: (client: Client) => Promise<unknown> }

const account = { userid: 'u1', ...ada, offername: 'starter' } as const
function create(more: Partial<CreateUser> = {}): Write {
  return (client, idempotencyKey) => client.createUser({ ...account, ...more }, { idempotencyKey })
}
function makeUser(client: Client) {
  return client.createUser({ ...account, benefits: ['telehealth'] })
}
const spouse = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' } as const
const nobody = '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00'
function makeFamily(client: Client) {
  const dependants = [{ ...spouse, benefits: [{ name: 'dental' }] }]
  return client.createUser({ ...account, benefits: ['dental'], dependants })
}
const cases: Case[] = [
  { id: 'createUser', write: create(), other: create({ benefits: ['dental'] }) },
  {
    id: 'updateUser',
    prepare: makeUser,
    write: (client, idempotencyKey) =>
      client.updateUser({ userid: 'u1', phone: '3055550199' }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.updateUser({ userid: 'u1', phone: '3055550198' }, { idempotencyKey }),
  },
  {
    id: 'cancelUser',
    prepare: makeUser,
    write: (client, idempotencyKey) =>
      client.cancelUser({ userid: 'u1', reason: 'mistake' }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.cancelUser({ userid: 'u1', reason: 'mistake', effective: 'immediate' }, { idempotencyKey }),
  },
  {
    id: 'reinstateUser',
    prepare: async client => {
      await makeUser(client)
      await client.cancelUser({ userid: 'u1', effective: 'immediate' })
    },
    write: (client, idempotencyKey) => client.reinstateUser({ userid: 'u1' }, { idempotencyKey }),
    other: (client, idempotencyKey) => client.reinstateUser({ userid: 'u2' }, { idempotencyKey }),
  },
  {
    id: 'changeOffer',
    prepare: makeUser,
    write: (client, idempotencyKey) =>
      client.changeOffer({ userid: 'u1', offername: 'plus' }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.changeOffer({ userid: 'u1', offername: 'premier' }, { idempotencyKey }),
  },
  {
    id: 'undoOfferChange',
    prepare: makeUser,
    write: (client, idempotencyKey) => client.undoOfferChange({ userid: 'u1' }, { idempotencyKey }),
    other: (client, idempotencyKey) => client.undoOfferChange({ userid: 'u2' }, { idempotencyKey }),
  },
  {
    id: 'swapBenefits',
    prepare: makeUser,
    write: (client, idempotencyKey) =>
      client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['telehealth'] }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.swapBenefits({ userid: 'u1', add: [], remove: [] }, { idempotencyKey }),
  },
  {
    id: 'undoSwap',
    prepare: makeUser,
    write: (client, idempotencyKey) => client.undoSwap({ userid: 'u1' }, { idempotencyKey }),
    other: (client, idempotencyKey) => client.undoSwap({ userid: 'u2' }, { idempotencyKey }),
  },
  {
    id: 'enrolBenefit',
    prepare: makeUser,
    write: (client, idempotencyKey) =>
      client.enrolBenefit({ userid: 'u1', name: 'vision' }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.enrolBenefit({ userid: 'u1', name: 'dental' }, { idempotencyKey }),
  },
  {
    id: 'declineBenefit',
    prepare: makeUser,
    write: (client, idempotencyKey) =>
      client.declineBenefit({ userid: 'u1', name: 'vision' }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.declineBenefit({ userid: 'u1', name: 'dental' }, { idempotencyKey }),
  },
  {
    id: 'setDependants',
    prepare: makeUser,
    write: (client, idempotencyKey) =>
      client.setDependants({ userid: 'u1', dependants: [spouse] }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.setDependants({ userid: 'u1', dependants: [] }, { idempotencyKey }),
  },
  {
    id: 'changeCover',
    prepare: makeFamily,
    write: (client, idempotencyKey) =>
      client.changeCover({ userid: 'u1', name: 'dental', dependants: [] }, { idempotencyKey }),
    other: (client, idempotencyKey) =>
      client.changeCover({ userid: 'u1', name: 'dental', dependants: [nobody] }, { idempotencyKey }),
  },
  {
    id: 'undoCover',
    prepare: makeFamily,
    write: (client, idempotencyKey) => client.undoCover({ userid: 'u1', name: 'dental' }, { idempotencyKey }),
    other: (client, idempotencyKey) => client.undoCover({ userid: 'u1', name: 'vision' }, { idempotencyKey }),
  },
]

/** A partner with its listener, after `prepare`. */
async function open(prepare?: Case['prepare']): Promise<Listener & { partner: TestPartner }> {
  const partner = await service.newPartner()
  const listener = listenTo(partner)
  await prepare?.(listener.client)
  return { partner, ...listener }
}
async function eventCount({ partner }: { partner: TestPartner }) {
  return (await eventsOf(service, partner)).length
}

test('every keyed write on a user has its case here', () => {
  const keyed = (Object.values(operations) as Operation[]).filter(
    operation => operation.idempotency === 'keyed' && /\/user\/(?!linktoken)/.test(operation.path),
  )
  const here = new Set([...cases.map(({ id }) => id), 'eraseUser'])
  expect(keyed.map(({ id }) => id).filter(id => !here.has(id))).toEqual([])
})

describe.each(cases)('$id', ({ write, other, prepare }) => {
  test('a repeat gets the first answer again, marked, and has no second effect', async () => {
    const caller = await open(prepare)
    const first = await write(caller.client, 'k1')
    expect(caller.last()).toMatchObject({ status: 200, replayed: false })
    const count = await eventCount(caller)
    for (const _ of ['again', 'once more']) {
      expect(await write(caller.client, 'k1')).toEqual(first)
      expect(caller.last()).toMatchObject({ status: 200, replayed: true })
    }
    expect(await eventCount(caller)).toBe(count)
  })

  test('the key with another request is 409 idempotency_key_reused and changes nothing', async () => {
    const caller = await open(prepare)
    await write(caller.client, 'k1')
    const count = await eventCount(caller)
    const user = () => caller.client.getUser({ userid: 'u1', include: ['timeline'] })
    const before = await user()
    await expect(other(caller.client, 'k1')).rejects.toMatchObject({
      status: 409,
      code: 'idempotency_key_reused',
    })
    expect(await eventCount(caller)).toBe(count)
    expect(await user()).toEqual(before)
  })

  test('once the user is erased, every key it was written with is 409 user_erased', async () => {
    const caller = await open(prepare)
    await write(caller.client, 'k1')
    await caller.client.eraseUser({ userid: 'u1' })
    await expect(write(caller.client, 'k1')).rejects.toMatchObject({ status: 409, code: 'user_erased' })
  })
})

describe('revokeLinkToken', () => {
  test('once its user is erased, every key is 409 user_erased; without a key the link is unknown', async () => {
    const { client } = await open(makeUser)
    const { sessionid } = await client.createLinkToken({ userid: 'u1' })
    const { sessionid: other } = await client.createLinkToken({ userid: 'u1' })
    const first = await client.revokeLinkToken({ sessionid }, { idempotencyKey: 'k1' })
    expect(await client.revokeLinkToken({ sessionid }, { idempotencyKey: 'k1' })).toEqual(first)
    await client.eraseUser({ userid: 'u1' })
    for (const named of [sessionid, other]) {
      await expect(
        client.revokeLinkToken({ sessionid: named }, { idempotencyKey: 'k1' }),
      ).rejects.toMatchObject({ status: 409, code: 'user_erased' })
      await expect(client.revokeLinkToken({ sessionid: named })).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
      })
    }
  })

  test("a link of the erased user's namesake is another's, and its keys go on", async () => {
    const { client } = await open(makeUser)
    await client.eraseUser({ userid: 'u1' })
    await makeUser(client)
    const { sessionid } = await client.createLinkToken({ userid: 'u1' })
    const first = await client.revokeLinkToken({ sessionid }, { idempotencyKey: 'k1' })
    expect(await client.revokeLinkToken({ sessionid }, { idempotencyKey: 'k1' })).toEqual(first)
  })
})

describe('eraseUser', () => {
  const erase = (client: Client, userid: string, idempotencyKey: string) =>
    client.eraseUser({ userid }, { idempotencyKey })

  test('a repeat gets the same answer, with its key or another, also when a new user has the name', async () => {
    const { client, last } = await open(makeUser)
    const first = await erase(client, 'u1', 'k1')
    expect(await erase(client, 'u1', 'k1')).toEqual(first)
    expect(last()).toMatchObject({ status: 200, replayed: true })
    expect(await erase(client, 'u1', 'k2')).toEqual(first)
    await makeUser(client)
    expect(await erase(client, 'u1', 'k1')).toEqual(first)
    expect(await client.getUser({ userid: 'u1' })).toMatchObject({ status: 'active' })
  })

  test('its key with another user is 409 idempotency_key_reused, and that user stays', async () => {
    const { client } = await open(makeUser)
    await client.prefillUser({ userid: 'u2' })
    await erase(client, 'u1', 'k1')
    await expect(erase(client, 'u2', 'k1')).rejects.toMatchObject({
      status: 409,
      code: 'idempotency_key_reused',
    })
    expect(await client.getUser({ userid: 'u2' })).toMatchObject({ status: 'prefilled' })
  })
})

describe('the life of a key', () => {
  test('the first answer is repeated although the user has changed since', async () => {
    const { client } = await open()
    const first = await create()(client, 'k1')
    await client.changeOffer({ userid: 'u1', offername: 'premier' })
    expect(await create()(client, 'k1')).toEqual(first)
  })

  test('after 24 hours the key is free and the request runs anew', async () => {
    const { client, last } = await open()
    await create()(client, 'k1')
    service.advance(24 * hour - 60_000)
    await create()(client, 'k1')
    expect(last().replayed).toBe(true)
    service.advance(60_000)
    await expect(create()(client, 'k1')).rejects.toMatchObject({
      status: 409,
      code: 'user_exists',
      replayed: false,
    })
    // A refusal does not use up the key: it can now be used for another request.
    expect(await create({ userid: 'u2' })(client, 'k1')).toMatchObject({ userid: 'u2' })
  })

  test('a refused first try spends no key', async () => {
    const { client } = await open()
    await expect(create({ benefits: ['hospital'] })(client, 'k1')).rejects.toMatchObject({ status: 422 })
    await expect(create({ offername: 'none' })(client, 'k1')).rejects.toMatchObject({ status: 400 })
    expect(await create()(client, 'k1')).toMatchObject({ status: 'active' })
  })

  test('the same request is compared by canonical JSON', async () => {
    const { client, last } = await open(makeUser)
    const options = { idempotencyKey: 'k1' }
    await client.updateUser({ userid: 'u1', phone: '3055550199', gender: 'X' }, options)
    await client.updateUser({ gender: 'X', phone: '3055550199', userid: 'u1' }, options)
    expect(last()).toMatchObject({ status: 200, replayed: true })
  })

  test('the same request is known however its path is written, and by its whole query', async () => {
    const { partner } = await open(makeFamily)
    const { send } = await openCaller(service, partner)
    const undo = (path: string) =>
      send('DELETE', `/user/benefits/cover/${path}`, { headers: { 'idempotency-key': 'k1' } })
    expect(await undo('u1?name=dental')).toMatchObject({ status: 200 })
    expect((await undo('%751?name=dental')).headers.get('idempotency-replayed')).toBe('true')
    expect(await undo('u1?name=dental?more')).toMatchObject({ code: 'idempotency_key_reused' })
  })

  test('a key of one operation is free for another, and for another partner', async () => {
    const [a, b] = [await open(makeUser), await open(makeUser)]
    for (const { client, last } of [a, b]) {
      await client.updateUser({ userid: 'u1', gender: 'X' }, { idempotencyKey: 'k1' })
      expect(last()).toMatchObject({ status: 200, replayed: false })
      await client.cancelUser({ userid: 'u1' }, { idempotencyKey: 'k1' })
      expect(last()).toMatchObject({ status: 200, replayed: false })
    }
  })

  test('100 creates with one key at the same time: one account, the same answer to all', async () => {
    const { client, partner, told } = await open()
    const users = await Promise.all(Array.from({ length: 100 }, () => create()(client, 'k1')))
    expect(new Set(users.map(user => JSON.stringify(user))).size).toBe(1)
    expect(told.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect((await eventsOf(service, partner)).map(event => event.eventname)).toEqual([
      'enrollment_successful',
      'offer_activiation_successful',
    ])
  })
})

describe('an answer that was lost', () => {
  const withLosses = (partner: TestPartner, meanwhile?: () => Promise<void>) =>
    listenTo(partner, { fetch: loseAnswers(service.conformance.fetch, meanwhile), tries: 3 })

  test('of a prefill: it is sent again, and the 409 on its own repeat is success', async () => {
    const partner = await service.newPartner()
    const { client, told } = withLosses(partner)
    expect(await client.prefillUser({ userid: 'u1', ...ada })).toBe('prefill saved')
    expect(told.map(({ status, replayed, attempt }) => [status, replayed, attempt])).toEqual([[409, true, 2]])
    expect(await eventsOf(service, partner)).toHaveLength(1)
  })

  test('so it is when newer data has replaced it meanwhile, and the newer data stays', async () => {
    const partner = await service.newPartner()
    const { client, told } = withLosses(partner, async () => {
      await partner.client.prefillUser({ userid: 'u1' })
    })
    expect(await client.prefillUser({ userid: 'u1', ...ada })).toBe('prefill saved')
    expect(told.map(({ status, replayed }) => [status, replayed])).toEqual([[409, true]])
    await expect(partner.client.createUser({ userid: 'u1', offername: 'starter' })).rejects.toMatchObject({
      status: 400,
    })
  })

  test('of every other write: the client gets the first answer again', async () => {
    const partner = await service.newPartner()
    const { client, told } = withLosses(partner)
    const user = await client.createUser(account)
    expect(user).toMatchObject({ status: 'active' })
    expect(await client.cancelUser({ userid: 'u1' })).toMatchObject({ status: 'active' })
    expect(told.map(({ status, replayed, attempt }) => [status, replayed, attempt])).toEqual([
      [200, true, 2],
      [200, true, 2],
    ])
    expect((await eventsOf(service, partner)).map(({ eventname }) => eventname)).toEqual([
      'enrollment_successful',
      'offer_activiation_successful',
      'offer_cancel_scheduled',
    ])
  })
})
