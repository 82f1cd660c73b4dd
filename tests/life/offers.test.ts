// @prism

import { describe, expect, test } from 'vitest'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, reasons, refusal } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))
const boundary = '2026-11-01T04:00:00.000Z'
const gold = [{ name: 'gold', version: 'v1' }]

test('an upgrade is now: fixed benefits join, picks stay, free slots stay free', async () => {
  await partner.create('u', { benefits: ['art', 'home'] })
  await partner.events('u')
  const change = await partner.client.changeOffer({ userid: 'u', offername: 'top' })
  expect(change).toMatchObject({
    direction: 'upgrade',
    currentofferdetails: { offer: 'top' },
    pendingoffer: null,
    gained: ['extra', 'gold'],
    lost: [],
    kept: ['base', 'art', 'home'],
  })
  expect(await partner.events('u')).toMatchObject([
    { eventname: 'offer_upgrade_successful', offer: 'top' },
    { eventname: 'offer_activiation_successful', offer: 'top' },
  ])
  expect(await partner.states('u')).toMatchObject({ gold: 'actionrequired', home: 'enrolled' })
})

test('a downgrade is at the next period: picks stay, earliest enrolled first, up to the slots', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'mid', benefits: ['eyes', 'art'] })
  await partner.to('2026-10-21T12:00')
  await client.enrolBenefit({ userid: 'u', name: 'books' })
  const change = await client.changeOffer({ userid: 'u', offername: 'low' })
  expect(change).toMatchObject({
    direction: 'downgrade',
    currentofferdetails: { offer: 'mid' },
    pendingoffer: { offer: 'low', effectiveattimestamp: boundary },
    gained: [],
    // eyes was picked first, but was never enrolled.
    lost: ['extra', 'eyes'],
    kept: ['base', 'art', 'books'],
  })
  expect(await partner.states('u')).toMatchObject({
    extra: 'endscheduled',
    art: 'enrolled',
    books: 'enrolled',
  })
  await partner.events('u')
  await partner.to('2026-11-01T04:00')
  expect(await partner.events('u')).toEqual([
    { eventname: 'offer_downgrade_successful', offer: 'low', updatedat: boundary },
    { eventname: 'offer_activiation_successful', offer: 'low', updatedat: boundary },
  ])
  expect(await partner.states('u')).toEqual({
    base: 'enrolled',
    extra: 'ended',
    eyes: 'withdrawn',
    art: 'enrolled',
    books: 'enrolled',
  })
})

test('a pick reserved for other offers does not follow', async () => {
  await partner.create('u', { offername: 'mid', benefits: ['fit', 'art'] })
  expect(await partner.client.changeOffer({ userid: 'u', offername: 'low' })).toMatchObject({
    lost: ['extra', 'fit'],
    kept: ['base', 'art'],
  })
})

test('the direction is the order of ranks, and a stated action that contradicts it is refused', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'mid' })
  const change = (offername: string, action: 'upgrade' | 'downgrade') =>
    client.changeOffer({ userid: 'u', offername, action })
  expect(await refusal(change('top', 'downgrade'))).toBe('422 direction_mismatch')
  expect(await refusal(change('low', 'upgrade'))).toBe('422 direction_mismatch')
  expect(await change('low', 'downgrade')).toMatchObject({ direction: 'downgrade' })
})

test('a newer change replaces the pending one; the same again changes nothing; the current offer undoes it', async () => {
  const { client } = partner
  const later = (offername: string) => client.changeOffer({ userid: 'u', offername, effective: 'nextperiod' })
  await partner.create('u', { offername: 'mid' })
  await later('top')
  await partner.events('u')
  await later('top')
  expect(await partner.names('u')).toEqual([])
  await later('low')
  expect(await partner.names('u')).toEqual(['offer_change_cancelled', 'offer_change_scheduled'])
  expect(await later('mid')).toMatchObject({ direction: 'none', pendingoffer: null })
  expect(await refusal(later('mid'))).toBe('422 already_on_offer')
  await later('low')
  expect(await client.undoOfferChange({ userid: 'u' })).toMatchObject({ pendingoffer: null })
  await partner.events('u')
  await client.undoOfferChange({ userid: 'u' })
  expect(await partner.names('u')).toEqual([])
})

test('in the last hours what is meant for the boundary is locked; a cancel and its undoing are not', async () => {
  const { client } = partner
  const later = (userid: string, offername: string) =>
    client.changeOffer({ userid, offername, effective: 'nextperiod' })
  await partner.create('u', { offername: 'mid' })
  await partner.create('v', { offername: 'mid' })
  await partner.to('2026-10-31T03:59')
  await later('u', 'low')
  await partner.to('2026-10-31T04:00')
  const locked = [
    later('u', 'top'),
    later('u', 'mid'),
    later('v', 'low'),
    client.undoOfferChange({ userid: 'u' }),
  ]
  expect(await Promise.all(locked.map(refusal))).toEqual(locked.map(() => '422 change_locked'))
  expect(await reasonsOf('v')).toMatchObject({ low: ['change_locked'], top: [] })
  await client.cancelUser({ userid: 'v' })
  await client.reinstateUser({ userid: 'v' })
})

