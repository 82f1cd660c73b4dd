// @databases citus stock

import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { refusalOf } from '../api/refusal.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { fileOf, type TestBenefit, type TestCatalogue } from './catalogue.ts'
import { openCorrections } from './corrections.ts'
import { familyCatalogue, familyTiers } from './family-catalogue.ts'
import { lives, newStagePartner, type StagePartner } from './stage.ts'

const service = forAllTests(() => startTestService({ ...lives, catalogue: fileOf(familyCatalogue) }))
const partner = forEachTest(() => newStagePartner(service))

const userid = 'u'
type Named = NonNullable<Parameters<Client['createUser']>[0]['dependants']>[number]
const grace: Named = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' }
const ada: Named = {
  relationship: 'child',
  firstname: 'Ada',
  lastname: 'King',
  dob: '2019-05-04',
  gender: 'F',
}
/** Reaches 26 on December 15, 2026. */
const bob: Named = { relationship: 'child', firstname: 'Bob', lastname: 'King', dob: '2000-12-15' }
const ofDental = (one: Named): Named => ({ ...one, benefits: [{ name: 'dental' }] })

/** Creates the user with these dependants, and returns their ids. */
async function createWith(dependants: Named[], more: Record<string, unknown> = {}): Promise<string[]> {
  await partner.create(userid, { offername: 'low', dependants, ...more })
  return (await list()).map(({ dependantid }) => dependantid)
}
const list = async () => (await partner.client.getDependants({ userid })).dependants
const benefit = async (name: string) => (await partner.get(userid)).benefits.find(one => one.name === name)
const cover = (name: string, dependants: string[], previewonly = false) =>
  partner.client.changeCover({ userid, name, dependants, previewonly })
const november = '2026-11-01T04:00:00.000Z'
const december = '2026-12-01T05:00:00.000Z'
const january = '2027-01-01T05:00:00.000Z'

describe('create', () => {
  test('covers in each benefit those who are named for it, at the tier of these', async () => {
    const [first, second, third] = await createWith(
      [
        { ...grace, benefits: [{ name: 'dental' }, { name: 'hospital' }] },
        { ...ada, benefits: [{ name: 'hospital' }] },
        bob,
      ],
      { benefits: ['hospital', 'solo'] },
    )
    const { benefits } = await partner.get(userid)
    expect(benefits).toMatchObject([
      { name: 'dental', state: 'enrolled', tier: 'mespouse', dependants: [first] },
      { name: 'hospital', state: 'enrolled', tier: 'family', dependants: [first, second] },
      { name: 'solo', state: 'enrolled' },
    ])
    expect(Object.keys(benefits[2] ?? {})).not.toContain('tier')
    expect((await partner.client.listUsers({})).users[0]?.benefits).toEqual(benefits)
    expect((await list()).map(one => one.benefits.map(({ name, state }) => `${name} ${state}`))).toEqual([
      ['dental covered', 'hospital covered'],
      ['hospital endscheduled'],
      [],
    ])
    expect(third).toBeDefined()
    expect(await partner.names(userid)).not.toContain('benefit_cover_changed')
  })

  test.each([
    ['a child who is too old', [ofDental({ ...ada, dob: '2000-10-20' })], 'too_old'],
    ['two spouses', [ofDental(grace), ofDental({ ...grace, relationship: 'domesticpartner' })], 'one_spouse'],
    ['a third child', [ada, ada, ada].map(ofDental), 'too_many_children'],
    [
      'a spouse where children are covered',
      [{ ...grace, benefits: [{ name: 'gym' }] }],
      'relationship_not_covered',
    ],
    ['anybody where nobody is covered', [{ ...grace, benefits: [{ name: 'solo' }] }], 'no_family_cover'],
  ])('refuses %s, and enrolls nobody', async (_, dependants, code) => {
    const create = createWith(dependants, { benefits: ['gym', 'solo'] })
    expect(await refusalOf(create)).toMatchObject({ code: 'dependant_not_eligible', errors: [{ code }] })
    expect(await refusalOf(partner.get(userid))).toMatchObject({ code: 'user_not_found' })
  })

  test('refuses a dependant of a benefit that does not come', async () => {
    const [refused, unknown] = [[{ name: 'hospital' }], [{ name: 'nothing' }]]
    expect(await refusalOf(createWith([{ ...ada, benefits: refused }]))).toMatchObject({
      code: 'ineligible',
      errors: [{ field: 'dependants[0].benefits[0].name', code: 'not_selectable' }],
    })
    expect(await refusalOf(createWith([{ ...ada, benefits: unknown }]))).toMatchObject({
      code: 'benefit_unknown',
    })
  })

  test('replaces the list of a former member, whose people are covered no more', async () => {
    await createWith([ofDental(grace)])
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    await partner.create(userid, { offername: 'low' })
    expect(await partner.client.getDependants({ userid })).toMatchObject({ version: 2, dependants: [] })
    expect(await benefit('dental')).toMatchObject({ tier: 'me', dependants: [] })
  })
})

