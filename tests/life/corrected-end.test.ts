import { expect, test } from 'vitest'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { type Correcting, openCorrections } from './corrections.ts'
import { lives, newStagePartner } from './stage.ts'

// An operator's decision about the end of a benefit holds, whatever the person's data and the partner's requests do
// meanwhile: both can be taken back "as if it had not been" (contract §7), and then the operator's end is there again.

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))

const userid = 'u'
/** The last day of cover is November 20, in America/New_York. */
const corrected = '2026-11-21T05:00:00.000Z'
const boundary = '2026-11-01T04:00:00.000Z'

async function correct(op: Correcting) {
  const place = { partnerId: partner.partnerId, zone: 'America/New_York' }
  expect(await openCorrections(service, place)(userid, op)).toEqual({})
}
async function endOfDental() {
  const { benefits } = await partner.get(userid)
  return benefits.find(one => one.name === 'dental' && one.state === 'endscheduled')?.endsattimestamp
}
async function memberWithCorrectedEnd() {
  await partner.create(userid, { offername: 'mid', benefits: ['dental', 'art'] })
  await correct({ op: 'moveend', b: 'dental', days: 31 })
  expect(await endOfDental()).toBe(corrected)
}

test('an end that an operator gave is back when the person moves to a state without the benefit, and home again', async () => {
  await memberWithCorrectedEnd()
  await partner.client.updateUser({ userid, state: 'NY' })
  expect(await endOfDental()).toBe(boundary)
  await partner.client.updateUser({ userid, zipcode: '10001' })
  await partner.client.updateUser({ userid, state: 'FL' })
  expect(await endOfDental()).toBe(corrected)
  await partner.to('2026-11-22T12:00')
  expect(await partner.states(userid)).toMatchObject({ dental: 'ended', art: 'enrolled' })
})

test('a later correction replaces an end that waits behind the one of the state', async () => {
  await memberWithCorrectedEnd()
  await partner.client.updateUser({ userid, state: 'NY' })
  await correct({ op: 'moveend', b: 'dental', days: 3 })
  await partner.client.updateUser({ userid, state: 'FL' })
  expect(await endOfDental()).toBe('2026-10-24T04:00:00.000Z')
})

test('a correction of the start leaves both ends as they are', async () => {
  await memberWithCorrectedEnd()
  await partner.client.updateUser({ userid, state: 'NY' })
  await correct({ op: 'movestart', b: 'dental', days: -3 })
  expect(await endOfDental()).toBe(boundary)
  await partner.client.updateUser({ userid, state: 'FL' })
  expect(await endOfDental()).toBe(corrected)
})

test('a benefit that has not begun is declined, although an end waits behind the one of the state', async () => {
  await memberWithCorrectedEnd()
  await partner.client.updateUser({ userid, state: 'NY' })
  await correct({ op: 'movestart', b: 'dental', days: 5 })
  await partner.client.declineBenefit({ userid, name: 'dental' })
  expect(await partner.states(userid)).toMatchObject({ dental: 'declined' })
})

test('a reinstated benefit has the end that an operator gave it', async () => {
  await memberWithCorrectedEnd()
  await partner.client.cancelUser({ userid, effective: 'immediate' })
  const { notrestored } = await partner.client.reinstateUser({ userid })
  expect(notrestored).toEqual([])
  expect(await endOfDental()).toBe(corrected)
})

test('a benefit whose end by an operator has passed meanwhile is not reinstated, and says why', async () => {
  await memberWithCorrectedEnd()
  await partner.client.cancelUser({ userid, effective: 'immediate' })
  await partner.to('2026-11-18T12:00')
  await partner.client.reinstateUser({ userid })
  await partner.client.cancelUser({ userid, effective: 'immediate' })
  await partner.to('2026-11-22T12:00')
  const { notrestored } = await partner.client.reinstateUser({ userid })
  expect(notrestored).toEqual([
    { name: 'dental', code: 'cover_ended', message: 'The cover of this benefit was to end before.' },
  ])
  expect(await partner.states(userid)).toMatchObject({ art: 'enrolled', base: 'enrolled' })
})
