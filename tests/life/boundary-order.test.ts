import { beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { fileOf, lifeCatalogue, type TestCatalogue } from './catalogue.ts'
import { lives, newStagePartner, refusal, type StagePartner } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
let partner: StagePartner
beforeEach(async () => {
  await publish(lifeCatalogue)
  partner = await newStagePartner(service)
})
const boundary = '2026-11-01T04:00:00.000Z'
async function publish(catalogue: TestCatalogue) {
  await service.publish(fileOf(catalogue))
  // The service looks for a newer version after a second.
  service.advance(1000)
}
function without(kind: 'offers' | 'benefits', name: string): TestCatalogue {
  return {
    benefits: lifeCatalogue.benefits
      .filter(one => kind !== 'benefits' || one.name !== name)
      .map(one => ({
        ...one,
        ...(one.offers ? { offers: one.offers.filter(offer => offer !== name) } : {}),
      })),
    offers: lifeCatalogue.offers
      .filter(one => kind !== 'offers' || one.offer !== name)
      .map(one => ({
        ...one,
        fixed: one.fixed.filter(held => kind !== 'benefits' || held !== name),
        selectable: one.selectable.filter(held => kind !== 'benefits' || held !== name),
      })),
  }
}

test('offer change, swap, ends and starts of one instant come in this order', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'mid', benefits: ['art', 'grow'], dob: '1986-10-25' })
  await client.changeOffer({ userid: 'u', offername: 'low' })
  await client.swapBenefits({ userid: 'u', add: ['books'], remove: ['art'] })
  await partner.events('u')
  await partner.to('2026-11-01T04:00')
  expect((await partner.events('u')).map(one => [one.eventname, one.offer, one.updatedat, one.name])).toEqual(
    [
      ['offer_downgrade_successful', 'low', boundary, undefined],
      ['offer_activiation_successful', 'low', boundary, undefined],
      ['user_benefits_swap_successful', 'low', boundary, undefined],
      ['benefit_enrollment_ended', 'low', boundary, 'grow'],
    ],
  )
})

test('what ends by itself at the boundary takes no slot of the next offer', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'mid', benefits: ['grow', 'art', 'books'], dob: '1986-10-25' })
  expect(await client.changeOffer({ userid: 'u', offername: 'low' })).toMatchObject({
    lost: ['extra', 'grow'],
    kept: ['base', 'art', 'books'],
  })
  await partner.to('2026-11-01T04:00')
  expect(await partner.states('u')).toMatchObject({ grow: 'ended', art: 'enrolled', books: 'enrolled' })
})

test('a cancel comes first: nothing else happens at its instant', async () => {
  const { client } = partner
  await partner.create('u', { benefits: ['grow', 'art'], dob: '1986-10-25' })
  await client.cancelUser({ userid: 'u' })
  await partner.events('u')
  await partner.to('2026-11-01T04:00')
  expect(await partner.names('u')).toEqual(['offer_cancel_successful'])
})

test('an offer removed from the catalogue stays with its holders and is closed to newcomers', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'mid', benefits: ['art'] })
  await partner.create('v', { benefits: ['art'] })
  await client.changeOffer({ userid: 'v', offername: 'mid', effective: 'nextperiod' })
  await publish(without('offers', 'mid'))
  expect(await partner.get('u')).toMatchObject({ currentofferdetails: { offer: 'mid' } })
  expect(await refusal(partner.create('w', { offername: 'mid' }))).toBe('400 offername_unknown')
  expect(await refusal(client.changeOffer({ userid: 'v', offername: 'mid' }))).toBe('400 offername_unknown')
  expect(await client.enrolBenefit({ userid: 'u', name: 'books' })).toMatchObject({ state: 'enrolled' })
  await client.cancelUser({ userid: 'u', effective: 'immediate' })
  expect(await refusal(client.reinstateUser({ userid: 'u' }))).toBe('422 ineligible')
  await partner.events('v')
  await partner.to('2026-11-01T04:00')
  expect(await partner.names('v')).toEqual(['offer_change_cancelled'])
  expect(await partner.get('v')).toMatchObject({ pendingoffer: null, currentofferdetails: { offer: 'low' } })
})

test('a benefit removed from the catalogue stays with its holders; a swap to it fails at the boundary', async () => {
  const { client } = partner
  await partner.create('u', { benefits: ['art', 'books'] })
  await client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await partner.create('v', { benefits: ['care'] })
  await publish(without('benefits', 'care'))
  expect(await partner.states('v')).toMatchObject({ care: 'enrolled' })
  expect(
    await refusal(
      client
        .enrolBenefit({ userid: 'v', name: 'care' })
        .then(() => client.enrolBenefit({ userid: 'u', name: 'care' })),
    ),
  ).toBe('422 ineligible')
  await partner.events('u')
  await partner.to('2026-11-01T04:00')
  expect(await partner.states('u')).toEqual({
    base: 'enrolled',
    art: 'enrolled',
    books: 'enrolled',
    care: 'rejected',
  })
  expect(await partner.names('u')).toEqual(['user_benefits_swap_failed'])
})

