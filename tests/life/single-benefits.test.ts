// @prism

import { describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner, refusal } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service, 'Europe/Madrid'))
function signed(name: string) {
  return [{ name, version: 'v1' }]
}

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
  expect(
    await service.database.query(sql`
    select version from history where partner_id = ${partner.partnerId} and lines = '[]'`),
  ).toEqual([])
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

test('a consent counts whichever benefit it is sent with', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'top' })
  await partner.events('u')
  expect(await partner.states('u')).toMatchObject({ gold: 'actionrequired' })
  await client.enrolBenefit({ userid: 'u', name: 'art', consents: signed('gold') })
  expect(await partner.get('u')).toMatchObject({ conditions: [], requiredactions: [] })
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', gold: 'enrolled' })
  expect(await partner.events('u')).toMatchObject([
    { eventname: 'benefit_enrollment_successful', name: 'art' },
    { eventname: 'benefit_enrollment_successful', name: 'gold' },
  ])
})

test('a consent that was given stays as it was when it is sent again', async () => {
  const { client } = partner
  const before = await partner.create('u', { benefits: ['eyes'], consents: signed('eyes') })
  await partner.events('u')
  await partner.to('2026-10-22T12:00')
  const again = [{ name: 'eyes', version: 'v1', locale: 'es' as const }]
  expect(await client.enrolBenefit({ userid: 'u', name: 'eyes', consents: again })).toMatchObject({
    state: 'enrolled',
  })
  expect(await partner.get('u')).toEqual(before)
  expect(await partner.names('u')).toEqual([])
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
  expect(await refusal(client.declineBenefit({ userid: 'u', name: 'extra' }))).toBe('422 ineligible')
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

test('declining what a swap was to take out ends the pair, and with the last pair the swap', async () => {
  const { client } = partner
  await partner.create('u', { benefits: ['eyes', 'art'] })
  await client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await client.declineBenefit({ userid: 'u', name: 'eyes' })
  expect(await partner.states('u')).toMatchObject({ art: 'endscheduled', care: 'scheduled' })
  await partner.create('later', { benefits: ['art', 'books'], effectivedate: '2026-10-25' })
  await client.swapBenefits({ userid: 'later', add: ['care', 'dental'], remove: ['art', 'books'] })
  await partner.events('later')
  await client.declineBenefit({ userid: 'later', name: 'art' })
  expect(await partner.names('later')).toEqual(['benefit_declined'])
  expect(await partner.states('later')).toMatchObject({ art: 'declined', dental: 'scheduled' })
  await client.declineBenefit({ userid: 'later', name: 'books' })
  expect(await partner.names('later')).toEqual(['benefit_declined', 'user_benefits_swap_cancelled'])
  expect(await partner.get('later')).toMatchObject({ conditions: [] })
  expect(await client.enrolBenefit({ userid: 'later', name: 'art' })).toMatchObject({ endsattimestamp: null })
  expect((await partner.states('later'))['care']).not.toBe('scheduled')
})

test('a free slot is free while a swap waits that fills one of the next offer, or can fill none', async () => {
  const { client } = partner
  await partner.create('u', { offername: 'low', benefits: ['art'] })
  await client.changeOffer({ userid: 'u', offername: 'top', action: 'upgrade', effective: 'nextperiod' })
  await client.swapBenefits({ userid: 'u', add: ['care'], remove: [] })
  expect(await client.enrolBenefit({ userid: 'u', name: 'books' })).toMatchObject({ state: 'enrolled' })
  await partner.to('2026-11-02T12:00')
  expect(await partner.states('u')).toMatchObject({ art: 'enrolled', books: 'enrolled', care: 'enrolled' })

  await partner.create('mover', { offername: 'low', benefits: ['art'] })
  await client.swapBenefits({ userid: 'mover', add: ['dental'], remove: [] })
  const books = { userid: 'mover', name: 'books' }
  expect(await refusal(client.enrolBenefit(books))).toBe('422 slots_exceeded')
  await client.updateUser({ userid: 'mover', state: 'NY', zipcode: '10001' })
  expect(await client.enrolBenefit(books)).toMatchObject({ state: 'enrolled' })
})

describe('what a pending offer change will bring', () => {
  async function onTheWayTo(offername: string, benefits: string[] = []) {
    await partner.create('u', { offername: 'mid', benefits })
    await partner.client.changeOffer({ userid: 'u', offername, effective: 'nextperiod' })
    await partner.events('u')
  }

  test('stays out when it is declined: the user said no before it came', async () => {
    const { client } = partner
    await onTheWayTo('top')
    expect(await client.declineBenefit({ userid: 'u', name: 'home' })).toMatchObject({ state: 'declined' })
    expect(await client.declineBenefit({ userid: 'u', name: 'gold' })).toMatchObject({ state: 'declined' })
    await client.declineBenefit({ userid: 'u', name: 'gold' })
    expect(await partner.names('u')).toEqual(['benefit_declined', 'benefit_declined'])
    const declined = { gold: 'declined', home: 'declined' }
    expect(await partner.states('u')).toMatchObject(declined)
    expect(await partner.get('u')).toMatchObject({ conditions: ['offerchangepending'], requiredactions: [] })
    await partner.to('2026-11-02T12:00')
    expect(await partner.get('u')).toMatchObject({ currentofferdetails: { offer: 'top' } })
    expect(await partner.states('u')).toMatchObject({ base: 'enrolled', extra: 'enrolled', ...declined })
    expect(await client.enrolBenefit({ userid: 'u', name: 'home' })).toMatchObject({ state: 'enrolled' })
  })

  test('stays out when the user holds it already, as a pick that has not begun, and declines that', async () => {
    const { client } = partner
    await partner.create('u', { offername: 'mid', benefits: ['home'], effectivedate: '2026-11-10' })
    await client.changeOffer({ userid: 'u', offername: 'top', effective: 'nextperiod' })
    await client.declineBenefit({ userid: 'u', name: 'home' })
    expect(await partner.states('u')).toMatchObject({ home: 'declined' })
    await partner.to('2026-12-02T12:00')
    expect(await partner.states('u')).toMatchObject({ home: 'declined', gold: 'actionrequired' })
  })

  test('comes all the same when the user declined it before the change was asked for, even if both start together', async () => {
    const { client } = partner
    await partner.create('u', { offername: 'mid', effectivedate: '2026-11-10' })
    await client.declineBenefit({ userid: 'u', name: 'base' })
    await client.changeOffer({ userid: 'u', offername: 'top', effective: 'immediate' })
    expect(await partner.states('u')).toMatchObject({ base: 'scheduled' })
    await partner.to('2026-11-11T12:00')
    expect(await partner.states('u')).toMatchObject({ base: 'enrolled' })
  })

  test('cannot be declined in the locked hours', async () => {
    await onTheWayTo('top')
    await partner.to('2026-10-31T12:00')
    expect(await refusal(partner.client.declineBenefit({ userid: 'u', name: 'home' }))).toBe(
      '422 change_locked',
    )
  })

  test('can be agreed to before it comes, though there is no room for it yet', async () => {
    const { client } = partner
    await onTheWayTo('top', ['art', 'books', 'care'])
    expect(await refusal(client.enrolBenefit({ userid: 'u', name: 'gold' }))).toBe('422 ineligible')
    const given = await client.enrolBenefit({ userid: 'u', name: 'gold', consents: signed('gold') })
    expect(given).toMatchObject({ state: 'scheduled', startsattimestamp: expect.any(String) })
    expect(await partner.get('u')).toMatchObject({ requiredactions: [], consents: [{ name: 'gold' }] })
    expect(await partner.names('u')).toEqual([])
    await partner.to('2026-11-02T12:00')
    expect(await partner.states('u')).toMatchObject({ gold: 'enrolled' })
  })
})

test('two writes on one user at once come one after the other', async () => {
  const { client } = partner
  await partner.create('u')
  const names = ['art', 'books', 'care', 'dental', 'home']
  const answers = await Promise.allSettled(names.map(name => client.enrolBenefit({ userid: 'u', name })))
  expect(answers.filter(answer => answer.status === 'fulfilled')).toHaveLength(2)
  expect(Object.values(await partner.states('u')).filter(state => state === 'enrolled')).toHaveLength(3)
})

test('what is asked for before the membership begins is scheduled, and told again when it is in force', async () => {
  const { client } = partner
  const start = '2026-11-09T23:00:00.000Z'
  await partner.create('u', { effectivedate: '2026-11-10', benefits: ['art', 'eyes'] })
  await partner.events('u')
  expect(await client.enrolBenefit({ userid: 'u', name: 'eyes', consents: signed('eyes') })).toMatchObject({
    state: 'scheduled',
    startsattimestamp: start,
  })
  expect(await partner.events('u')).toMatchObject([
    { eventname: 'benefit_enrollment_scheduled', offer: '', name: 'eyes' },
  ])
  await client.declineBenefit({ userid: 'u', name: 'art' })
  await client.enrolBenefit({ userid: 'u', name: 'books' })
  expect(await partner.names('u')).toEqual(['benefit_declined', 'benefit_enrollment_scheduled'])
  await partner.to(start)
  // base, which came with the create, is reported only by the offer's event.
  expect(await partner.events('u')).toEqual([
    { eventname: 'offer_activiation_successful', offer: 'low', updatedat: start },
    { eventname: 'benefit_enrollment_successful', offer: 'low', updatedat: start, name: 'eyes' },
    { eventname: 'benefit_enrollment_successful', offer: 'low', updatedat: start, name: 'books' },
  ])
})

test('a scheduled benefit that never comes into force is never told as if it had', async () => {
  await partner.create('u', { effectivedate: '2026-11-10' })
  await partner.client.enrolBenefit({ userid: 'u', name: 'art' })
  await partner.client.cancelUser({ userid: 'u' })
  await partner.to('2026-11-20T12:00')
  expect(await partner.names('u')).not.toContain('benefit_enrollment_successful')
})

describe('what is still missing when it is due is withdrawn', () => {
  const due = '2026-11-19T12:00:00.000Z'

  test('at that instant, with an event that says why, however late it is applied', async () => {
    await partner.create('u', { benefits: ['eyes', 'art'] })
    await partner.events('u')
    expect(await partner.get('u', 'timeline')).toMatchObject({
      requiredactions: [{ code: 'consent_required', name: 'eyes', dueattimestamp: due }],
      timeline: expect.arrayContaining([
        expect.objectContaining({
          attimestamp: due,
          from: 'actionrequired',
          to: 'withdrawn',
          why: 'expired',
        }),
      ]),
    })
    await partner.to('2026-11-19T11:59')
    expect(await partner.states('u')).toMatchObject({ eyes: 'actionrequired' })
    await partner.lateTo('2026-11-25T12:00')
    expect(await partner.get('u')).toMatchObject({ conditions: [], requiredactions: [] })
    await partner.to('2026-11-25T12:00')
    expect(await partner.states('u')).toMatchObject({ eyes: 'withdrawn', art: 'enrolled' })
    expect(await partner.events('u')).toEqual([
      {
        eventname: 'benefit_declined',
        offer: 'low',
        updatedat: '2026-10-20T12:00:00.000Z',
        name: 'eyes',
        reason: 'expired',
      },
    ])
    const { timeline = [] } = await partner.get('u', 'timeline')
    expect(timeline.at(-1)).toMatchObject({
      attimestamp: due,
      to: 'withdrawn',
      who: 'schedule',
      why: 'expired',
    })
  })

  test('the log tells the reason with the event; a decline of the user has none', async () => {
    await partner.create('u', { benefits: ['eyes'] })
    await partner.client.declineBenefit({ userid: 'u', name: 'art', reason: 'not wanted' }).catch(() => {})
    await partner.client.declineBenefit({ userid: 'u', name: 'care' })
    await partner.to(due)
    const { events } = await partner.client.listEvents({ userid: 'u', eventname: 'benefit_declined' })
    expect(events.map(({ data }) => data)).toEqual([
      { name: 'art' },
      { name: 'care' },
      { name: 'eyes', reason: 'expired' },
    ])
    const [, , lapsed] = events
    expect(await partner.client.getEvent({ eventid: lapsed?.eventid ?? '' })).toMatchObject({
      data: { name: 'eyes', reason: 'expired' },
    })
  })

  test('which frees its slot, and it can be asked for again', async () => {
    const { client } = partner
    await partner.create('u', { benefits: ['eyes', 'art'] })
    expect(await refusal(client.enrolBenefit({ userid: 'u', name: 'books' }))).toBe('422 slots_exceeded')
    await partner.to(due)
    expect(await client.enrolBenefit({ userid: 'u', name: 'eyes', consents: signed('eyes') })).toMatchObject({
      state: 'enrolled',
      startsattimestamp: due,
    })
  })

  test('also where a cancel was undone after it: what could not return is told', async () => {
    const { client } = partner
    await partner.create('u', { benefits: ['eyes'] })
    await partner.to('2026-11-18T12:00')
    await client.cancelUser({ userid: 'u' })
    await partner.to('2026-11-20T12:00')
    expect(await client.reinstateUser({ userid: 'u' })).toMatchObject({
      requiredactions: [],
      notrestored: [{ name: 'eyes', code: 'expired' }],
    })
  })

  test('of a swap it is the pair that fails, at its boundary', async () => {
    await partner.create('u', { benefits: ['art'] })
    await partner.client.swapBenefits({ userid: 'u', add: ['eyes'], remove: ['art'] })
    await partner.events('u')
    expect(await partner.get('u', 'timeline')).toMatchObject({
      timeline: expect.arrayContaining([expect.objectContaining({ to: 'rejected', why: 'expired' })]),
    })
    await partner.to('2026-11-01T12:00')
    expect(await partner.names('u')).toEqual(['user_benefits_swap_failed'])
    expect(await partner.states('u')).toMatchObject({ art: 'enrolled', eyes: 'rejected' })
  })
})

describe('a name that the catalogue does not know is refused as such, with the field', () => {
  const name = 'nothing'
  const rows: [string, string, () => Promise<unknown>][] = [
    ['create', 'benefits[1]', () => partner.create('new', { benefits: ['art', name] })],
    ['create, in a consent', 'consents[0].name', () => partner.create('new', { consents: signed(name) })],
    ['swap in', 'add[0]', () => partner.client.swapBenefits({ userid: 'u', add: [name], remove: ['art'] })],
    [
      'swap out',
      'remove[0]',
      () => partner.client.swapBenefits({ userid: 'u', add: ['books'], remove: [name] }),
    ],
    [
      'preview of a swap',
      'add[0]',
      () => partner.client.swapBenefits({ userid: 'u', add: [name], remove: [], previewonly: true }),
    ],
    ['enrol', 'name', () => partner.client.enrolBenefit({ userid: 'u', name })],
    [
      'enrol, in a consent',
      'consents[0].name',
      () => partner.client.enrolBenefit({ userid: 'u', name: 'books', consents: signed(name) }),
    ],
    ['decline', 'name', () => partner.client.declineBenefit({ userid: 'u', name })],
  ]
  test.each(rows)('%s', async (_, field, ask) => {
    await partner.create('u', { benefits: ['art'] })
    await expect(ask()).rejects.toMatchObject({ status: 400, code: 'benefit_unknown', errors: [{ field }] })
  })

  test('one that is not of the offer is 422 ineligible instead', async () => {
    const { client } = partner
    await partner.create('u', { benefits: ['art'] })
    const asked = [
      partner.create('new', { benefits: ['extra'] }),
      client.enrolBenefit({ userid: 'u', name: 'extra' }),
      client.declineBenefit({ userid: 'u', name: 'extra' }),
      client.swapBenefits({ userid: 'u', add: ['extra'], remove: ['art'] }),
    ]
    expect(await Promise.all(asked.map(refusal))).toEqual(asked.map(() => '422 ineligible'))
  })
})
