import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forAllTests(() => newStagePartner(service))

describe('a user created for a later date', () => {
  test('is active at once, the offer in force from the first instant of the date in the zone', async () => {
    const user = await partner.create('later', { effectivedate: '2026-11-10', benefits: ['art'] })
    expect(user).toMatchObject({
      status: 'active',
      conditions: [],
      currentofferdetails: { offer: '' },
      pendingoffer: { offer: 'low', effectiveattimestamp: '2026-11-10T05:00:00.000Z' },
    })
    expect(user.benefits).toMatchObject([
      { name: 'base', state: 'scheduled', startsattimestamp: '2026-11-10T05:00:00.000Z' },
      { name: 'art', state: 'scheduled', startsattimestamp: '2026-11-10T05:00:00.000Z' },
    ])
    expect(await partner.names('later')).toEqual(['enrollment_successful'])
  })

  test('is on the offer from that instant on, however late it is applied', async () => {
    await partner.to('2026-11-10T04:59')
    expect(await partner.states('later')).toEqual({ base: 'scheduled', art: 'scheduled' })
    await partner.lateTo('2026-11-12T09:00')
    expect(await partner.get('later')).toMatchObject({
      currentofferdetails: { offer: 'low', updatedat: '2026-11-10T05:00:00.000Z' },
      pendingoffer: null,
    })
    await partner.to('2026-11-12T09:00')
    expect(await partner.events('later')).toEqual([
      { eventname: 'offer_activiation_successful', offer: 'low', updatedat: '2026-11-10T05:00:00.000Z' },
    ])
  })

  test('can be moved to another offer before it begins, and begins on that one', async () => {
    await partner.create('moved', { effectivedate: '2026-12-05', benefits: ['art', 'books'] })
    const changed = await partner.client.changeOffer({ userid: 'moved', offername: 'mid' })
    expect(changed).toMatchObject({
      pendingoffer: { offer: 'mid', effectiveattimestamp: '2026-12-05T05:00:00.000Z' },
      gained: ['extra'],
      lost: [],
    })
    await partner.to('2026-12-05T05:00')
    expect(await partner.states('moved')).toEqual({
      base: 'enrolled',
      extra: 'enrolled',
      art: 'enrolled',
      books: 'enrolled',
    })
    expect(await partner.names('moved')).toEqual([
      'enrollment_successful',
      'offer_change_scheduled',
      'offer_upgrade_successful',
      'offer_activiation_successful',
    ])
  })

  test('a change for the start is not locked, as there is no period before it', async () => {
    await partner.create('tomorrow', { effectivedate: '2026-12-06' })
    await partner.client.changeOffer({ userid: 'tomorrow', offername: 'mid' })
    expect(await partner.client.undoOfferChange({ userid: 'tomorrow' })).toMatchObject({
      pendingoffer: { offer: 'low', effectiveattimestamp: '2026-12-06T05:00:00.000Z' },
      kept: ['base'],
    })
  })

  test('can plan a swap for the boundary after the start', async () => {
    await partner.create('swapper', { effectivedate: '2026-12-10', benefits: ['art', 'books'] })
    const swap = await partner.client.swapBenefits({ userid: 'swapper', add: ['care'], remove: ['art'] })
    expect(swap.boundarytimestamp).toBe('2027-01-01T05:00:00.000Z')
    await partner.to('2027-01-01T05:00')
    expect(await partner.states('swapper')).toMatchObject({
      art: 'ended',
      care: 'enrolled',
      books: 'enrolled',
    })
  })

  test('a cancel before the start takes effect at once: nothing was in force', async () => {
    await partner.create('never', { effectivedate: '2027-02-01', benefits: ['art'] })
    const cancelled = await partner.client.cancelUser({ userid: 'never' })
    expect(cancelled).toMatchObject({ status: 'cancelled', benefits: [] })
    expect(await partner.states('never')).toEqual({ base: 'withdrawn', art: 'withdrawn' })
    await partner.client.reinstateUser({ userid: 'never' })
    expect(await partner.get('never')).toMatchObject({ status: 'active', currentofferdetails: { offer: '' } })
    await partner.to('2027-02-01T05:00')
    expect(await partner.states('never')).toEqual({ base: 'enrolled', art: 'enrolled' })
  })
})

describe('first picks', () => {
  test('a refused pick refuses the whole, a refused fixed benefit is left out', async () => {
    const inNewYork = { offername: 'mid', state: 'NY' }
    await expect(partner.create('ny', { ...inNewYork, benefits: ['art', 'dental'] })).rejects.toMatchObject({
      code: 'ineligible',
      errors: [{ field: 'benefits[1]', code: 'state_left_out', message: 'Refused by state_left_out.' }],
    })
    const user = await partner.create('ny', { ...inNewYork, benefits: ['art'] })
    expect(user.benefits.map(one => one.name)).toEqual(['base', 'art'])
  })
})
