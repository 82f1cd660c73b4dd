import { describe, expect, test } from 'vitest'
import { createAccount } from '../../service/src/accounts/lifecycle.ts'
import { changeCoverOf } from '../../service/src/benefits/cover.ts'
import { dateAt, type Instant } from '../../service/src/calendar/calendar.ts'
import { parseCatalogue } from '../../service/src/catalogue/parse.ts'
import { tell } from '../../service/src/console/views/told.ts'
import { afterChange, applyDueChanges } from '../../service/src/membership/rules/apply-due.ts'
import { correctCover, movableCovers } from '../../service/src/membership/rules/correct-cover.ts'
import { type Correction, correctEnrolment } from '../../service/src/membership/rules/corrections.ts'
import { refitCover } from '../../service/src/membership/rules/cover.ts'
import { coversOf, withPendingCovers } from '../../service/src/membership/rules/covers.ts'
import type { Dependant } from '../../service/src/membership/rules/dependant.ts'
import { coveredNow, daysOf } from '../../service/src/membership/rules/family.ts'
import { changesThePast, linesOf } from '../../service/src/membership/rules/history.ts'
import type { Changed } from '../../service/src/membership/rules/intents.ts'
import { isRefusal, type Refusal } from '../../service/src/membership/rules/refusal.ts'
import {
  type Enrolment,
  heldEnrolment,
  newUser,
  type User,
} from '../../service/src/membership/rules/state.ts'
import type { Terms } from '../../service/src/membership/rules/terms.ts'
import { viewUser } from '../../service/src/membership/rules/view.ts'
import { fileOf } from './catalogue.ts'
import { familyCatalogue } from './family-catalogue.ts'

const parsed = parseCatalogue(fileOf(familyCatalogue))
if (!parsed.ok) throw new Error('the catalogue is broken')
const { catalogue } = parsed
const zone = 'America/New_York'
const person = (dependantid: string, relationship: Dependant['relationship'], dob: string): Dependant => ({
  ...{ dependantid, relationship, dob: dob as Dependant['dob'] },
  ...{ firstname: 'F', lastname: 'L' },
})
const family = [
  person('grace', 'spouse', '1988-02-29'),
  person('ada', 'child', '2019-05-04'),
  // Reaches the age limit of dental on November 30, 2026.
  person('bob', 'child', '2000-11-30'),
]
let ids = 0
const terms: Terms = {
  zone,
  today: { version: 1, catalogue },
  version: () => catalogue,
  partnerOffers: undefined,
  dependants: () => family,
  residence: () => ({ dob: '1961-03-14', state: 'FL', zipcode: '33101' }),
  newId: () => `id-${ids++}`,
}
const at = (day: string): Instant => Date.parse(`${day}T16:00:00Z`)

function accepted<T extends Changed>(made: T | Refusal): T {
  if (isRefusal(made)) throw new Error(made.reasons.map(({ code }) => code).join())
  return made
}
/** A member since September 10, whose spouse is covered from the start and whose child since October 1. */
function member(): User {
  const offer = catalogue.offers.get('low')
  if (!offer) throw new Error('no offer')
  const fresh = newUser({ partnerId: 'p', serviceId: 's', userid: 'u', at: at('2026-09-10') })
  const named = [{ dependant: family[0] as Dependant, benefits: ['dental'] }]
  const start = { offer, picks: [], consents: [], startsAt: at('2026-09-10'), family: named }
  const { user } = accepted(createAccount(fresh, start, at('2026-09-10'), terms))
  const both = { name: 'dental', dependants: ['grace', 'ada'] }
  const planned = accepted(changeCoverOf(user, both, at('2026-09-15'), terms))
  return applyDueChanges(planned.user, now, terms).at(-1)?.after ?? planned.user
}
const now = at('2026-11-20')
const held = (user: User) => heldEnrolment(user, 'dental')
function correct(user: User, dependantId: string, days: { firstDay?: string; lastDay?: string }) {
  const enrolmentId = held(user)?.id ?? ''
  return correctCover(user, { enrolmentId, dependantId, ...days } as never, now, terms)
}
function daysIn(user: User) {
  const enrolment = held(user)
  return (enrolment?.covered ?? []).map(one => {
    const { startsAt, endsAt } = daysOf(enrolment as never, one)
    return [one.dependantId, dateAt(startsAt, zone), endsAt && dateAt(endsAt - 1, zone)]
  })
}
const untilAge = ['ada', '2026-10-01', '2045-05-31']

