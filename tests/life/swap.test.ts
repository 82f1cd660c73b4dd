// @prism

import { expect, test } from 'vitest'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, reasons, refusal } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))

const boundary = '2026-11-01T04:00:00.000Z'
const asks = { age: 36, state: 'FL', zipcode: '33101' } as const

async function swapFields(userid: string) {
  return Object.fromEntries(
    (await partner.client.getBenefits({ userid, ...asks })).map(one => [
      one.name,
      [one.isselectedforswap, one.swapeffectiveattimestamp, one.swapexpiresattimestamp],
    ]),
  )
}

test('takes effect at the first instant of the next month, in-time equal to out-time', async () => {
  await partner.create('u', { benefits: ['art', 'books'] })
  await partner.events('u')
  const swap = await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  expect(swap).toMatchObject({
    add: ['care'],
    remove: ['art'],
    boundarytimestamp: boundary,
    lockedattimestamp: '2026-10-31T04:00:00.000Z',
  })
  expect(await partner.get('u')).toMatchObject({
    conditions: ['swappending'],
    benefits: [
      { name: 'base', state: 'enrolled' },
      { name: 'art', state: 'endscheduled', endsattimestamp: boundary },
      { name: 'books', state: 'enrolled' },
      { name: 'care', state: 'scheduled', startsattimestamp: boundary },
    ],
  })
  expect(await swapFields('u')).toMatchObject({
    base: [null, null, null],
    art: [true, null, boundary],
    books: [false, null, null],
    care: [true, boundary, null],
    dental: [false, null, null],
  })
  await partner.to('2026-11-01T04:00')
  expect(await partner.get('u')).toMatchObject({
    benefits: [
      { name: 'base', state: 'enrolled' },
      { name: 'art', state: 'ended', endsattimestamp: boundary },
      { name: 'books', state: 'enrolled' },
      { name: 'care', state: 'enrolled', startsattimestamp: boundary },
    ],
  })
  expect(await swapFields('u')).toMatchObject({ art: [false, null, null], care: [false, null, null] })
  expect(await partner.names('u')).toEqual(['user_benefits_pendingswap', 'user_benefits_swap_successful'])
})

test('a new swap replaces the pending one whole; the same one again changes nothing', async () => {
  await partner.create('u', { benefits: ['art', 'books'] })
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await partner.events('u')
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  expect(await partner.names('u')).toEqual([])
  await partner.client.swapBenefits({ userid: 'u', add: ['dental'], remove: ['books'] })
  expect(await partner.names('u')).toEqual(['user_benefits_swap_cancelled', 'user_benefits_pendingswap'])
  expect(await partner.states('u')).toEqual({
    base: 'enrolled',
    art: 'enrolled',
    books: 'endscheduled',
    care: 'withdrawn',
    dental: 'scheduled',
  })
})

test('both lists empty undo it, and so does the delete; without one nothing changes', async () => {
  await partner.create('u', { benefits: ['art'] })
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await partner.client.swapBenefits({ userid: 'u', add: [], remove: [] })
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await partner.client.undoSwap({ userid: 'u' })
  await partner.events('u')
  await partner.client.undoSwap({ userid: 'u' })
  await partner.client.swapBenefits({ userid: 'u', add: [], remove: [] })
  expect(await partner.names('u')).toEqual([])
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', care: 'withdrawn' })
})

test('further adds use free slots; more than fit are refused', async () => {
  await partner.create('u', { benefits: ['art'] })
  expect(
    await refusal(
      partner.client.swapBenefits({ userid: 'u', add: ['care', 'books', 'dental'], remove: ['art'] }),
    ),
  ).toBe('422 slots_exceeded')
  await partner.client.swapBenefits({ userid: 'u', add: ['care', 'books'], remove: ['art'] })
  // The free slot is reserved for the swap.
  expect(await refusal(partner.client.enrolBenefit({ userid: 'u', name: 'dental' }))).toBe(
    '422 slots_exceeded',
  )
  const details = (await partner.client.getBenefits({ userid: 'u', ...asks })).find(
    one => one.name === 'dental',
  )
  expect(details?.deeplinkdata).toContain('redirectto=swap')
})

test('where an add fails, its removal is undone: nobody ends with less cover', async () => {
  await partner.create('u', { offername: 'mid', benefits: ['art', 'books'] })
  await partner.client.swapBenefits({
    userid: 'u',
    add: ['dental', 'eyes', 'care'],
    remove: ['art', 'books'],
  })
  await partner.client.updateUser({ userid: 'u', state: 'NY' })
  await partner.events('u')
  await partner.to('2026-11-01T04:00')
  // New York does not admit dental, and the consent for eyes is missing; care came into a free slot.
  expect(await partner.states('u')).toEqual({
    base: 'enrolled',
    extra: 'ended',
    art: 'enrolled',
    books: 'enrolled',
    care: 'enrolled',
    dental: 'withdrawn',
    eyes: 'rejected',
  })
  expect(await partner.names('u')).toEqual([
    'user_benefits_swap_successful',
    'user_benefits_swap_failed',
    'benefit_enrollment_ended',
  ])
})

