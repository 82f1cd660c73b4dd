import { beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { fileOf, lifeCatalogue } from './catalogue.ts'
import { lives, newStagePartner, refusal, type StagePartner } from './stage.ts'

// A pending swap in which a pair is no longer possible: the list shows what will happen, not what was once requested.

const service = forAllTests(() => startTestService(lives))
let partner: StagePartner
beforeEach(async () => {
  partner = await newStagePartner(service)
  await partner.create('u', { benefits: ['art'] })
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await partner.events('u')
})

const boundary = '2026-11-01T04:00:00.000Z'
async function tiles(state: 'FL' | 'NY' = 'FL') {
  const list = await partner.client.getBenefits({ userid: 'u', age: 36, state, zipcode: '33101' })
  return Object.fromEntries(
    list.map(one => [
      one.name,
      [
        one.status,
        one.isselectedforswap,
        one.swapeffectiveattimestamp ?? one.swapexpiresattimestamp,
        one.deeplinkdata.split('redirectto=')[1],
      ],
    ]),
  )
}

test('an update that no longer admits what was to come in leaves what was to go out untouched', async () => {
  await partner.client.swapBenefits({ userid: 'u', add: ['dental'], remove: ['art'] })
  await partner.client.updateUser({ userid: 'u', state: 'NY' })
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', dental: 'withdrawn' })
  const listed = await tiles('NY')
  expect(listed['art']).toEqual(['enrolled', false, null, 'manage'])
  expect(listed).not.toHaveProperty('dental')
  await partner.client.updateUser({ userid: 'u', state: 'FL' })
  expect(await tiles()).toMatchObject({
    art: ['enrolled', true, boundary, 'swap'],
    dental: ['notenrolled', true, boundary, 'swap'],
  })
})

test('what is enrolled at once need not come by the swap: its pair is dropped, and nothing goes out for it', async () => {
  await partner.client.enrolBenefit({ userid: 'u', name: 'care' })
  expect(await partner.names('u')).toEqual(['benefit_enrollment_successful', 'user_benefits_swap_cancelled'])
  expect(await partner.get('u')).toMatchObject({ conditions: [] })
  expect(await tiles()).toMatchObject({
    art: ['enrolled', false, null, 'manage'],
    care: ['enrolled', false, null, 'manage'],
  })
  await partner.to('2026-11-02T00:00')
  expect(await partner.names('u')).toEqual([])
})

test('a benefit that a swap was to bring into the last free slot can come at once instead', async () => {
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: [] })
  await partner.client.enrolBenefit({ userid: 'u', name: 'care' })
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', care: 'enrolled' })
})

test('in the locked hours a decline does not undo a swap, and an enrolment leaves it to its boundary', async () => {
  await partner.to('2026-10-31T04:00')
  await partner.events('u')
  expect(await refusal(partner.client.declineBenefit({ userid: 'u', name: 'care' }))).toBe(
    '422 change_locked',
  )
  await partner.client.enrolBenefit({ userid: 'u', name: 'care' })
  expect(await partner.get('u')).toMatchObject({ conditions: ['swappending'] })
  await partner.to('2026-11-01T04:00')
  expect(await partner.names('u')).toEqual(['benefit_enrollment_successful', 'user_benefits_swap_failed'])
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', care: 'enrolled' })
})

test('a catalogue that drops a benefit leaves the pending swap of its holders to be seen', async () => {
  const without = (dropped: string) => ({
    benefits: lifeCatalogue.benefits.filter(({ name }) => name !== dropped),
    offers: lifeCatalogue.offers.map(offer => ({
      ...offer,
      fixed: offer.fixed.filter(name => name !== dropped),
      selectable: offer.selectable.filter(name => name !== dropped),
    })),
  })
  try {
    await service.publish(fileOf(without('art')))
    expect(await tiles()).toMatchObject({ art: ['enrolled', true, boundary, 'swap'] })
    await service.publish(fileOf(without('care')))
    expect(await tiles()).toMatchObject({ care: ['notenrolled', true, boundary, 'swap'] })
  } finally {
    await service.publish(fileOf(lifeCatalogue))
  }
})
