import { expect, test } from 'vitest'
import { changeCoverOf } from '../../service/src/benefits/cover.ts'
import { parseCatalogue } from '../../service/src/catalogue/parse.ts'
import { type Imported, importMember } from '../../service/src/imports/import-member.ts'
import { readMember } from '../../service/src/imports/read-member.ts'
import type { CommandContext, Decided, Member } from '../../service/src/membership/command.ts'
import { applyDueChanges } from '../../service/src/membership/rules/apply-due.ts'
import { coversOfDependant } from '../../service/src/membership/rules/cover.ts'
import { coversOf, withPendingCovers } from '../../service/src/membership/rules/covers.ts'
import { coveredNow, daysOf } from '../../service/src/membership/rules/family.ts'
import type { Person } from '../../service/src/membership/rules/person.ts'
import { isRefusal } from '../../service/src/membership/rules/refusal.ts'
import { newUser, type User } from '../../service/src/membership/rules/state.ts'
import type { Terms } from '../../service/src/membership/rules/terms.ts'
import type { Partner } from '../../service/src/partners/partner.ts'
import { fileOf } from './catalogue.ts'
import { familyCatalogue } from './family-catalogue.ts'

const parsed = parseCatalogue(fileOf(familyCatalogue))
if (!parsed.ok) throw new Error('the catalogue is broken')
const { catalogue } = parsed
const now = Date.parse('2026-10-20T16:00:00Z')
let ids = 0
const termsOf = (person?: Person): Terms => ({
  zone: 'America/New_York',
  today: { version: 1, catalogue },
  version: () => catalogue,
  partnerOffers: undefined,
  dependants: () => person?.dependants ?? [],
  residence: () => ({ dob: '1990-03-27', state: 'FL', zipcode: '33101' }),
  newId: () => `id-${ids++}`,
})

const line = {
  ...{ userid: 'm', firstname: 'Ada', lastname: 'King', email: 'ada@example.com', dob: '1990-03-27' },
  ...{ state: 'FL', zipcode: '33101', offername: 'low', offersince: '2024-05-01' },
  benefits: [{ name: 'hospital', startson: '2024-06-01' }],
}
const spouse = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' }
const child = { relationship: 'child', firstname: 'Bob', lastname: 'King', dob: '2000-03-01' }

function take(
  dependants: object[],
  { checks = false, member, more }: { checks?: boolean; member?: Member; more?: object } = {},
) {
  const read = readMember({ ...line, dependants, ...more })
  if ('length' in read) return { faults: read.map(({ field, code }) => `${field} ${code}`) }
  const context: CommandContext = {
    ...{ now, wasDue: false, member },
    orNew: () => newUser({ partnerId: 'p', serviceId: 's', userid: 'm', at: now }),
    terms: termsOf,
  }
  const options = { checks, raises: false, chargeFrom: undefined }
  const decided = importMember(context, {
    partner: { name: 'P', aliases: [] } as unknown as Partner,
    member: read,
    options,
  })
  if (isRefusal(decided)) return { faults: decided.reasons.map(({ field, code }) => `${field} ${code}`) }
  return { decided: decided as Decided<Imported> }
}

test('a family moves in with the days on which each came, and is the same when it is read again', () => {
  const family = [
    { ...spouse, benefits: [{ name: 'dental' }, { name: 'hospital', startson: '2025-02-01' }] },
    { ...child, benefits: [{ name: 'hospital' }] },
  ]
  const { decided } = take(family)
  const { user, documents } = decided?.change ?? {}
  if (!user) throw new Error('nobody moved in')
  const days = user.enrolments.flatMap(one =>
    coveredNow(one).map(covered => {
      const { startsAt, endsAt } = daysOf(one, covered)
      return [
        one.benefit,
        covered.relationship,
        ...[startsAt, endsAt].map(at => at && new Date(at).toISOString().slice(0, 10)),
      ]
    }),
  )
  expect(days).toEqual([
    ['dental', 'spouse', '2024-05-01', undefined],
    ['hospital', 'spouse', '2025-02-01', undefined],
    // 26 since March: no cover is taken away for the past.
    ['hospital', 'child', '2024-06-01', '2026-11-01'],
  ])
  expect(decided?.answer(user)).toMatchObject({ is: 'taken', outside: [] })
  const member = { user, person: () => documents?.profile as Person }
  expect(take(family, { member }).decided?.answer(user)).toEqual({ is: 'equal' })
  expect(take(family.slice(0, 1), { member }).decided?.answer(user)).toEqual({
    is: 'different',
    field: 'dependants',
  })
})