describe('a change of who is covered', () => {
  test('is previewed, planned, and takes effect at the boundary with one event and its price', async () => {
    const [first = '', second = ''] = await createWith([ofDental(grace), ada])
    const preview = await cover('dental', [first, second], true)
    expect(preview).toMatchObject({
      name: 'dental',
      before: { tier: 'mespouse', dependants: [first], cost: { cents: 1900, per: 'month' } },
      after: { tier: 'family', dependants: [first, second], cost: { cents: 3000, per: 'month' } },
      effectiveattimestamp: november,
      lockedattimestamp: '2026-10-31T04:00:00.000Z',
    })
    expect(Object.keys(preview.after)).toEqual(['tier', 'dependants', 'cost'])
    expect(await benefit('dental')).not.toHaveProperty('pendingcover')
    expect(await cover('dental', [first, second])).toEqual(preview)
    const pendingcover = { tier: 'family', dependants: [first, second], effectiveattimestamp: november }
    expect(await benefit('dental')).toMatchObject({ tier: 'mespouse', dependants: [first], pendingcover })
    expect((await list())[1]?.benefits).toMatchObject([
      { name: 'dental', state: 'scheduled', startsattimestamp: november },
    ])
    await partner.events(userid)
    await partner.to('2026-11-01T05:00')
    const after = await benefit('dental')
    expect(after).toMatchObject({ tier: 'family', dependants: [first, second] })
    expect(after).not.toHaveProperty('pendingcover')
    expect(await partner.events(userid)).toMatchObject([
      { eventname: 'benefit_cover_changed', name: 'dental' },
    ])
    const { timeline = [] } = await partner.get(userid, 'timeline')
    expect(
      timeline
        .filter(({ what }) => /dependant|cover/.test(what))
        .filter(({ why }) => why !== 'endsatage')
        .map(one => [one.what, one.from, one.to]),
    ).toEqual([
      ['dependants', '', '1'],
      [`dependant dental ${first}`, '', 'covered'],
      ['pending cover of dental', '', `member ${first} ${second}`],
      [`dependant dental ${second}`, '', 'covered'],
      ['pending cover of dental', `member ${first} ${second}`, ''],
    ])
  })

  test('takes somebody out of one benefit, who stays in another', async () => {
    const both = { ...grace, benefits: [{ name: 'dental' }, { name: 'hospital' }] }
    const [first] = await createWith([both], { benefits: ['hospital'] })
    await cover('dental', [])
    await partner.to('2026-11-02T05:00')
    expect(await benefit('dental')).toMatchObject({ tier: 'me', dependants: [] })
    expect(await benefit('hospital')).toMatchObject({ tier: 'mespouse', dependants: [first] })
    expect((await list())[0]?.benefits.map(({ name }) => name)).toEqual(['hospital'])
  })

  test('is replaced by the next, undone by the people of today, and called off', async () => {
    const [first = '', second = ''] = await createWith([ofDental(grace), ada])
    await cover('dental', [])
    await cover('dental', [second])
    expect((await benefit('dental'))?.pendingcover).toMatchObject({
      tier: 'mechildren',
      dependants: [second],
    })
    await cover('dental', [first])
    expect(await benefit('dental')).not.toHaveProperty('pendingcover')
    await cover('dental', [])
    const { after } = await partner.client.undoCover({ userid, name: 'dental' })
    expect(after).toMatchObject({ tier: 'mespouse', dependants: [first] })
    expect(await partner.client.undoCover({ userid, name: 'dental' })).toMatchObject({ after })
    await partner.to('2026-11-02T05:00')
    expect(await benefit('dental')).toMatchObject({ tier: 'mespouse', dependants: [first] })
  })

  test('is refused where it cannot be', async () => {
    const [first = '', second = ''] = await createWith([grace, { ...ada, dob: '2000-11-01' }], {
      benefits: ['solo'],
    })
    const code = async (promise: Promise<unknown>) => (await refusalOf(promise)).code
    expect(await code(cover('hospital', [first]))).toBe('ineligible')
    expect(await code(cover('nothing', [first]))).toBe('benefit_unknown')
    expect(await code(cover('dental', ['01980000-0000-7000-8000-000000000001']))).toBe('dependant_unknown')
    expect(await refusalOf(cover('solo', [first]))).toMatchObject({
      code: 'dependant_not_eligible',
      errors: [{ field: 'dependants[0]', code: 'no_family_cover', dependantid: first }],
    })
    // The child reaches the age on the day on which cover would begin.
    expect(await refusalOf(cover('dental', [first, second]))).toMatchObject({
      code: 'dependant_not_eligible',
      errors: [{ field: 'dependants[1]', code: 'too_old', dependantid: second }],
    })
    await partner.to('2026-10-31T04:00')
    expect(await code(cover('dental', [first]))).toBe('change_locked')
    expect(await cover('dental', [])).toMatchObject({ after: { tier: 'me' } })
  })

  test('a pending cancel refuses it and drops what is pending, which a reinstate does not bring back', async () => {
    const [first = ''] = await createWith([grace])
    await cover('dental', [first])
    await partner.client.cancelUser({ userid })
    expect(await benefit('dental')).not.toHaveProperty('pendingcover')
    expect(await refusalOf(cover('dental', [first]))).toMatchObject({ code: 'cancel_pending' })
    await partner.client.reinstateUser({ userid })
    expect(await benefit('dental')).not.toHaveProperty('pendingcover')
  })

  test('an end of the benefit by then drops it, with a line', async () => {
    const [first = ''] = await createWith([grace])
    await cover('dental', [first])
    await partner.client.changeOffer({ userid, offername: 'bare' })
    expect(await benefit('dental')).not.toHaveProperty('pendingcover')
    expect(await refusalOf(cover('dental', [first]))).toMatchObject({ code: 'ineligible' })
    const { timeline = [] } = await partner.get(userid, 'timeline')
    expect(timeline.filter(({ what }) => what === 'pending cover of dental')).toHaveLength(2)
  })

  test('declining a benefit that waits drops it, with a line', async () => {
    const [first = ''] = await createWith([grace], { benefits: ['eyes'] })
    await cover('eyes', [first])
    expect(await partner.client.declineBenefit({ userid, name: 'eyes' })).not.toHaveProperty('pendingcover')
    expect(await benefit('eyes')).not.toHaveProperty('pendingcover')
    const { timeline = [] } = await partner.get(userid, 'timeline')
    const planned = timeline.filter(({ what }) => what === 'pending cover of eyes')
    expect(planned.map(({ from, to }) => [from, to])).toEqual([
      ['', `member ${first}`],
      [`member ${first}`, ''],
    ])
  })

  test('of a benefit that has not begun takes effect at its start', async () => {
    const [first = ''] = await createWith([grace], { effectivedate: '2026-11-10' })
    await partner.to('2026-11-09T12:00')
    // The start of a membership locks nothing.
    const startsAt = '2026-11-10T05:00:00.000Z'
    expect(await cover('dental', [first])).toMatchObject({
      ...{ effectiveattimestamp: startsAt, lockedattimestamp: startsAt },
    })
    expect(await benefit('dental')).toMatchObject({ tier: 'me', pendingcover: { tier: 'mespouse' } })
    await partner.to('2026-11-10T06:00')
    expect(await benefit('dental')).toMatchObject({ tier: 'mespouse', dependants: [first] })
  })

  test('of a benefit that has not begun is locked before its start, in a membership that has', async () => {
    const [first = ''] = await createWith([grace], { benefits: ['hospital'] })
    const correct = openCorrections(service, { ...partner, zone: 'America/New_York' })
    expect(await correct(userid, { op: 'movestart', b: 'hospital', days: 12 })).toEqual({})
    const lockedattimestamp = '2026-10-31T04:00:00.000Z'
    expect(await cover('hospital', [first], true)).toMatchObject({
      ...{ effectiveattimestamp: november, lockedattimestamp },
    })
    await partner.to(lockedattimestamp)
    expect(await refusalOf(cover('hospital', [first]))).toMatchObject({ code: 'change_locked' })
  })
})