test('a consent given while the swap waits lets the add succeed', async () => {
  await partner.create('u', { benefits: ['art'] })
  await partner.client.swapBenefits({ userid: 'u', add: ['eyes'], remove: ['art'] })
  expect(await partner.get('u')).toMatchObject({
    conditions: ['swappending', 'actionrequired'],
    // The swap no longer waits for it: when it is given later, the pair has already failed.
    requiredactions: [{ code: 'consent_required', name: 'eyes', dueattimestamp: boundary }],
  })
  const given = { userid: 'u', name: 'eyes', consents: [{ name: 'eyes', version: 'v1' }] }
  expect(await partner.client.enrolBenefit(given)).toMatchObject({
    state: 'scheduled',
    startsattimestamp: boundary,
  })
  await partner.to('2026-11-01T04:00')
  expect(await partner.states('u')).toMatchObject({ art: 'ended', eyes: 'enrolled' })
})

test('what a pair does not fit is named', async () => {
  await partner.create('u', { benefits: ['art', 'eyes'] })
  const swap = (add: string[], remove: string[]) =>
    reasons(partner.client.swapBenefits({ userid: 'u', add, remove }))
  expect(await swap(['extra'], ['art'])).toEqual(['not_selectable'])
  expect(await swap(['art'], ['art'])).toEqual(['already_held'])
  expect(await swap(['care'], ['base'])).toEqual(['not_held'])
  expect(await swap(['care'], ['eyes'])).toEqual(['not_held'])
  expect(await swap(['fit'], ['art'])).toEqual(['other_offers'])
  expect(await swap(['care', 'art'], ['art'])).toEqual(['already_held'])
})

test('who is not admitted hears so, also when there is no room', async () => {
  await partner.create('u', { benefits: ['art', 'books'], dob: '1970-01-01' })
  const swap = (add: string[]) => partner.client.swapBenefits({ userid: 'u', add, remove: [] })
  expect(await refusal(swap(['care']))).toBe('422 slots_exceeded')
  expect(await refusal(swap(['grow']))).toBe('422 ineligible')
  expect(await reasons(swap(['care', 'grow']))).toEqual(['too_old'])
})

test('in the last hours it can be neither made, replaced nor undone, and previews say so', async () => {
  await partner.create('u', { benefits: ['art', 'books'] })
  await partner.create('v', { benefits: ['art'] })
  await partner.to('2026-10-31T03:59')
  const request = { userid: 'u', add: ['care'], remove: ['art'] }
  expect(await partner.client.swapBenefits({ ...request, previewonly: true })).toMatchObject({
    boundarytimestamp: boundary,
  })
  await partner.client.swapBenefits(request)
  await partner.to('2026-10-31T04:00')
  const locked = [
    partner.client.swapBenefits({ ...request, add: ['dental'] }),
    partner.client.swapBenefits({ ...request, userid: 'v' }),
    partner.client.swapBenefits({ ...request, userid: 'v', previewonly: true }),
    partner.client.swapBenefits({ userid: 'u', add: [], remove: [] }),
    partner.client.undoSwap({ userid: 'u' }),
  ]
  expect(await Promise.all(locked.map(refusal))).toEqual(locked.map(() => '422 change_locked'))
})

test('a preview changes nothing', async () => {
  await partner.create('u', { benefits: ['art'] })
  const before = await partner.get('u')
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'], previewonly: true })
  expect(await partner.get('u')).toEqual(before)
})

test('every offer change re-checks it, pair by pair, and one that no longer fits is dropped', async () => {
  await partner.create('u', { offername: 'mid', benefits: ['art'] })
  await partner.client.swapBenefits({ userid: 'u', add: ['care', 'books'], remove: [] })
  await partner.events('u')
  await partner.client.changeOffer({ userid: 'u', offername: 'low' })
  expect(await partner.names('u')).toEqual(['offer_change_scheduled', 'user_benefits_swap_cancelled'])
  await partner.client.undoOfferChange({ userid: 'u' })
  await partner.client.swapBenefits({ userid: 'u', add: ['home'], remove: ['art'] })
  await partner.events('u')
  await partner.client.changeOffer({ userid: 'u', offername: 'top' })
  expect(await partner.names('u')).toEqual([
    'offer_upgrade_successful',
    'offer_activiation_successful',
    'user_benefits_swap_cancelled',
  ])
})

test('a benefit lost with a downgrade may come in by a swap at the same instant: no gap, no overlap', async () => {
  await partner.create('u', { offername: 'mid', benefits: ['art', 'books', 'eyes'] })
  await partner.client.changeOffer({ userid: 'u', offername: 'low' })
  // eyes waits for its consent, so it is not among those that stay.
  await partner.client.swapBenefits({ userid: 'u', add: ['eyes'], remove: ['art'] })
  await partner.client.enrolBenefit({
    userid: 'u',
    name: 'eyes',
    consents: [{ name: 'eyes', version: 'v1' }],
  })
  await partner.to('2026-11-01T04:00')
  const user = await partner.get('u')
  expect(user.benefits.find(one => one.name === 'eyes')).toMatchObject({ state: 'enrolled' })
  expect(user.benefits.filter(one => one.state === 'enrolled')).toHaveLength(3)
})