test.each(['2024-06-01', '2026-11-10'])(
  'who comes after today to a benefit of %s counts from then on, and is the same in each reading',
  startson => {
    const december = '2026-12-01'
    const more = { benefits: [{ name: 'hospital', startson }] }
    const family = [
      { ...spouse, benefits: [{ name: 'hospital', startson: december }] },
      { ...child, dob: '2019-05-04', benefits: [{ name: 'hospital' }] },
    ]
    const { decided } = take(family, { more })
    const { user, documents } = decided?.change ?? {}
    if (!user) throw new Error('nobody moved in')
    const profile = documents?.profile as Person
    const [wife] = profile.dependants ?? []
    if (!wife) throw new Error('no dependants')
    const nameOf = ({ relationship }: { relationship: string }) => relationship
    const covers = (of: User) => of.enrolments.flatMap(one => coveredNow(one).map(nameOf))
    expect(covers(user)).toEqual(['child'])
    const startsAt = Date.parse('2026-12-01T05:00:00Z')
    const terms = termsOf(profile)
    expect(coversOfDependant(user, wife, terms)).toMatchObject([{ state: 'scheduled', startsAt }])
    const covered = coversOf(withPendingCovers(user, terms), 'hospital', terms.zone, wife.dependantid)
    expect(covered).toMatchObject([{ startsOn: december }])
    const changes = applyDueChanges(user, startsAt, terms)
    expect(changes.at(-1)?.events.map(({ eventname }) => eventname)).toEqual(['benefit_cover_changed'])
    const after = changes.at(-1)?.after ?? user
    expect(covers(after)).toEqual(['child', 'spouse'])
    for (const one of [user, after]) {
      const again = take(family, { more, member: { user: one, person: () => profile } })
      expect(again.decided?.answer(one)).toEqual({ is: 'equal' })
    }
  },
)

test.each([
  [
    'a second day to come on which a benefit covers more',
    [
      { ...spouse, benefits: [{ name: 'hospital', startson: '2026-11-01' }] },
      { ...child, benefits: [{ name: 'hospital', startson: '2026-12-01' }] },
    ],
    'dependants[1].benefits[0].startson two_changes',
  ],
  [
    'a day before the benefit’s own',
    [{ ...spouse, benefits: [{ name: 'hospital', startson: '2024-05-31' }] }],
    'dependants[0].benefits[0].startson range',
  ],
  [
    'a benefit that the member has not',
    [{ ...spouse, benefits: [{ name: 'eyes' }] }],
    'dependants[0].benefits[0] not_selectable',
  ],
  ['a birth date to come', [{ ...spouse, dob: '2026-10-21' }], 'dependants[0].dob future'],
  ['a relationship that is none', [{ ...spouse, relationship: 'parent' }], 'dependants[0].relationship enum'],
  [
    'a day that is too far ahead',
    [{ ...child, benefits: [{ name: 'hospital', startson: '9999-12-31' }] }],
    'dependants[0].benefits[0].startson range',
  ],
  [
    'a benefit that stands there twice',
    [{ ...spouse, benefits: [{ name: 'dental' }, { name: 'dental', startson: '2025-02-01' }] }],
    'dependants[0].benefits[1] duplicate',
  ],
])('refuses %s', (_, dependants, fault) => {
  expect(take(dependants).faults).toEqual([fault])
})