test('a spouse who died is covered to that day, with a line, an event, and a look at the months before', () => {
  const user = member()
  const made = accepted(correct(user, 'grace', { lastDay: '2026-10-17' }))
  expect(daysIn(made.user)).toEqual([['grace', '2026-09-10', '2026-10-17'], untilAge])
  expect(made.events).toMatchObject([{ eventname: 'benefit_enrollment_corrected', benefit: 'dental' }])
  const applied = { at: now, before: user, after: made.user, events: made.events }
  expect(linesOf(applied, 'operator', 'correction: dates')).toMatchObject([
    { what: 'dependant', dependant: 'grace', from: 'covered', why: 'corrected' },
    { what: 'dependant end', dependant: 'grace', to: at('2026-10-18') - 12 * 3_600_000 },
  ])
  expect(changesThePast(applied)).toBe(true)
})

test('a first day moves within the benefit, and a last day ahead takes somebody out of what is planned', () => {
  const user = member()
  expect(daysIn(accepted(correct(user, 'ada', { firstDay: '2026-09-20' })).user)[1]?.[1]).toBe('2026-09-20')
  const planned = accepted(changeCoverOf(user, { name: 'dental', dependants: ['grace'] }, now, terms)).user
  const made = accepted(correct(planned, 'grace', { lastDay: '2026-11-25' }))
  expect(held(made.user)?.pendingCover?.people).toEqual([])
  expect(daysIn(made.user)[0]).toEqual(['grace', '2026-09-10', '2026-11-25'])
  const after = applyDueChanges(made.user, at('2026-11-27'), terms)
  expect(after.flatMap(({ events }) => events.map(({ eventname }) => eventname))).toEqual([
    'benefit_cover_changed',
  ])
})

test('who should never have been covered was so on no day, and stays so when the benefit moves', () => {
  const user = member()
  const enrolmentId = held(user)?.id ?? ''
  const made = accepted(
    correctCover(user, { enrolmentId, dependantId: 'grace', isVoid: true }, now, terms),
  ).user
  const daysOfGrace = (of: User) => coversOf(of, 'dental', zone, 'grace').length
  expect([daysOfGrace(user), daysOfGrace(made)]).toEqual([1, 0])
  expect(movableCovers(made).map(({ covered }) => covered.dependantId)).toEqual(['ada'])
  const applied = { at: now, before: user, after: made, events: [] }
  const line = { what: 'dependant', dependant: 'grace', from: 'covered', why: 'corrected' }
  expect(linesOf(applied, 'operator', 'correction: void')).toMatchObject([line])
  const over = accepted(correct(user, 'grace', { lastDay: '2026-10-17' })).user
  const wish = { enrolmentId, dependantId: 'grace', isVoid: true }
  const late = {
    at: now,
    before: over,
    after: accepted(correctCover(over, wish, now, terms)).user,
    events: [],
  }
  expect(linesOf(late, 'operator', 'correction: void')).toMatchObject([line])
  expect(changesThePast(applied)).toBe(true)
  const firstDay = '2026-09-05' as const
  const moved = accepted(correctEnrolment(made, { kind: 'move', enrolmentId, firstDay }, now, terms)).user
  expect(daysOfGrace(moved)).toBe(0)
})

