import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const account = { userid: 'u1', ...ada, offername: 'starter' } as const

describe('get', () => {
  test('404 for an unknown user, in the same words for the user of another partner', async () => {
    const [mine, other] = [await service.newPartner(), await service.newPartner()]
    await other.client.createUser(account)
    const refusals = []
    for (const userid of ['u1', 'u2']) {
      const refusal = await refusalOf(mine.client.getUser({ userid, include: ['timeline'] }))
      expect(refusal).toMatchObject({ status: 404, code: 'user_not_found' })
      const { detail, errors, userMessage } = refusal
      refusals.push({ detail, errors, userMessage })
    }
    expect(refusals[0]).toEqual(refusals[1])
  })

  test('two partners with the same userid hold two users', async () => {
    const [a, b] = [await service.newPartner(), await service.newPartner()]
    const created = await a.client.createUser(account)
    await b.client.prefillUser({ userid: 'u1' })
    const there = await b.client.getUser({ userid: 'u1' })
    expect(there).toMatchObject({ status: 'prefilled' })
    expect(there.serviceid).not.toBe(created.serviceid)
    await b.client.eraseUser({ userid: 'u1' })
    expect(await a.client.getUser({ userid: 'u1' })).toEqual(created)
  })

  test('the timeline stands in the answer only when asked for: past and future, who and why', async () => {
    const { client } = await service.newPartner()
    await client.prefillUser({ userid: 'u1', ...ada })
    await client.createUser({ userid: 'u1', offername: 'starter', benefits: ['dental'] })
    expect(await client.getUser({ userid: 'u1' })).not.toHaveProperty('timeline')
    expect(await client.getUser({ userid: 'u1', include: [] })).not.toHaveProperty('timeline')
    await client.cancelUser({ userid: 'u1', reason: 'nonpayment' })
    const user = await client.getUser({ userid: 'u1', include: ['timeline'] })
    if (user.status === 'erased') throw new Error('erased')
    const timeline = user.timeline ?? []
    const told = timeline.map(({ what, from, to, who }) => `${who}: ${what} ${from}>${to}`)
    expect(told).toEqual(
      expect.arrayContaining([
        'partner: user none>prefilled',
        'partner: user prefilled>active',
        'partner: offer >starter',
        'partner: benefit dental >enrolled',
        'partner: benefit dental enrolled>endscheduled',
        'schedule: user active>cancelled',
        'schedule: benefit dental endscheduled>ended',
      ]),
    )
    const instants = timeline.map(({ attimestamp }) => attimestamp)
    expect(instants).toEqual([...instants].sort())
    expect(timeline.find(({ to }) => to === 'cancelled')).toMatchObject({
      attimestamp: '2027-04-01T04:00:00.000Z',
      why: 'nonpayment',
    })
  })

  test('an include that is unknown is 400', async () => {
    const { client } = await service.newPartner()
    await expect(client.getUser({ userid: 'u1', include: unchecked(['everything']) })).rejects.toMatchObject({
      status: 400,
      errors: [{ field: 'include[0]' }],
    })
  })

  test('names come in the language of Accept-Language', async () => {
    const { client } = await service.newPartner()
    await client.createUser(account)
    const user = await client.getUser({ userid: 'u1' }, { acceptLanguage: 'es' })
    expect(user).toMatchObject({ benefits: [{ displayname: 'Cobertura por accidentes' }] })
  })
})

describe('after a cancel, and after an erasure', () => {
  test('create after a cancel in effect starts a new membership with the same serviceid', async () => {
    const { client } = await service.newPartner()
    const first = await client.createUser({ ...account, benefits: ['dental'] })
    await client.cancelUser({ userid: 'u1', effective: 'immediate' })
    const second = await client.createUser({ ...account, offername: 'plus', benefits: ['vision'] })
    expect(second).toMatchObject({
      status: 'active',
      serviceid: first.serviceid,
      currentofferdetails: { offer: 'plus' },
    })
    const live = second.benefits.filter(({ state }) => state === 'enrolled').map(({ name }) => name)
    expect(live).toEqual(['accident', 'hospital', 'vision'])
  })

  test('a cancelled user needs its data given again, or prefilled, to be created again', async () => {
    const { client } = await service.newPartner()
    await client.createUser(account)
    await client.cancelUser({ userid: 'u1', effective: 'immediate' })
    await expect(client.createUser({ userid: 'u1', offername: 'starter' })).rejects.toMatchObject({
      status: 400,
      code: 'bad_request',
    })
    await client.prefillUser({ userid: 'u1', ...ada })
    expect(await client.createUser({ userid: 'u1', offername: 'starter' })).toMatchObject({
      status: 'active',
    })
  })

  test("get of an erased user is the erase's answer; create starts a new user", async () => {
    const { client } = await service.newPartner()
    const first = await client.createUser(account)
    const erased = await client.eraseUser({ userid: 'u1' })
    expect(erased).toMatchObject({ userid: 'u1', serviceid: first.serviceid, status: 'erased' })
    expect(await client.getUser({ userid: 'u1', include: ['timeline'] })).toEqual(erased)
    const second = await client.createUser(account)
    expect(second.serviceid).not.toBe(first.serviceid)
  })
})
