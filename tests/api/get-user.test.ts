// @prism

import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const account = { userid: 'u1', ...ada, offername: 'starter' } as const

describe('get', () => {
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
})
