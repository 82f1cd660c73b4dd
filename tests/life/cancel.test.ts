// @prism

import { expect, test } from 'vitest'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, refusal } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))

test('by default it takes effect at the end of the period, and a repeat gives the same answer', async () => {
  await partner.create('calm', { benefits: ['art'] })
  await partner.events('calm')
  const first = await partner.client.cancelUser({ userid: 'calm' })
  const boundary = '2026-11-01T04:00:00.000Z'
  expect(first).toEqual({
    userid: 'calm',
    serviceid: expect.any(String),
    status: 'active',
    effectiveattimestamp: boundary,
    benefits: [
      { name: 'base', endsattimestamp: boundary },
      { name: 'art', endsattimestamp: boundary },
    ],
    reinstatableuntil: '2026-12-01T05:00:00.000Z',
  })
  expect(await partner.client.cancelUser({ userid: 'calm', reason: 'mistake' })).toEqual(first)
  expect(await partner.names('calm')).toEqual(['offer_cancel_scheduled'])
  expect(await partner.get('calm')).toMatchObject({ status: 'active', conditions: ['cancelpending'] })
  await partner.to('2026-11-01T04:00')
  expect(await partner.client.cancelUser({ userid: 'calm' })).toEqual({ ...first, status: 'cancelled' })
  expect(await partner.events('calm')).toEqual([
    { eventname: 'offer_cancel_successful', offer: '', updatedat: boundary },
  ])
  expect(await partner.states('calm')).toEqual({ base: 'ended', art: 'ended' })
})

test('immediate brings a pending end forward', async () => {
  await partner.create('hasty', { benefits: ['art'] })
  await partner.client.cancelUser({ userid: 'hasty' })
  await partner.events('hasty')
  const now = await partner.client.cancelUser({ userid: 'hasty', effective: 'immediate', reason: 'deceased' })
  expect(now).toMatchObject({ status: 'cancelled', effectiveattimestamp: '2026-10-20T12:00:00.000Z' })
  expect(await partner.names('hasty')).toEqual(['offer_cancel_successful'])
})

test('the reason is one of six, voluntary unless another is given', async () => {
  const reasons = ['voluntary', 'employmentended', 'nonpayment', 'deceased', 'duplicate', 'mistake'] as const
  const reasonOf = async (reason?: (typeof reasons)[number]) => {
    const userid = `because-${reason}`
    await partner.create(userid)
    await partner.client.cancelUser({ userid, effective: 'immediate', ...(reason ? { reason } : {}) })
    const { timeline = [] } = await partner.get(userid, 'timeline')
    return timeline.find(({ what, to }) => what === 'user' && to === 'cancelled')?.why
  }
  expect(await reasonOf()).toBe('cancel: voluntary')
  for (const reason of reasons) expect(await reasonOf(reason)).toBe(`cancel: ${reason}`)
  await partner.create('unheard')
  for (const reason of ['moved', 'Voluntary', 'other'])
    await expect(
      partner.client.cancelUser({ userid: 'unheard', reason: reason as 'mistake' }),
    ).rejects.toMatchObject({ status: 400, code: 'bad_request', errors: [{ field: 'reason' }] })
  expect(await partner.get('unheard')).toMatchObject({ status: 'active', conditions: [] })
})

test('what has not begun is withdrawn at once; pending changes are dropped, each with its event', async () => {
  await partner.create('busy', { offername: 'mid', benefits: ['art', 'eyes'] })
  await partner.client.changeOffer({ userid: 'busy', offername: 'low' })
  await partner.client.swapBenefits({ userid: 'busy', add: ['care'], remove: ['art'] })
  await partner.events('busy')
  await partner.client.cancelUser({ userid: 'busy' })
  expect(await partner.names('busy')).toEqual([
    'offer_change_cancelled',
    'user_benefits_swap_cancelled',
    'offer_cancel_scheduled',
  ])
  expect(await partner.states('busy')).toMatchObject({
    eyes: 'withdrawn',
    care: 'withdrawn',
    art: 'endscheduled',
  })
  expect(await partner.get('busy')).toMatchObject({ conditions: ['cancelpending'], pendingoffer: null })
})

test('a pending cancel counts as active, but nothing can be planned for its boundary', async () => {
  const { client } = partner
  await partner.create('leaving', { benefits: ['art'] })
  await client.cancelUser({ userid: 'leaving' })
  expect(await client.enrolBenefit({ userid: 'leaving', name: 'books' })).toMatchObject({
    state: 'endscheduled',
    endsattimestamp: '2026-11-01T04:00:00.000Z',
  })
  const swap = { userid: 'leaving', add: ['care'], remove: ['art'] }
  const later = { userid: 'leaving', offername: 'mid', effective: 'nextperiod' } as const
  const refused = [
    client.swapBenefits(swap),
    client.swapBenefits({ ...swap, previewonly: true }),
    client.changeOffer(later),
    client.previewOfferChange(later),
  ]
  expect(await Promise.all(refused.map(refusal))).toEqual(refused.map(() => '409 cancel_pending'))
  const offers = await client.listAvailableOffers({ userid: 'leaving' })
  // An upgrade, which takes effect now, is open to somebody who is leaving.
  expect(offers.map(({ offer, reasons }) => [offer, reasons.map(({ code }) => code)])).toEqual([
    ['mid', []],
    ['top', []],
  ])
  // There is nothing to undo, which is no error.
  await client.undoSwap({ userid: 'leaving' })
  await client.undoOfferChange({ userid: 'leaving' })
  expect(await client.changeOffer({ userid: 'leaving', offername: 'mid' })).toMatchObject({
    gained: ['extra'],
  })
  expect(await partner.states('leaving')).toMatchObject({ extra: 'endscheduled', art: 'endscheduled' })
})

test.each([undefined, 'immediate'] as const)(
  'a preview with effective %s tells what then happens, and does nothing',
  async effective => {
    const userid = `seen-${effective}`
    const wish = { userid, ...(effective ? { effective } : {}) }
    await partner.create(userid, { offername: 'mid', benefits: ['art', 'eyes'] })
    await partner.client.changeOffer({ userid, offername: 'low' })
    await partner.client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
    const before = await partner.get(userid, 'timeline')
    await partner.events(userid)
    const preview = await partner.client.cancelUser({ ...wish, previewonly: 'true' })
    expect(await partner.get(userid, 'timeline')).toEqual(before)
    expect(await partner.names(userid)).toEqual([])
    const done = await partner.client.cancelUser(wish)
    expect(preview).toEqual(done)
    // A repeat gives the same answer, and so does its preview.
    expect(await partner.client.cancelUser({ ...wish, previewonly: 'true' })).toEqual(done)
    const { benefits } = await partner.get(userid)
    const ends = benefits.filter(({ state }) => ['endscheduled', 'ended'].includes(state))
    expect(ends.map(({ name, endsattimestamp }) => ({ name, endsattimestamp }))).toEqual(preview.benefits)
  },
)

test('a preview of a cancel is refused as the cancel is', async () => {
  const preview = (userid: string) => partner.client.cancelUser({ userid, previewonly: 'true' })
  expect(await refusal(preview('nobody'))).toBe('404 user_not_found')
  await partner.client.prefillUser({ userid: 'early', firstname: 'Ada' })
  expect(await refusal(preview('early'))).toBe('404 user_not_found')
})
