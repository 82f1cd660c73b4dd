import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { refusal, type Stage, type StagePartner, startStage } from './stage.ts'

let stage: Stage
let partner: StagePartner
beforeAll(async () => {
  stage = await startStage('2026-10-20T12:00')
})
afterAll(() => stage[Symbol.asyncDispose]())
beforeEach(async () => {
  partner = await stage.newPartner('Europe/Madrid')
})
const signed = (name: string) => [{ name, version: 'v1' }]

test('enrols now in a free slot; already held changes nothing; a full offer is refused', async () => {
  const { client } = partner
  await partner.create('u', { benefits: ['art'] })
  await partner.events('u')
  expect(await client.enrolBenefit({ userid: 'u', name: 'books' })).toMatchObject({
    name: 'books',
    state: 'enrolled',
    startsattimestamp: '2026-10-20T12:00:00.000Z',
  })
  expect(await partner.events('u')).toMatchObject([
    { eventname: 'benefit_enrollment_successful', name: 'books' },
  ])
  await client.enrolBenefit({ userid: 'u', name: 'books' })
  expect(await partner.names('u')).toEqual([])
  expect(await refusal(client.enrolBenefit({ userid: 'u', name: 'care' }))).toBe('422 slots_exceeded')
  expect(await refusal(client.enrolBenefit({ userid: 'u', name: 'extra' }))).toBe('422 ineligible')
})

test('waits for a consent and begins when it is given', async () => {
  const { client } = partner
  await partner.create('u')
  await partner.events('u')
  expect(await client.enrolBenefit({ userid: 'u', name: 'eyes' })).toMatchObject({
    state: 'actionrequired',
    startsattimestamp: null,
  })
  await partner.to('2026-10-22T12:00')
  expect(await client.enrolBenefit({ userid: 'u', name: 'eyes', consents: signed('eyes') })).toMatchObject({
    state: 'enrolled',
    startsattimestamp: '2026-10-22T12:00:00.000Z',
  })
  expect(await partner.names('u')).toEqual(['benefit_action_required', 'benefit_enrollment_successful'])
})

test('a consent to another version, or of a benefit that asks for none, is named', async () => {
  await partner.create('u')
  const wrong = (consents: { name: string; version: string }[]) =>
    partner.client.enrolBenefit({ userid: 'u', name: 'eyes', consents })
  await expect(wrong([{ name: 'eyes', version: 'v0' }])).rejects.toMatchObject({
    errors: [{ field: 'consents[0].version' }],
  })
  await expect(wrong(signed('art'))).rejects.toMatchObject({ errors: [{ field: 'consents[0].name' }] })
})

test('declines what is not in force, once; what is in force cannot be declined', async () => {
  const { client } = partner
  await partner.create('u', { benefits: ['art', 'eyes'] })
  await partner.events('u')
  expect(await refusal(client.declineBenefit({ userid: 'u', name: 'art' }))).toBe('422 benefit_in_force')
  expect(await client.declineBenefit({ userid: 'u', name: 'eyes' })).toMatchObject({ state: 'declined' })
  expect(await client.declineBenefit({ userid: 'u', name: 'eyes' })).toMatchObject({ state: 'declined' })
  expect(await client.declineBenefit({ userid: 'u', name: 'care', reason: 'has one' })).toMatchObject({
    name: 'care',
    state: 'declined',
  })
  expect(await partner.names('u')).toEqual(['benefit_declined', 'benefit_declined'])
  expect(await refusal(client.declineBenefit({ userid: 'u', name: 'extra' }))).toBe('400 bad_request')
  expect(await client.enrolBenefit({ userid: 'u', name: 'care' })).toMatchObject({ state: 'enrolled' })
})

test('a declined benefit does not come in by a swap, and what would have gone out for it stays', async () => {
  const { client } = partner
  await partner.create('u', { benefits: ['art', 'books'] })
  await client.swapBenefits({ userid: 'u', add: ['care', 'dental'], remove: ['art', 'books'] })
  await partner.events('u')
  expect(await client.declineBenefit({ userid: 'u', name: 'care' })).toMatchObject({ state: 'declined' })
  expect(await partner.names('u')).toEqual(['benefit_declined'])
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', care: 'declined', dental: 'scheduled' })
  await client.declineBenefit({ userid: 'u', name: 'dental' })
  expect(await partner.names('u')).toEqual(['benefit_declined', 'user_benefits_swap_cancelled'])
  expect(await partner.get('u')).toMatchObject({ conditions: [] })
})

test('two writes on one user at once come one after the other', async () => {
  const { client } = partner
  await partner.create('u')
  const names = ['art', 'books', 'care', 'dental', 'home']
  const answers = await Promise.allSettled(names.map(name => client.enrolBenefit({ userid: 'u', name })))
  expect(answers.filter(answer => answer.status === 'fulfilled')).toHaveLength(2)
  expect(Object.values(await partner.states('u')).filter(state => state === 'enrolled')).toHaveLength(3)
})

test('nothing of it works for a user without an account', async () => {
  await partner.client.prefillUser({ userid: 'sent', firstname: 'Ada' })
  for (const userid of ['sent', 'nobody']) {
    expect(await refusal(partner.client.enrolBenefit({ userid, name: 'art' }))).toBe('404 user_not_found')
    expect(await refusal(partner.client.declineBenefit({ userid, name: 'art' }))).toBe('404 user_not_found')
    expect(await refusal(partner.client.swapBenefits({ userid, add: [], remove: [] }))).toBe(
      '404 user_not_found',
    )
  }
})
