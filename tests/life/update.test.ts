// @prism

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, refusal } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forAllTests(() => newStagePartner(service))

const boundary = '2026-11-01T04:00:00.000Z'

test('cover that the new data no longer admits ends at the period end, and the answer says so', async () => {
  await partner.create('moves', { offername: 'mid', benefits: ['art', 'dental'] })
  await partner.events('moves')
  const user = await partner.client.updateUser({ userid: 'moves', state: 'NY' })
  const ends = Object.fromEntries(user.benefits.map(one => [one.name, [one.state, one.endsattimestamp]]))
  expect(ends).toEqual({
    base: ['enrolled', null],
    extra: ['endscheduled', boundary],
    art: ['enrolled', null],
    dental: ['endscheduled', boundary],
  })
  expect(await partner.names('moves')).toEqual(['user_update_successful'])
  await partner.to('2026-11-01T04:00')
  expect(await partner.events('moves')).toEqual([
    { eventname: 'benefit_enrollment_ended', offer: 'mid', updatedat: expect.any(String), name: 'extra' },
    { eventname: 'benefit_enrollment_ended', offer: 'mid', updatedat: expect.any(String), name: 'dental' },
  ])
})

test('what is admitted again in time loses its end; what has not begun is withdrawn for good', async () => {
  await partner.create('back', { offername: 'mid', effectivedate: '2026-11-20', benefits: ['dental'] })
  const away = await partner.client.updateUser({ userid: 'back', state: 'NY' })
  expect(away.benefits.find(one => one.name === 'dental')).toMatchObject({ state: 'withdrawn' })
  await partner.create('stays', { offername: 'mid', benefits: ['dental'] })
  await partner.client.updateUser({ userid: 'stays', state: 'NY' })
  const home = await partner.client.updateUser({ userid: 'stays', state: 'FL' })
  expect(home.benefits.every(one => one.state === 'enrolled')).toBe(true)
})

test('an offer that no longer admits the user stays, with each benefit that does; the partner is told once', async () => {
  const { client } = partner
  await partner.create('top', {
    offername: 'top',
    benefits: ['art', 'dental'],
    consents: [{ name: 'gold', version: 'v1' }],
  })
  await partner.events('top')
  const moved = await client.updateUser({ userid: 'top', state: 'NY' })
  expect(moved).toMatchObject({ conditions: ['offerineligible'], currentofferdetails: { offer: 'top' } })
  expect(Object.fromEntries(moved.benefits.map(one => [one.name, one.state]))).toEqual({
    base: 'enrolled',
    // New York is excluded by the own rules of these two.
    extra: 'endscheduled',
    dental: 'endscheduled',
    gold: 'enrolled',
    art: 'enrolled',
    home: 'enrolled',
  })
  expect(await partner.events('top')).toMatchObject([
    { eventname: 'user_update_successful', offer: 'top' },
    { eventname: 'offer_action_required', offer: 'top' },
  ])
  await client.updateUser({ userid: 'top', zipcode: '10001' })
  expect(await partner.names('top')).toEqual(['user_update_successful'])
  expect(await partner.get('top')).toEqual({
    ...(await client.getUser({ userid: 'top' })),
    conditions: ['offerineligible'],
  })
})

test("new picks follow the benefits' own rules, whatever the offer's say by now", async () => {
  const { client } = partner
  await partner.create('picks', { offername: 'top', benefits: ['art'] })
  await client.updateUser({ userid: 'picks', state: 'NY' })
  expect(await client.enrolBenefit({ userid: 'picks', name: 'books' })).toMatchObject({ state: 'enrolled' })
  expect(await client.swapBenefits({ userid: 'picks', add: ['care'], remove: ['art'] })).toMatchObject({
    add: ['care'],
  })
  expect(await refusal(client.enrolBenefit({ userid: 'picks', name: 'dental' }))).toBe('422 ineligible')
  const tiles = await client.getBenefits({ userid: 'picks', age: 36, state: 'NY', zipcode: '10001' })
  expect(tiles.map(({ name }) => name)).not.toContain('dental')
  expect(tiles.find(({ name }) => name === 'care')).toMatchObject({ isselectedforswap: true })
})

test('an offer that admits the user again, and one that the user moves to, are fit', async () => {
  const { client } = partner
  const unfit = async (userid: string) => {
    await partner.create(userid, { offername: 'top' })
    await client.updateUser({ userid, state: 'NY' })
    await partner.events(userid)
  }
  await unfit('home')
  expect(await client.updateUser({ userid: 'home', state: 'FL' })).toMatchObject({
    conditions: ['actionrequired'],
  })
  expect(await partner.names('home')).toEqual(['user_update_successful'])
  await unfit('mover')
  const wish = { userid: 'mover', offername: 'mid', effective: 'immediate' } as const
  const { previewid } = await client.previewOfferChange(wish)
  await client.changeOffer({ ...wish, previewid })
  expect(await partner.get('mover')).toMatchObject({ conditions: [], currentofferdetails: { offer: 'mid' } })
  // Joining the offer again requires that its rules admit the user.
  expect(await refusal(client.changeOffer({ userid: 'mover', offername: 'top' }))).toBe('422 ineligible')
  await unfit('leaver')
  await client.cancelUser({ userid: 'leaver' })
  expect(await client.reinstateUser({ userid: 'leaver' })).toMatchObject({
    conditions: expect.arrayContaining(['offerineligible']),
    currentofferdetails: { offer: 'top' },
  })
  await client.cancelUser({ userid: 'leaver', effective: 'immediate' })
  expect(await partner.get('leaver')).toMatchObject({ conditions: [] })
  expect(await refusal(client.reinstateUser({ userid: 'leaver' }))).toBe('422 ineligible')
})