test('what is held keeps the terms under which it began, and an update judges by those', async () => {
  await partner.create('u', { benefits: ['art', 'dental'] })
  const stricter = lifeCatalogue.benefits.map(one => (one.name === 'art' ? { ...one, notin: ['TX'] } : one))
  await publish({ ...lifeCatalogue, benefits: stricter })
  const user = await partner.client.updateUser({ userid: 'u', state: 'TX' })
  expect(user.benefits.every(one => one.state === 'enrolled')).toBe(true)
  await partner.create('v', { state: 'TX' })
  expect(await refusal(partner.client.enrolBenefit({ userid: 'v', name: 'art' }))).toBe('422 ineligible')
})

test('a consent asked for by a new version makes a planned pick wait again, and what was accepted not', async () => {
  const { client } = partner
  await partner.create('u', { benefits: ['art'] })
  await client.swapBenefits({ userid: 'u', add: ['eyes'], remove: ['art'] })
  await client.enrolBenefit({ userid: 'u', name: 'eyes', consents: [{ name: 'eyes', version: 'v1' }] })
  await partner.create('v', {
    benefits: ['eyes'],
    effectivedate: '2026-11-01',
    consents: [{ name: 'eyes', version: 'v1' }],
  })
  const newer = lifeCatalogue.benefits.map(one => (one.name === 'eyes' ? { ...one, consent: 'v2' } : one))
  await publish({ ...lifeCatalogue, benefits: newer })
  await client.updateUser({ userid: 'u', phone: '3055550199' })
  expect(await partner.states('u')).toMatchObject({ eyes: 'actionrequired' })
  await partner.to('2026-11-01T04:00')
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', eyes: 'rejected' })
  expect(await partner.states('v')).toMatchObject({ eyes: 'enrolled' })
})

test('the offer in force says for how many hours before the boundary changes are locked', async () => {
  const offers = lifeCatalogue.offers.map(one => (one.offer === 'mid' ? { ...one, cutoffhours: 72 } : one))
  await publish({ ...lifeCatalogue, offers })
  const { client } = partner
  for (const userid of ['u', 'v']) await partner.create(userid, { offername: 'mid', benefits: ['art'] })
  for (const userid of ['w', 'x']) await partner.create(userid, { benefits: ['art'] })
  const up = (userid: string) => client.changeOffer({ userid, offername: 'mid', effective: 'nextperiod' })
  const down = (userid: string) => client.changeOffer({ userid, offername: 'low' })
  const swap = (userid: string) => client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
  await partner.to('2026-10-29T03:59')
  await down('u')
  await partner.to('2026-10-29T04:00')
  const locked = [down('v'), client.undoOfferChange({ userid: 'u' }), swap('v')]
  expect(await Promise.all(locked.map(refusal))).toEqual(locked.map(() => '422 change_locked'))
  // The offer to which a user moves has no say.
  await up('w')
  expect(await swap('w')).toMatchObject({ lockedattimestamp: '2026-10-31T04:00:00.000Z' })
  await partner.to('2026-10-31T03:59')
  await client.undoOfferChange({ userid: 'w' })
  await partner.to('2026-10-31T04:00')
  const lockedLater = [up('x'), swap('x'), client.undoSwap({ userid: 'w' })]
  expect(await Promise.all(lockedLater.map(refusal))).toEqual(lockedLater.map(() => '422 change_locked'))
})

test('availability closes an offer to newcomers on the date on which it would begin', async () => {
  const closing = lifeCatalogue.offers.map(one =>
    one.offer === 'mid' ? { ...one, availability: { from: '2026-10-21', until: '2026-10-31' } } : one,
  )
  await publish({ ...lifeCatalogue, offers: closing })
  const { client } = partner
  await expect(partner.create('u', { offername: 'mid' })).rejects.toMatchObject({
    code: 'offer_not_available',
    errors: [{ code: 'not_yet_available' }],
  })
  await partner.create('u')
  await partner.to('2026-10-25T12:00')
  const next = client.changeOffer({ userid: 'u', offername: 'mid', effective: 'nextperiod' })
  await expect(next).rejects.toMatchObject({
    code: 'offer_not_available',
    errors: [{ code: 'no_longer_available' }],
  })
  expect(await client.changeOffer({ userid: 'u', offername: 'mid' })).toMatchObject({ direction: 'upgrade' })
})