describe('a child', () => {
  test('is covered to the end of the period in which it reaches the age, and the tier falls then', async () => {
    const [first] = await createWith([ofDental(bob), ofDental(ada)])
    expect((await list())[0]?.benefits).toMatchObject([
      { name: 'dental', state: 'endscheduled', endsattimestamp: january },
    ])
    const { timeline = [] } = await partner.get(userid, 'timeline')
    expect(timeline).toContainEqual({
      ...{ attimestamp: january, what: `dependant dental ${first}`, from: 'covered', to: '' },
      ...{ who: 'schedule', why: 'endsatage' },
    })
    await partner.to('2026-12-31T12:00')
    expect((await benefit('dental'))?.dependants).toHaveLength(2)
    // A preview of that boundary says so ahead.
    expect(await cover('dental', (await benefit('dental'))?.dependants ?? [], true)).toMatchObject({
      before: { tier: 'mechildren' },
      after: { tier: 'mechildren', dependants: [expect.any(String)] },
    })
    await partner.events(userid)
    await partner.to('2027-01-01T06:00')
    expect((await benefit('dental'))?.dependants).toHaveLength(1)
    expect(await partner.events(userid)).toMatchObject([
      { eventname: 'benefit_cover_changed', name: 'dental' },
    ])
  })

  test('is told ahead, while its cover is planned, until when that lasts', async () => {
    const [first = ''] = await createWith([bob])
    await cover('dental', [first])
    const planned = (await list())[0]?.benefits
    expect(planned).toMatchObject([{ startsattimestamp: november, endsattimestamp: january }])
    await partner.to('2026-11-02T12:00')
    expect((await list())[0]?.benefits).toMatchObject([{ endsattimestamp: january }])
  })

  test('born on February 29 reaches the age as the member does: on March 1', async () => {
    await partner.lateTo('2025-10-20T12:00').catch(() => undefined)
    await createWith([ofDental({ ...ada, dob: '2004-02-29' })])
    expect((await list())[0]?.benefits[0]?.endsattimestamp).toBe('2030-04-01T04:00:00.000Z')
  })

  test('whose time is over at the boundary is left out, and the rest of a change takes effect', async () => {
    const [first = '', second = ''] = await createWith([ofDental(bob), grace])
    await partner.to('2026-12-20T12:00')
    await cover('dental', [first, second])
    expect((await benefit('dental'))?.pendingcover).toMatchObject({ tier: 'mespouse', dependants: [second] })
    await partner.to('2027-01-02T12:00')
    expect(await benefit('dental')).toMatchObject({ tier: 'mespouse', dependants: [second] })
  })
})

