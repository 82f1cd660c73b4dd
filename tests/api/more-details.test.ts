import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { fieldsOf, refusalOf } from './refusal.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
const account = { userid: 'u1', ...ada, offername: 'starter' } as const
const user = { userid: 'u1' } as const

describe("a partner's own facts of a user", () => {
  test('come back as they were sent, without empty ones', async () => {
    const { client } = await service.newPartner()
    const created = await client.createUser({
      ...account,
      moredetails: { employeenumber: '40217', constructor: 'Ñandú', team: '' },
    })
    expect(created.moredetails).toEqual({ employeenumber: '40217', constructor: 'Ñandú' })
    expect(await client.getUser(user)).toEqual(created)
    expect(await client.updateUser({ ...user, phone: '3055550143' })).toMatchObject({
      moredetails: created.moredetails,
    })
  })

  test('are added, replaced and removed one by one by an update', async () => {
    const { client } = await service.newPartner()
    await client.createUser({ ...account, moredetails: { one: '1', two: '2', three: '3' } })
    const moredetails = { one: '', two: null, three: '33', four: '4' }
    expect(await client.updateUser({ ...user, moredetails })).toMatchObject({
      moredetails: { three: '33', four: '4' },
    })
    expect((await client.updateUser({ ...user, moredetails: null })).moredetails).toEqual({})
  })

  test('stay through a cancel, until a create gives others; a prefilled user has none', async () => {
    const { client } = await service.newPartner()
    await client.prefillUser({ userid: 'u1', ...ada })
    expect(await client.getUser(user)).toMatchObject({ status: 'prefilled', moredetails: {} })
    await client.createUser({ ...account, moredetails: { team: 'north' } })
    await client.cancelUser({ ...user, effective: 'immediate' })
    expect(await client.getUser(user)).toMatchObject({ status: 'cancelled', moredetails: { team: 'north' } })
    expect(await client.createUser({ ...account, moredetails: { badge: '7' } })).toMatchObject({
      moredetails: { badge: '7' },
    })
  })

  test('are refused by name and rule, never with a value: 20 at most, after an update too', async () => {
    const { client } = await service.newPartner()
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'x']))
    const refused = [
      [{ 'Ada Canary': 'x' }, 'moredetails'],
      [{ site: 'x'.repeat(201) }, 'moredetails.site'],
      [{ site: 'a\nb' }, 'moredetails.site'],
      [many(21), 'moredetails'],
    ] as const
    for (const [moredetails, field] of refused)
      expect(fieldsOf(await refusalOf(client.createUser({ ...account, moredetails })))).toEqual([field])
    await client.createUser({ ...account, moredetails: many(20) })
    expect(fieldsOf(await refusalOf(client.updateUser({ ...user, moredetails: { more: 'x' } })))).toEqual([
      'moredetails',
    ])
    expect(
      (await client.updateUser({ ...user, moredetails: { more: 'x', n1: '' } })).moredetails,
    ).toHaveProperty('more')
  })
})