test('what is blank is not given, in a line and in what is kept', () => {
  const blank = {
    ...{ moredetails: {}, gender: '', phone: null, address: { addline1: '', city: null }, partnername: '' },
    benefits: [{ name: 'hospital', startson: '', memberid: '' }],
  }
  const { decided, faults } = take([], { more: blank })
  expect(faults).toBeUndefined()
  const { user, documents } = decided?.change ?? {}
  if (!user) throw new Error('nobody moved in')
  const member = { user, person: () => documents?.profile as Person }
  const plain = { benefits: [{ name: 'hospital' }] }
  expect(take([], { more: plain, member }).decided?.answer(user)).toEqual({ is: 'equal' })
  expect(take([], { more: { ...plain, moredetails: { dept: 'x' } }, member }).decided?.answer(user)).toEqual({
    ...{ is: 'different', field: 'person' },
  })
  expect(
    take([], { more: { ...blank, benefits: [{ name: 'hospital', memberid: null }] } }).faults,
  ).toBeUndefined()
})

test.each([
  ['2026-02-30', 'format'],
  ['2026-02-28T24:00:00.000Z', 'format'],
  ['0000-01-01', 'range'],
  ['2026-10-21', 'future'],
])('refuses a consent of %s', (agreedat, code) => {
  const consents = [{ name: 'eyes', version: 'v1', agreedat, evidence: 'box 3' }]
  expect(take([], { more: { consents } }).faults).toEqual([`consents[0].agreedat ${code}`])
})

test('what the rules would not admit is reported, and refused with --check', () => {
  const two = [spouse, { ...spouse, relationship: 'domesticpartner' }].map(one => ({
    ...one,
    benefits: [{ name: 'dental' }],
  }))
  const { decided } = take(two)
  const user = decided?.change?.user
  expect(user && decided?.answer(user)).toMatchObject({
    outside: [{ field: 'dependants[1].benefits[0]', code: 'one_spouse' }],
  })
  expect(take(two, { checks: true }).faults).toEqual(['dependants[1].benefits[0] one_spouse'])
  // Below 26 on the first day of the benefit, but not on its own.
  const benefits = [{ name: 'hospital', startson: '2026-12-01' }]
  expect(take([{ ...child, dob: '2000-11-15', benefits }], { checks: true }).faults).toEqual([
    'dependants[0].benefits[0] too_old',
  ])
})

test('a day to come takes cover from nobody whom the rules would not admit, and can be undone until it is locked', () => {
  const adults = [spouse, { ...spouse, relationship: 'domesticpartner' }]
  const { decided } = take([
    ...adults.map(one => ({ ...one, benefits: [{ name: 'hospital' }] })),
    { ...child, dob: '2015-03-01', benefits: [{ name: 'hospital', startson: '2026-11-10' }] },
  ])
  const { user, documents } = decided?.change ?? {}
  if (!user) throw new Error('nobody moved in')
  const terms = termsOf(documents?.profile as Person)
  const [one = '', other = '', third = ''] = terms.dependants().map(({ dependantid }) => dependantid)
  const ask = (dependants: string[] | undefined, at: string) => {
    const made = changeCoverOf(user, { name: 'hospital', dependants }, Date.parse(at), terms)
    return isRefusal(made) ? made.refused : new Date(made.effectiveAt).toISOString()
  }
  // November 1 is locked by then.
  const comesAt = '2026-11-10T05:00:00.000Z'
  expect([ask(undefined, '2026-10-31T20:00:00Z'), ask([one, other, third], '2026-10-31T20:00:00Z')]).toEqual([
    comesAt,
    comesAt,
  ])
  expect([ask(undefined, '2026-11-10T04:00:00Z'), ask([one], '2026-11-10T04:00:00Z')]).toEqual([
    'change_locked',
    'change_locked',
  ])
  const after = applyDueChanges(user, Date.parse(comesAt), terms).at(-1)?.after
  expect(after?.enrolments.map(held => [held.benefit, coveredNow(held).length])).toContainEqual([
    'hospital',
    3,
  ])
})