describe('swap, enroll, offers', () => {
  test('a swap covers from its boundary those whom it names, and what it takes away covers them to it', async () => {
    const [first = '', second = ''] = await createWith(
      [
        { ...grace, benefits: [{ name: 'hospital' }] },
        { ...bob, dob: '2008-11-15' },
      ],
      { benefits: ['hospital'] },
    )
    const covered = [{ name: 'gym', dependants: [second] }]
    await partner.client.swapBenefits({ userid, add: ['gym'], remove: ['hospital'], covered })
    expect((await list()).map(one => one.benefits)).toMatchObject([
      [{ name: 'hospital', state: 'endscheduled', endsattimestamp: november }],
      [{ name: 'gym', state: 'scheduled', startsattimestamp: november }],
    ])
    await partner.to('2026-11-02T12:00')
    expect(await benefit('gym')).toMatchObject({
      state: 'enrolled',
      tier: 'mechildren',
      dependants: [second],
    })
    expect(await benefit('hospital')).toMatchObject({ state: 'ended', tier: 'mespouse', dependants: [first] })
    // 18 on November 15, so the tier falls by December.
    expect((await list())[1]?.benefits[0]?.endsattimestamp).toBe(december)
  })

  test('a tier may change at the boundary of a swap: by age, and by a change that was planned', async () => {
    const both = { ...bob, benefits: [{ name: 'dental' }, { name: 'hospital' }] }
    const [aged = '', second = '', third = ''] = await createWith([both, grace, ada], {
      benefits: ['hospital'],
    })
    await partner.to('2026-12-20T12:00')
    await partner.events(userid)
    const covered = [{ name: 'gym', dependants: [third] }]
    await partner.client.swapBenefits({ userid, add: ['gym'], remove: ['hospital'], covered })
    await cover('dental', [aged, second])
    await partner.to('2027-01-02T12:00')
    expect((await partner.get(userid)).benefits).toMatchObject([
      { name: 'dental', state: 'enrolled', tier: 'mespouse', dependants: [second] },
      { name: 'hospital', state: 'ended', tier: 'mechildren', dependants: [aged] },
      { name: 'gym', state: 'enrolled', tier: 'mechildren', dependants: [third] },
    ])
    expect(await partner.names(userid)).toEqual([
      'user_benefits_pendingswap',
      'user_benefits_swap_successful',
      'benefit_cover_changed',
    ])
    const tiersIn = async (month: string) =>
      (await partner.client.listStatementLines({ month })).lines
        .filter(({ kind }) => kind === 'benefit')
        .map(({ name, tier, personcents }) => `${name} ${tier} ${personcents}`)
    expect(await tiersIn('2026-12')).toEqual(['dental mechildren 2100', 'hospital mechildren 2100'])
    expect(await tiersIn('2027-01')).toEqual(['dental mespouse 1900', 'gym mechildren 2100'])
  })

  test('a swap is refused with people whom the benefit may not cover, who are unknown, or of another benefit', async () => {
    const [first = ''] = await createWith([grace])
    const swap = (name: string, id: string) =>
      partner.client.swapBenefits({ userid, add: ['gym'], remove: [], covered: [{ name, dependants: [id] }] })
    expect(await refusalOf(swap('gym', first))).toMatchObject({
      code: 'dependant_not_eligible',
      errors: [{ field: 'covered[0].dependants[0]', code: 'relationship_not_covered', dependantid: first }],
    })
    expect(await refusalOf(swap('gym', 'x'))).toMatchObject({ code: 'dependant_unknown' })
    expect(await refusalOf(swap('dental', first))).toMatchObject({
      code: 'bad_request',
      errors: [{ field: 'covered[0].name' }],
    })
  })

  test('enroll covers those whom it names, also of what waited for a consent', async () => {
    const [first = '', second = ''] = await createWith([grace, { ...ada, dob: '2000-11-05' }])
    const dependants = [first, second]
    expect(
      await partner.client.enrolBenefit({
        userid,
        name: 'hospital',
        covered: [{ name: 'hospital', dependants }],
      }),
    ).toMatchObject({ state: 'enrolled', tier: 'family', dependants })
    await partner.client.enrolBenefit({ userid, name: 'eyes', covered: [{ name: 'eyes', dependants }] })
    expect(await benefit('eyes')).toMatchObject({ state: 'actionrequired', dependants })
    // The second has grown too old by the day on which it begins.
    await partner.to('2026-11-10T12:00')
    await partner.client.enrolBenefit({ userid, name: 'eyes', consents: [{ name: 'eyes', version: 'v1' }] })
    expect(await benefit('eyes')).toMatchObject({ state: 'enrolled', tier: 'mespouse', dependants: [first] })
    expect(await benefit('hospital')).toMatchObject({ dependants })
  })

  test('an offer change brings benefits for the member alone, and what stays keeps its people', async () => {
    const [first] = await createWith([ofDental(grace)])
    await partner.client.changeOffer({ userid, offername: 'top' })
    expect(await benefit('dental')).toMatchObject({ tier: 'mespouse', dependants: [first] })
    expect(await benefit('hospital')).toMatchObject({ tier: 'me', dependants: [] })
  })
})