test('a planned end that moves is a line of the timeline', async () => {
  const userid = 'moving'
  await partner.create(userid, { benefits: ['grow'], dob: '1990-06-30' })
  await partner.client.updateUser({ userid, dob: '1989-06-30' })
  const { timeline = [] } = await partner.get(userid, 'timeline')
  const line = {
    attimestamp: expect.any(String),
    what: 'planned end of grow',
    who: 'partner',
    why: 'endsatage',
  }
  expect(timeline).toContainEqual({
    ...line,
    from: '2030-07-01T04:00:00.000Z',
    to: '2029-07-01T04:00:00.000Z',
  })
  expect(timeline.at(-1)).toMatchObject({
    attimestamp: '2029-07-01T04:00:00.000Z',
    what: 'benefit grow',
    from: 'endscheduled',
    to: 'ended',
    why: 'endsatage',
  })
})

test('other data changes nothing but the data', async () => {
  await partner.create('phone', { benefits: ['art'] })
  await partner.events('phone')
  const before = await partner.get('phone')
  const after = await partner.client.updateUser({
    userid: 'phone',
    phone: '3055550199',
    email: 'new@example.com',
  })
  expect({ ...after, updatedat: '' }).toEqual({ ...before, updatedat: '' })
  expect(await partner.names('phone')).toEqual(['user_update_successful'])
})

test('absent and empty mean unchanged, null clears, and what an account must have cannot be cleared', async () => {
  await partner.create('clear')
  await partner.client.updateUser({ userid: 'clear', phone: null, firstname: '' })
  await expect(partner.client.updateUser({ userid: 'clear', firstname: null })).rejects.toMatchObject({
    code: 'bad_request',
    errors: [{ field: 'firstname', code: 'required' }],
  })
})

test('a birth date by which the age was reached in an earlier period ends cover with this period, not in the past', async () => {
  const own = await newStagePartner(service)
  await own.create('u', { benefits: ['grow'], dob: '1990-06-30' })
  await own.to('2026-12-20T12:00')
  await own.events('u')
  const grow = { name: 'grow', state: 'endscheduled', endsattimestamp: '2027-01-01T05:00:00.000Z' }
  // The person was 39 when the cover began in October, and turned 40 in November.
  const answer = await own.client.updateUser({ userid: 'u', dob: '1986-11-05' })
  expect(answer.benefits).toContainEqual(expect.objectContaining(grow))
  const { benefits, updatedat } = await own.get('u')
  expect(benefits).toContainEqual(expect.objectContaining(grow))
  expect(updatedat).toBe(answer.updatedat)
  await own.client.updateUser({ userid: 'u', zipcode: '33102' })
  expect(await own.names('u')).toEqual(['user_update_successful', 'user_update_successful'])
  await own.to('2027-01-01T05:00')
  expect(await own.names('u')).toEqual(['benefit_enrollment_ended'])
})

test('time alone ends nothing unless a rule says endsatage: then the end of that period', async () => {
  const user = await partner.create('older', { benefits: ['grow'], dob: '1986-12-15' })
  expect(user.benefits.find(one => one.name === 'grow')).toMatchObject({
    state: 'endscheduled',
    endsattimestamp: '2027-01-01T05:00:00.000Z',
  })
  const younger = await partner.client.updateUser({ userid: 'older', dob: '1990-06-30' })
  expect(younger.benefits.find(one => one.name === 'grow')).toMatchObject({
    endsattimestamp: '2030-07-01T04:00:00.000Z',
  })
  await partner.client.updateUser({ userid: 'older', dob: '1986-12-15' })
  await partner.events('older')
  await partner.to('2027-01-01T05:00')
  expect(await partner.events('older')).toMatchObject([
    { eventname: 'benefit_enrollment_ended', name: 'grow' },
  ])
})

test('a pending change that the new data no longer admits is called off at its boundary', async () => {
  await partner.create('called', { offername: 'mid' })
  await partner.client.changeOffer({ userid: 'called', offername: 'top', effective: 'nextperiod' })
  await partner.client.updateUser({ userid: 'called', state: 'NY' })
  await partner.events('called')
  await partner.to('2027-02-01T05:00')
  expect(await partner.names('called')).toEqual(['offer_change_cancelled', 'benefit_enrollment_ended'])
  expect(await partner.get('called')).toMatchObject({
    pendingoffer: null,
    currentofferdetails: { offer: 'mid' },
  })
})