test('who is covered again may be so from a day before cover that was taken back', () => {
  const user = member()
  const enrolmentId = held(user)?.id ?? ''
  const made = accepted(
    correctCover(user, { enrolmentId, dependantId: 'ada', isVoid: true }, now, terms),
  ).user
  const both = { name: 'dental', dependants: ['grace', 'ada'] }
  const again = accepted(changeCoverOf(made, both, now, terms)).user
  const later = at('2026-12-05')
  const after = applyDueChanges(again, later, terms).at(-1)?.after ?? again
  const wish = { enrolmentId, dependantId: 'ada', firstDay: '2026-09-20' } as const
  expect(daysIn(accepted(correctCover(after, wish, later, terms)).user).at(-1)?.[1]).toBe('2026-09-20')
})

test('a last day that an operator gave holds where a benefit that waited begins later', () => {
  const user = accepted(correct(member(), 'grace', { lastDay: '2026-12-10' })).user
  const from = (day: string) =>
    refitCover({ ...(held(user) as Enrolment), startsAt: at(day) }, terms).covered?.map(
      ({ dependantId, end }) => [dependantId, end?.reason],
    )
  expect(from('2026-12-01')).toEqual([
    ['grace', 'corrected'],
    ['ada', 'endsatage'],
  ])
  expect(from('2026-12-15')).toEqual([['ada', 'endsatage']])
})

test.each([
  ['grace', { firstDay: '2026-09-01' }, 'before_benefit'],
  ['grace', { firstDay: '2026-12-01' }, 'too_late'],
  ['grace', { lastDay: '2026-09-09' }, 'no_day_left'],
  ['ada', { firstDay: '2026-10-01' }, 'nothing_moves'],
  ['nobody', { lastDay: '2026-10-01' }, 'unknown'],
])('%s %j is refused: %s', (dependant, days, code) => {
  expect(correct(member(), dependant, days)).toMatchObject({ refused: 'bad_request', reasons: [{ code }] })
})

test('moving the benefit moves those who share the day and cuts the others, and a void voids all', () => {
  const user = member()
  const enrolmentId = held(user)?.id ?? ''
  const move = (firstDay: string) =>
    accepted(correctEnrolment(user, { kind: 'move', enrolmentId, firstDay: firstDay as never }, now, terms))
      .user
  expect(daysIn(move('2026-09-05'))).toEqual([['grace', '2026-09-05', undefined], untilAge])
  expect(daysIn(move('2026-10-15')).map(([, from]) => from)).toEqual(['2026-10-15', '2026-10-15'])
  const voided = accepted(correctEnrolment(user, { kind: 'void', enrolmentId }, now, terms)).user
  expect(movableCovers(voided)).toEqual([])
})