describe('a reinstate', () => {
  test('covers who was covered and still may be, and names those who could not return', async () => {
    const [first, second] = await createWith([ofDental(grace), ofDental({ ...ada, dob: '2000-11-05' })])
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    expect(await benefit('dental')).toMatchObject({
      state: 'ended',
      tier: 'family',
      dependants: [first, second],
    })
    await partner.to('2026-11-10T12:00')
    const back = await partner.client.reinstateUser({ userid })
    expect(back.notrestored).toMatchObject([{ name: 'dental', code: 'too_old', dependantid: second }])
    expect(await benefit('dental')).toMatchObject({
      state: 'enrolled',
      tier: 'mespouse',
      dependants: [first],
    })
  })

  test('keeps the last day that an operator gave somebody, and leaves out and names whom that has reached', async () => {
    const both = { ...grace, benefits: [{ name: 'dental' }, { name: 'hospital' }] }
    const [dependant = ''] = await createWith([both], { benefits: ['hospital'] })
    const correct = openCorrections(service, { ...partner, zone: 'America/New_York' })
    const days = 14
    // Hospital has not begun: the cancel withdraws it.
    expect(await correct(userid, { op: 'movestart', b: 'hospital', days: 12 })).toEqual({})
    for (const b of ['dental', 'hospital'])
      expect(await correct(userid, { op: 'lastcovered', b, dependant, days })).toEqual({})
    const ends = async () => (await list())[0]?.benefits.map(({ endsattimestamp }) => endsattimestamp)
    const given = '2026-11-04T05:00:00.000Z'
    expect(await ends()).toEqual([given, given])
    for (const effective of ['endofperiod', 'immediate'] as const) {
      await partner.client.cancelUser({ userid, effective })
      expect(await partner.client.reinstateUser({ userid })).toMatchObject({ notrestored: [] })
      expect(await ends()).toEqual([given, given])
    }
    await partner.client.cancelUser({ userid })
    await partner.to(given)
    const { notrestored } = await partner.client.reinstateUser({ userid })
    expect(notrestored).toMatchObject(
      ['dental', 'hospital'].map(name => ({ name, code: 'cover_ended', dependantid: dependant })),
    )
    expect(await benefit('dental')).toMatchObject({ state: 'enrolled', tier: 'me', dependants: [] })
  })

  test('does not bring back a spouse who left before', async () => {
    await createWith([ofDental(grace)])
    await cover('dental', [])
    await partner.to('2026-11-05T12:00')
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    await partner.client.reinstateUser({ userid })
    expect(await benefit('dental')).toMatchObject({ tier: 'me', dependants: [] })
  })
})

