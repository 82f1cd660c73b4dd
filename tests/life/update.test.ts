import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, type Stage, type StagePartner, startStage } from './stage.ts'

let stage: Stage
let partner: StagePartner
beforeAll(async () => {
  stage = await startStage('2026-10-20T12:00')
  partner = await stage.newPartner('America/New_York')
})
afterAll(() => stage[Symbol.asyncDispose]())

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

test('an offer that no longer admits the user takes all its cover, and gives no new picks', async () => {
  await partner.create('top', {
    offername: 'top',
    benefits: ['art'],
    consents: [{ name: 'gold', version: 'v1' }],
  })
  const moved = await partner.client.updateUser({ userid: 'top', state: 'NY' })
  expect(new Set(moved.benefits.map(one => one.state))).toEqual(new Set(['endscheduled']))
  expect(await refusal(partner.client.enrolBenefit({ userid: 'top', name: 'books' }))).toBe('422 ineligible')
  const swap = partner.client.swapBenefits({ userid: 'top', add: ['books'], remove: [] })
  expect(await refusal(swap)).toBe('422 ineligible')
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