describe('a planned change of cover', () => {
  /** The member with a change planned for December 1, which the child alone is part of. */
  const planned = () =>
    accepted(changeCoverOf(member(), { name: 'dental', dependants: ['ada'] }, now, terms)).user
  /** The user as a correction of dental leaves it, with the lines and sentences of that. */
  function move(user: User, days: { firstDay?: string; lastDay?: string }) {
    const correction = { kind: 'move', enrolmentId: held(user)?.id ?? '', ...days } as Correction
    const made = accepted(correctEnrolment(user, correction, now, terms))
    const after = afterChange(made, { user, now, terms })
    const lines = linesOf(
      { at: now, before: user, after, events: made.events },
      'operator',
      'correction: dates',
    )
    return {
      ...{ after, dental: after.enrolments.find(({ corrects }) => corrects !== undefined) },
      told: tell({ lines }, { user, terms }, true),
      drops: lines.filter(({ what }) => what === 'pending cover').map(({ from, to }) => [from, to]),
    }
  }
  const dropped = [['member ada', undefined]]
  const sentence = 'The planned change of whom dental covers is dropped.'

  test.each([
    ['before', '2026-11-25', [], []],
    ['after', '2026-12-10', ['grace'], [['grace', '2026-12-10']]],
  ])('covers those whose last day an operator set %s it no longer than that', (_, lastDay, then, days) => {
    const grace = { name: 'dental', dependants: ['grace'] }
    const corrected = accepted(correct(member(), 'grace', { lastDay })).user
    const change = accepted(changeCoverOf(corrected, grace, now, terms))
    expect(change.after.dependants).toEqual(then)
    const plannedFirst = accepted(changeCoverOf(member(), grace, now, terms)).user
    for (const user of [change.user, accepted(correct(plannedFirst, 'grace', { lastDay })).user]) {
      expect(viewUser(user, terms, 'en').benefits[0]?.pendingcover?.dependants).toEqual(then)
      const after = applyDueChanges(user, at('2026-12-02'), terms).at(-1)?.after ?? user
      const people = coveredNow(held(after) as Enrolment).map(({ dependantId }) => dependantId)
      expect(people).toEqual(then)
      const open = daysIn(after).filter(([id]) => people.includes(id as string))
      expect(open.map(([id, , last]) => [id, last])).toEqual(days)
    }
  })

  test('is not told as changed when somebody leaves whom it was to leave out', () => {
    const grace = { name: 'dental', dependants: ['grace'] }
    const corrected = accepted(correct(member(), 'grace', { lastDay: '2026-11-25' })).user
    const { user } = accepted(changeCoverOf(corrected, grace, now, terms))
    const [left] = applyDueChanges(user, at('2026-11-27'), terms)
    const lines = left ? linesOf(left, 'schedule', 'due') : []
    expect(tell({ lines }, { user, terms }, true)).toEqual(['dental no longer covers the spouse …race.'])
  })

  test('is dropped by a correction that ends the benefit before it, and is said once', () => {
    const over = move(planned(), { lastDay: '2026-11-18' })
    expect(over).toMatchObject({ dental: { state: 'ended' }, drops: dropped })
    expect(over.dental?.pendingCover).toBeUndefined()
    const covers = coversOf(withPendingCovers(over.after, terms), 'dental', zone, 'grace')
    expect(covers).toMatchObject([{ startsOn: '2026-09-10', endsOn: '2026-11-18' }])
    const ends = move(planned(), { lastDay: '2026-11-30' })
    expect(ends).toMatchObject({ dental: { state: 'endscheduled' }, drops: dropped })
    expect(ends.told).toContain(sentence)
  })

  test('stays where a correction leaves it, without a line', () => {
    const stays = move(planned(), { firstDay: '2026-09-05', lastDay: '2026-12-20' })
    expect(stays).toMatchObject({ dental: { pendingCover: held(planned())?.pendingCover }, drops: [] })
    expect(stays.told).not.toContain(sentence)
  })

  test('for the start of a benefit goes with that, or is for the next boundary once that has come', () => {
    const wait = move(member(), { firstDay: '2026-11-28' }).after
    const user = accepted(changeCoverOf(wait, { name: 'dental', dependants: ['ada'] }, now, terms)).user
    const planOf = (firstDay: string) => {
      const { after } = move(user, { firstDay })
      return dateAt(held(after)?.pendingCover?.at ?? 0, zone)
    }
    expect(['2026-11-22', '2026-12-01', '2026-11-15'].map(planOf)).toEqual([
      '2026-11-22',
      '2026-12-01',
      '2026-12-01',
    ])
  })

  test('for the start of a benefit loses a child who is too old by the start that a correction gives', () => {
    const wait = move(member(), { firstDay: '2026-11-28' }).after
    const both = { name: 'dental', dependants: ['grace', 'bob'] }
    const user = accepted(changeCoverOf(wait, both, now, terms)).user
    const moved = move(user, { firstDay: '2026-12-01' })
    expect(moved).toMatchObject({ drops: [['member grace bob', 'member grace']] })
    expect(move(user, { firstDay: '2026-11-29' }).drops).toEqual([])
  })
})