describe('the list of people who are covered', () => {
  test('cannot lose one who is, or will be', async () => {
    const [first = '', second = ''] = await createWith([ofDental(grace), ada])
    const set = (dependants: object[]) =>
      partner.client.setDependants({ userid, dependants: dependants as never })
    const [one, other] = [
      { dependantid: first, ...grace },
      { dependantid: second, ...ada },
    ]
    expect(await refusalOf(set([other]))).toMatchObject({
      code: 'dependant_covered',
      errors: [{ dependantid: first }],
    })
    await cover('dental', [first, second])
    expect(await refusalOf(set([one]))).toMatchObject({ errors: [{ dependantid: second }] })
    await partner.client.undoCover({ userid, name: 'dental' })
    expect(await set([one])).toMatchObject({ version: 2 })
  })

  test('takes a birth date that moves the end by age, and refuses one that no rule would admit', async () => {
    const [first = ''] = await createWith([ofDental(bob)])
    const set = (change: object) =>
      partner.client.setDependants({ userid, dependants: [{ dependantid: first, ...bob, ...change }] })
    await set({ dob: '2001-02-03' })
    expect((await list())[0]?.benefits[0]?.endsattimestamp).toBe('2027-03-01T05:00:00.000Z')
    // Not below the age on the first day, October 20.
    expect(await refusalOf(set({ dob: '2000-10-20' }))).toMatchObject({
      code: 'dependant_not_eligible',
      errors: [{ field: 'dependants[0]', code: 'too_old', dependantid: first }],
    })
    await partner.to('2026-12-20T12:00')
    // The age was reached in October, and no cover is taken away for the past.
    await set({ dob: '2000-10-25' })
    expect((await list())[0]?.benefits[0]?.endsattimestamp).toBe(january)
    expect(await refusalOf(set({ relationship: 'spouse' }))).toMatchObject({
      errors: [{ code: 'other_tier' }],
    })
  })

  test('follows a spouse who becomes a domestic partner', async () => {
    const [first = ''] = await createWith([ofDental(grace)])
    const changed = { dependantid: first, ...grace, relationship: 'domesticpartner' as const }
    await partner.client.setDependants({ userid, dependants: [changed] })
    expect(await benefit('dental')).toMatchObject({ tier: 'mespouse', dependants: [first] })
  })

  test('keeps the tier of a planned change of cover', async () => {
    const [first = ''] = await createWith([grace])
    await cover('dental', [first])
    const set = (relationship: Named['relationship']) =>
      partner.client.setDependants({
        userid,
        dependants: [{ dependantid: first, ...grace, dob: ada.dob, relationship }],
      })
    expect(await refusalOf(set('child'))).toMatchObject({
      code: 'dependant_not_eligible',
      errors: [{ field: 'dependants[0]', code: 'other_tier', dependantid: first }],
    })
    await set('domesticpartner')
    expect(await benefit('dental')).toMatchObject({ pendingcover: { tier: 'mespouse' } })
  })
})

