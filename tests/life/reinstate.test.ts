// @prism

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { openCorrections } from './corrections.ts'
import { lives, newStagePartner, refusal } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forAllTests(() => newStagePartner(service))

test('a pending cancel is undone as if it had not been; what it dropped stays dropped', async () => {
  const { client } = partner
  await partner.create('back', { offername: 'mid', benefits: ['art', 'eyes'] })
  const before = await partner.get('back')
  await client.swapBenefits({ userid: 'back', add: ['care'], remove: ['art'] })
  await client.cancelUser({ userid: 'back' })
  await partner.events('back')
  const after = await client.reinstateUser({ userid: 'back' })
  const { notrestored, ...user } = after
  expect(notrestored).toEqual([])
  const held = user.benefits.filter(one => one.state !== 'withdrawn')
  expect({ ...user, benefits: held, updatedat: before.updatedat }).toEqual(before)
  expect(await partner.names('back')).toEqual(['offer_reinstate_successful'])
})

test('a benefit chosen alone tells its start as if the cancel had not been', async () => {
  const { partnerId } = partner
  await partner.create('single')
  await partner.client.enrolBenefit({ userid: 'single', name: 'art' })
  const correct = openCorrections(service, { partnerId, zone: 'America/New_York' })
  expect(await correct('single', { op: 'movestart', b: 'art', days: 4 })).toEqual({})
  await partner.client.cancelUser({ userid: 'single' })
  await partner.client.reinstateUser({ userid: 'single' })
  await partner.events('single')
  await partner.to('2026-10-24T12:00')
  expect(await partner.names('single')).toEqual(['benefit_enrollment_successful'])
})

test('what the user declined while the cancel was pending stays declined, also after it took effect', async () => {
  const { client } = partner
  for (const userid of ['declined', 'declinedlater']) {
    await partner.create(userid, { benefits: ['art', 'eyes'] })
    await client.cancelUser({ userid })
    await client.declineBenefit({ userid, name: 'eyes' })
  }
  await client.cancelUser({ userid: 'declinedlater', effective: 'immediate' })
  for (const userid of ['declined', 'declinedlater']) {
    expect(await client.reinstateUser({ userid })).toMatchObject({ conditions: [], notrestored: [] })
    expect(await partner.states(userid)).toMatchObject({ art: 'enrolled', eyes: 'declined' })
  }
  await client.enrolBenefit({ userid: 'declined', name: 'eyes' })
  await client.cancelUser({ userid: 'declined' })
  await client.reinstateUser({ userid: 'declined' })
  expect(await partner.states('declined')).toMatchObject({ eyes: 'actionrequired' })
})

test('what was declined before it was picked comes back with that pick', async () => {
  const { client } = partner
  await partner.create('picked', { offername: 'mid', benefits: ['art'] })
  await client.changeOffer({ userid: 'picked', offername: 'top', effective: 'nextperiod' })
  await client.declineBenefit({ userid: 'picked', name: 'home' })
  await client.enrolBenefit({ userid: 'picked', name: 'home' })
  await client.cancelUser({ userid: 'picked', effective: 'immediate' })
  await client.reinstateUser({ userid: 'picked' })
  expect(await partner.states('picked')).toMatchObject({ art: 'enrolled', home: 'enrolled' })
})

test('after it took effect, offer and picks come back from now on, with a gap', async () => {
  const { client } = partner
  await partner.create('gap', { benefits: ['art', 'books'] })
  await client.cancelUser({ userid: 'gap', effective: 'immediate' })
  await partner.events('gap')
  await partner.to('2026-10-25T10:00')
  const user = await client.reinstateUser({ userid: 'gap' })
  expect(user).toMatchObject({ status: 'active', notrestored: [], currentofferdetails: { offer: 'low' } })
  expect(user.benefits).toMatchObject(
    ['base', 'art', 'books'].map(name => ({
      name,
      state: 'enrolled',
      startsattimestamp: user.currentofferdetails.updatedat,
    })),
  )
  expect(await partner.names('gap')).toEqual(['offer_reinstate_successful', 'offer_activiation_successful'])
})

test('what a pending change was to bring does not come back either', async () => {
  const { client } = partner
  await partner.create('planned', { offername: 'mid', benefits: ['art'] })
  await client.changeOffer({ userid: 'planned', offername: 'top', effective: 'nextperiod' })
  await client.swapBenefits({ userid: 'planned', add: ['care'], remove: [] })
  await client.cancelUser({ userid: 'planned', effective: 'immediate' })
  const user = await client.reinstateUser({ userid: 'planned' })
  expect(user).toMatchObject({ notrestored: [], conditions: [] })
  expect(await partner.states('planned')).toMatchObject({
    art: 'enrolled',
    care: 'withdrawn',
    gold: 'withdrawn',
  })
})

test('eligibility is checked again, and what could not return is listed with the reason', async () => {
  const { client } = partner
  await partner.create('partly', { offername: 'mid', benefits: ['dental', 'art', 'grow'], dob: '1986-11-28' })
  await client.cancelUser({ userid: 'partly' })
  await client.updateUser({ userid: 'partly', state: 'NY' })
  await partner.to('2026-11-29T12:00')
  const user = await client.reinstateUser({ userid: 'partly' })
  expect(user.notrestored).toEqual([
    { name: 'extra', code: 'state_left_out', message: 'Refused by state_left_out.' },
    { name: 'dental', code: 'state_left_out', message: 'Refused by state_left_out.' },
    { name: 'grow', code: 'too_old', message: 'Refused by too_old.' },
  ])
  expect(user.benefits.filter(one => one.state === 'enrolled').map(one => one.name)).toEqual(['base', 'art'])
})

test('an offer that does not admit the user any more cannot be restored', async () => {
  await partner.create('out', { offername: 'top' })
  await partner.client.cancelUser({ userid: 'out' })
  await partner.client.updateUser({ userid: 'out', state: 'NY' })
  await partner.to('2026-12-02T12:00')
  await expect(partner.client.reinstateUser({ userid: 'out' })).rejects.toMatchObject({
    code: 'ineligible',
    errors: [{ field: 'offername', code: 'offer_state' }],
  })
})

test('up to 30 days after it took effect, and not an instant longer', async () => {
  const { client } = partner
  await partner.create('late')
  const { reinstatableuntil } = await client.cancelUser({ userid: 'late' })
  expect(reinstatableuntil).toBe('2027-01-31T05:00:00.000Z')
  await partner.to('2027-01-31T04:59')
  await client.reinstateUser({ userid: 'late' })
  await client.cancelUser({ userid: 'late' })
  await partner.to('2027-03-03T05:00')
  expect(await refusal(client.reinstateUser({ userid: 'late' }))).toBe('422 reinstate_expired')
})

test('in the locked hours it is not locked', async () => {
  await partner.create('locked')
  await partner.to('2027-03-31T20:00')
  await partner.client.cancelUser({ userid: 'locked' })
  expect(await partner.client.reinstateUser({ userid: 'locked' })).toMatchObject({ conditions: [] })
})
