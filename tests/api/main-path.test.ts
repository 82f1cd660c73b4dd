// @databases citus stock
// @prism

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService } from '../rig.ts'

// In the middle of a month, because at its end swaps are refused.
const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

test('prefill, list, create, list: the benefits of the offer are then enrolled', async () => {
  const { client } = await service.newPartner()
  await client.prefillUser({ userid: 'u1', ...ada })
  const before = await client.getBenefits({ userid: 'u1', ...adaAsks })
  expect(before.length).toBeGreaterThan(8)
  expect(new Set(before.map(benefit => benefit.status))).toEqual(new Set(['notenrolled']))
  const user = await client.createUser({ userid: 'u1', offername: 'starter', benefits: ['telehealth'] })
  expect(user).toMatchObject({ status: 'active', currentofferdetails: { offer: 'starter' } })
  const after = await client.getBenefits({ userid: 'u1', ...adaAsks })
  expect(Object.fromEntries(after.map(benefit => [benefit.name, benefit.status]))).toMatchObject({
    accident: 'enrolled',
    telehealth: 'enrolled',
    dental: 'notenrolled',
  })
  expect(await client.getUser({ userid: 'u1' })).toMatchObject({
    serviceid: user.serviceid,
    status: 'active',
  })
})

test('a whole life: upgrade, downgrade, swap, cancel, reinstate, erase', async () => {
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'u1', ...ada, offername: 'starter', benefits: ['telehealth', 'dental'] })
  expect(await client.changeOffer({ userid: 'u1', offername: 'plus' })).toMatchObject({
    gained: ['hospital'],
  })
  expect(await client.changeOffer({ userid: 'u1', offername: 'starter' })).toMatchObject({
    lost: ['hospital'],
  })
  await client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] })
  const ahead = new Date(service.now() + 45 * 86_400_000).toISOString()
  await client.advanceClock({ advanceto: ahead })
  const states = Object.fromEntries((await getUser()).benefits.map(one => [one.name, one.state]))
  expect(states).toEqual({
    accident: 'enrolled',
    hospital: 'ended',
    telehealth: 'enrolled',
    dental: 'ended',
    vision: 'enrolled',
  })
  expect(await client.cancelUser({ userid: 'u1' })).toMatchObject({ status: 'active' })
  expect(await client.reinstateUser({ userid: 'u1' })).toMatchObject({ status: 'active', conditions: [] })
  expect(await client.cancelUser({ userid: 'u1', effective: 'immediate' })).toMatchObject({
    status: 'cancelled',
  })
  expect(await client.reinstateUser({ userid: 'u1' })).toMatchObject({ status: 'active', notrestored: [] })
  const erased = await client.eraseUser({ userid: 'u1' })
  expect(await client.getUser({ userid: 'u1' })).toEqual(erased)

  async function getUser() {
    const user = await client.getUser({ userid: 'u1' })
    if (user.status === 'erased') throw new Error('erased')
    return user
  }
})