test('the days of each stand in the table, and go with an erasure', async () => {
  const [first, second] = await createWith([ofDental(grace), ofDental(bob)])
  await cover('dental', [second ?? ''])
  await partner.to('2026-11-05T12:00')
  const days = () =>
    service.database.query<{ id: string; ends_at: number | null }>(sql`
      select dependant_id as id, ends_at from covered_dependants where partner_id = ${partner.partnerId} order by place`)
  expect(await days()).toEqual([
    { id: first, ends_at: Date.parse(november) },
    { id: second, ends_at: Date.parse(january) },
  ])
  await partner.client.eraseUser({ userid })
  expect(await days()).toEqual([])
})

describe('a statement', () => {
  const linesOf = async (month: string) => (await partner.client.listStatementLines({ month })).lines
  const dentalOf = async (month: string) => (await linesOf(month)).find(({ name }) => name === 'dental')
  const csvOf = async (month: string, of: StagePartner = partner) => {
    const headers = {
      ...{ authorization: `Bearer ${await of.token()}`, 'x-api-key': of.apiKey },
      accept: 'text/csv',
    }
    const answer = await fetch(`${service.baseUrl}/statements/${month}/lines`, { headers })
    return (await answer.text()).split('\r\n')
  }

  test('has one line at the tier of the first day counted, and the new one from the next month on', async () => {
    const [first = '', second = ''] = await createWith([ofDental(grace), ada], { benefits: ['solo'] })
    await cover('dental', [first, second])
    await partner.to('2026-11-02T12:00')
    expect(await linesOf('2026-10')).toMatchObject([
      { name: 'dental', tier: 'mespouse', personcents: 1900 },
      { name: 'solo' },
      { kind: 'offer' },
    ])
    expect((await linesOf('2026-10')).filter(line => 'tier' in line)).toHaveLength(1)
    expect(await dentalOf('2026-11')).toMatchObject({ tier: 'family', personcents: 3000 })
    // Somebody who comes back alone within the month is charged so from the next.
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    await partner.to('2026-11-09T12:00')
    await partner.create(userid, { offername: 'low' })
    expect(await dentalOf('2026-11')).toMatchObject({ tier: 'family', personcents: 3000 })
    await partner.to('2026-12-09T12:00')
    expect(await dentalOf('2026-12')).toMatchObject({ tier: 'me', personcents: 1000 })
    // Final by now.
    expect(await dentalOf('2026-10')).toMatchObject({ tier: 'mespouse', personcents: 1900 })
    const [header = '', row = ''] = await csvOf('2026-10')
    expect([header.split(',').at(-1), row.split(',').at(-1)]).toEqual(['tier', 'mespouse'])
  })

  test('of an open month has the tier that is planned for the first day of a benefit that has not begun', async () => {
    const [spouse = ''] = await createWith([grace], { effectivedate: '2026-11-10' })
    await partner.create('alone', { dependants: [ofDental(grace)], effectivedate: '2026-11-10' })
    await partner.to('2026-11-02T12:00')
    await cover('dental', [spouse])
    await partner.client.changeCover({ userid: 'alone', name: 'dental', dependants: [], previewonly: false })
    const planned = await linesOf('2026-11')
    expect(planned.filter(({ name }) => name === 'dental')).toMatchObject([
      { userid, tier: 'mespouse', personcents: 1900, days: 21 },
      { userid: 'alone', tier: 'me', personcents: 1000 },
    ])
    await partner.to('2026-11-10T06:00')
    expect(await linesOf('2026-11')).toEqual(planned)
  })

  test('of an open month has the tier that is planned for a first day which a correction moves', async () => {
    await partner.to('2026-11-02T12:00')
    const [spouse = ''] = await createWith([grace])
    const correct = openCorrections(service, { ...partner, zone: 'America/New_York' })
    expect(await correct(userid, { op: 'movestart', b: 'dental', days: 18 })).toEqual({})
    await cover('dental', [spouse])
    expect(await correct(userid, { op: 'movestart', b: 'dental', days: 8 })).toEqual({})
    const planned = await dentalOf('2026-11')
    expect(planned).toMatchObject({ tier: 'mespouse', fromdate: '2026-11-10' })
    await partner.to('2026-11-10T06:00')
    expect(await benefit('dental')).toMatchObject({ tier: 'mespouse' })
    expect(await dentalOf('2026-11')).toEqual(planned)
  })

  test('of a final month is corrected by an adjustment, when somebody is told to have died before it', async () => {
    const [dependant = ''] = await createWith([ofDental(grace)])
    await partner.to('2026-12-09T12:00')
    const correct = openCorrections(service, { ...partner, zone: 'America/New_York' })
    expect(await correct(userid, { op: 'lastcovered', b: 'dental', dependant, days: -45 })).toEqual({})
    expect((await partner.client.listStatements({})).statements.map(({ status }) => status)).toEqual([
      'open',
      'final',
      'final',
    ])
    expect(await dentalOf('2026-11')).toMatchObject({ tier: 'mespouse', personcents: 1900 })
    expect((await linesOf('2026-12')).filter(({ name }) => name === 'dental')).toMatchObject([
      { kind: 'benefit', tier: 'me', personcents: 1000 },
      { kind: 'adjustment', about: '2026-11', tier: 'me', personcents: -900 },
    ])
  })

  test('counts a benefit held without tiers by those of a newer catalogue from the change of cover on, and keeps these', async () => {
    const priced = (cents: number) => ({ cents, per: 'month' as const })
    const other = (change: (one: TestBenefit) => TestBenefit): TestCatalogue => ({
      ...familyCatalogue,
      benefits: familyCatalogue.benefits.map(one => (one.name === 'dental' ? change(one) : one)),
    })
    const single = other(({ name }) => ({ name, cost: priced(900), premium: priced(1) }))
    const publish = async (catalogue: TestCatalogue) => {
      await service.publish(fileOf(catalogue))
      service.advance(2000)
    }
    await publish(single)
    const [spouse = ''] = await createWith([grace])
    expect(await refusalOf(cover('dental', [spouse]))).toMatchObject({ code: 'dependant_not_eligible' })
    await publish(familyCatalogue)
    expect(await cover('dental', [spouse])).toMatchObject({
      before: { tier: '', cost: priced(900) },
      after: { tier: 'mespouse', cost: priced(1900) },
    })
    expect(await benefit('dental')).not.toHaveProperty('tier')
    expect(await benefit('dental')).toMatchObject({ pendingcover: { tier: 'mespouse' } })
    await partner.to('2026-11-02T12:00')
    await publish(other(one => ({ ...one, tiers: familyTiers.map(tier => ({ ...tier, cost: priced(1) })) })))
    expect(await cover('dental', [])).toMatchObject({ after: { tier: 'me', cost: priced(1000) } })
    await partner.to('2026-12-02T12:00')
    const months = await Promise.all(['2026-10', '2026-11', '2026-12'].map(dentalOf))
    expect(months.map(line => [line?.tier, line?.personcents])).toEqual([
      [undefined, 900],
      ['mespouse', 1900],
      ['me', 1000],
    ])
    await publish(familyCatalogue)
  })

  test('keeps what an erased user is charged for, and has no column without a tier', async () => {
    await createWith([ofDental(grace), ofDental(ada)])
    await partner.to('2026-11-02T12:00')
    await partner.client.eraseUser({ userid })
    expect(await dentalOf('2026-11')).toMatchObject({ userid: '', tier: 'family', personcents: 3000 })
    await partner.create('alone', { offername: 'bare' })
    const other = await newStagePartner(service)
    await other.create('alone', { offername: 'bare' })
    expect((await csvOf('2026-10', other))[0]?.split(',').at(-1)).toBe('days')
  })
})