async function reasonsOf(userid: string) {
  return Object.fromEntries(
    (await partner.client.listAvailableOffers({ userid })).map(one => [
      one.offer,
      one.reasons.map(({ code }) => code),
    ]),
  )
}

test('available offers tell direction, date and the reasons against', async () => {
  await partner.create('u', { offername: 'mid', state: 'NY' })
  expect(await partner.client.listAvailableOffers({ userid: 'u' })).toMatchObject([
    { offer: 'low', direction: 'downgrade', effectiveattimestamp: boundary, reasons: [] },
    {
      offer: 'top',
      direction: 'upgrade',
      effectiveattimestamp: '2026-10-20T12:00:00.000Z',
      reasons: [{ field: 'offername', code: 'offer_state', message: 'Refused by offer_state.' }],
    },
  ])
  expect(await reasons(partner.client.changeOffer({ userid: 'u', offername: 'top' }))).toEqual([
    'offer_state',
  ])
  expect(await refusal(partner.client.changeOffer({ userid: 'u', offername: 'none' }))).toBe(
    '400 offername_unknown',
  )
})

describe('an immediate downgrade', () => {
  test('needs a preview, which shows what then happens', async () => {
    const { client } = partner
    await partner.create('u', { offername: 'top', benefits: ['art', 'fit'], consents: gold })
    const wish = { userid: 'u', offername: 'low', effective: 'immediate' } as const
    await expect(client.changeOffer(wish)).rejects.toMatchObject({
      code: 'bad_request',
      errors: [{ field: 'previewid', code: 'required' }],
    })
    const { previewid, expiresat, ...promised } = await client.previewOfferChange(wish)
    expect(expiresat).toBe(new Date(service.now() + 15 * 60_000).toISOString())
    expect(await partner.get('u')).toMatchObject({ currentofferdetails: { offer: 'top' } })
    expect(await client.changeOffer({ ...wish, previewid })).toEqual(promised)
    expect(promised).toMatchObject({
      gained: [],
      lost: ['extra', 'gold', 'home', 'fit'],
      kept: ['base', 'art'],
    })
    expect(await partner.states('u')).toMatchObject({ gold: 'ended', fit: 'ended', art: 'enrolled' })
  })

  test('is refused when the preview is older than 15 minutes or would do something else now', async () => {
    const { client } = partner
    const wish = { userid: 'u', offername: 'low', effective: 'immediate' } as const
    await partner.create('u', { offername: 'mid', benefits: ['art'] })
    const first = await client.previewOfferChange(wish)
    await client.enrolBenefit({ userid: 'u', name: 'books' })
    const stale = (previewid: string) => refusal(client.changeOffer({ ...wish, previewid }))
    expect(await stale(first.previewid)).toBe('422 preview_stale')
    expect(await stale('made-up')).toBe('422 preview_stale')
    const second = await client.previewOfferChange(wish)
    service.advance(15 * 60_000)
    expect(await stale(second.previewid)).toBe('422 preview_stale')
    const other = await partner.client.previewOfferChange({ ...wish, effective: 'nextperiod' })
    expect(await stale(other.previewid)).toBe('422 preview_stale')
  })

  test("is open for 15 minutes of real time, however far a sandbox's clock is moved", async () => {
    const { client } = partner
    const wish = { userid: 'u', offername: 'low', effective: 'immediate' } as const
    await partner.create('u', { offername: 'mid', benefits: ['art'] })
    await partner.to('2026-12-24T12:00')
    const { previewid, expiresat } = await client.previewOfferChange(wish)
    expect(expiresat).toBe(new Date(service.now() + 15 * 60_000).toISOString())
    await partner.to('2026-12-25T12:00')
    expect(await client.changeOffer({ ...wish, previewid })).toMatchObject({ pendingoffer: null })
  })

  test('of another partner or user holds for nobody else', async () => {
    const other = await newStagePartner(service)
    const wish = { userid: 'u', offername: 'low', effective: 'immediate' } as const
    await partner.create('u', { offername: 'mid' })
    await other.create('u', { offername: 'mid' })
    const { previewid } = await other.client.previewOfferChange(wish)
    expect(await refusal(partner.client.changeOffer({ ...wish, previewid }))).toBe('422 preview_stale')
  })
})

test('an immediate change is never locked: in the locked hours an upgrade takes the place of a pending downgrade', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'mid' })
  await client.changeOffer({ userid: 'u', offername: 'low' })
  await partner.to('2026-10-31T20:00')
  expect(await refusal(client.undoOfferChange({ userid: 'u' }))).toBe('422 change_locked')
  await partner.events('u')
  expect(await client.changeOffer({ userid: 'u', offername: 'top' })).toMatchObject({ pendingoffer: null })
  expect(await partner.names('u')).toEqual([
    'offer_change_cancelled',
    'offer_upgrade_successful',
    'offer_activiation_successful',
  ])
  await partner.to('2026-11-02T12:00')
  expect((await partner.get('u')).currentofferdetails.offer).toBe('top')
})
