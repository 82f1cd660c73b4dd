import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cancelAccount, createAccount } from '../../accounts/lifecycle.ts'
import { reinstateAccount } from '../../accounts/reinstate.ts'
import { addDays, boundaryAfter, DAY_MS, dateAt, type Instant, startOfDate } from '../../calendar/calendar.ts'
import { parseCatalogue } from '../../catalogue/parse.ts'
import { changeOfferOf } from '../../offers/change.ts'
import { applyDueChanges, projectPendingChanges } from './apply-due.ts'
import { dropMisfitSwap } from './boundary.ts'
import { correctEnrolment, movable, voidable } from './corrections.ts'
import { linesOf } from './history.ts'
import type { Changed } from './intents.ts'
import { isRefusal, type Refusal } from './refusal.ts'
import { type Enrolment, isHeld, newUser, type User } from './state.ts'
import type { Terms } from './terms.ts'

const parsed = parseCatalogue(
  readFileSync(new URL('../../../assets/demo-catalogue.yaml', import.meta.url), 'utf8'),
)
if (!parsed.ok) throw new Error('the demo catalogue is broken')
const { catalogue } = parsed
const offers = [...catalogue.offers.values()]
const began = Date.parse('2027-02-10T15:00:00Z')

let ids = 0
function termsIn(zone: string): Terms {
  return {
    zone,
    today: { version: 1, catalogue },
    version: () => catalogue,
    partnerOffers: undefined,
    dependants: () => [],
    residence: () => ({ dob: '1961-03-14', state: 'FL', zipcode: '33101' }),
    newId: () => `id-${ids++}`,
  }
}

/**
 * The user as the executor leaves it after a change; throws when the database or the history would refuse the change.
 */
function written(before: User, changed: Changed, at: Instant, terms: Terms): User {
  const after =
    changed.user.status === 'active'
      ? projectPendingChanges(changed.user, terms, { user: before, at })
      : changed.user
  linesOf({ at, before, after, events: changed.events }, 'operator', 'correction: void')
  checkRows(after)
  return after
}

function later(user: User, at: Instant, terms: Terms): User {
  const steps = applyDueChanges(user, at, terms)
  for (const step of steps) {
    linesOf(step, 'schedule', 'due')
    checkRows(step.after)
  }
  return steps.at(-1)?.after ?? user
}

/** Checks the constraints of the table `enrolments`. */
function checkRows({ enrolments }: User): void {
  const windows = enrolments.filter(
    ({ state }) => !['withdrawn', 'declined', 'rejected', 'void'].includes(state),
  )
  for (const one of windows) {
    const { startsAt, endsAt = Number.POSITIVE_INFINITY, state } = one
    expect(endsAt).toBeGreaterThanOrEqual(startsAt)
    if (state === 'ended' || state === 'endscheduled') expect(one.endsAt).toBeDefined()
    const clashes = windows.filter(
      other =>
        other !== one &&
        other.benefit === one.benefit &&
        other.startsAt < endsAt &&
        startsAt < (other.endsAt ?? Number.POSITIVE_INFINITY) &&
        startsAt < endsAt,
    )
    expect(clashes).toEqual([])
  }
}

function picksOf(user: User): number {
  return user.enrolments.filter(one => isHeld(one) && !one.isFixed).length
}

function ofLife<T extends Changed>(result: T | Refusal, user: User): Changed {
  return isRefusal(result) ? { user, events: [] } : result
}

type Step =
  | { readonly do: 'wait'; readonly hours: number }
  | { readonly do: 'cancel'; readonly isNow: boolean }
  | { readonly do: 'return' }
  | { readonly do: 'offer'; readonly offer: number }
  | { readonly do: 'swap'; readonly add: number; readonly remove: number }
  | { readonly do: 'void'; readonly nth: number }
  | {
      readonly do: 'move'
      readonly nth: number
      readonly first: number | undefined
      readonly last: number | undefined
    }
const days = fc.option(fc.integer({ min: -60, max: 60 }), { nil: undefined })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 30, 200, 800) }),
  fc.record({ do: fc.constant('cancel' as const), isNow: fc.boolean() }),
  fc.record({ do: fc.constant('return' as const) }),
  fc.record({ do: fc.constant('offer' as const), offer: fc.nat(offers.length - 1) }),
  fc.record({ do: fc.constant('swap' as const), add: fc.nat(6), remove: fc.nat(6) }),
  fc.record({ do: fc.constant('void' as const), nth: fc.nat(8) }),
  fc.record({ do: fc.constant('move' as const), nth: fc.nat(8), first: days, last: days }),
  fc.record({ do: fc.constant('move' as const), nth: fc.nat(8), first: days, last: fc.constant(undefined) }),
)

/** Makes a correction, and checks everything that every correction promises. */
function correct(user: User, one: Step & { do: 'void' | 'move' }, now: Instant, terms: Terms): User {
  const rows = one.do === 'void' ? voidable(user) : movable(user)
  const wrong = rows[one.nth % Math.max(1, rows.length)]
  if (!wrong) return user
  const day = (ahead: number | undefined) =>
    ahead === undefined ? undefined : addDays(dateAt(now, terms.zone), ahead)
  const dates = one.do === 'move' ? { firstDay: day(one.first), lastDay: day(one.last) } : {}
  const changed = correctEnrolment(user, { kind: one.do, enrolmentId: wrong.id, ...dates }, now, terms)
  if (isRefusal(changed)) {
    expect(one.do).toBe('move')
    expect(changed.reasons).toHaveLength(1)
    return user
  }
  const after = written(user, changed, now, terms)
  const [told, ...more] = changed.events
  expect(told).toMatchObject({ eventname: 'benefit_enrollment_corrected', benefit: wrong.benefit, at: now })
  expect(more.filter(({ eventname }) => eventname !== 'user_benefits_swap_cancelled')).toEqual([])
  // A swap that no longer fits is dropped with the correction.
  expect(dropMisfitSwap(after, now, terms).events).toEqual([])
  expect(picksOf(after)).toBeLessThanOrEqual(picksOf(user))
  const kept = after.enrolments.find(({ id }) => id === wrong.id)
  expect(kept).toMatchObject({ state: 'void', startsAt: wrong.startsAt })
  expect(kept?.endsAt).toBe(wrong.endsAt)
  const right = after.enrolments.filter(({ corrects }) => corrects === wrong.id)
  expect(right).toHaveLength(one.do === 'void' ? 0 : 1)
  return after
}

function live(user: User, one: Step, now: Instant, terms: Terms): User {
  if (one.do === 'void' || one.do === 'move') return correct(user, one, now, terms)
  if (one.do === 'return') return written(user, ofLife(reinstateAccount(user, now, terms), user), now, terms)
  if (user.status !== 'active' || one.do === 'wait') return user
  if (one.do === 'cancel') {
    const effective = one.isNow ? 'immediate' : 'endofperiod'
    return written(user, cancelAccount(user, { effective, reason: 'voluntary' }, now, terms), now, terms)
  }
  if (one.do === 'offer') {
    const wish = { offername: offers[one.offer]?.offer ?? '', action: 'auto', effective: 'auto' } as const
    return written(user, ofLife(changeOfferOf(user, wish, now, terms), user), now, terms)
  }
  const names = offers.find(({ offer }) => offer === user.offer?.name)?.selectable ?? []
  const nameAt = (place: number) => names[place % names.length]
  const pair = { add: nameAt(one.add), remove: nameAt(one.remove) }
  if (user.cancel || pair.add === pair.remove) return user
  const at = boundaryAfter(Math.max(now, user.offer?.since ?? now), terms.zone)
  return written(user, { user: { ...user, swap: { pairs: [pair], at } }, events: [] }, now, terms)
}

test('whatever is corrected: windows never overlap, picks never grow, the old row stays, the partner hears once', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('America/New_York', 'Pacific/Kiritimati', 'America/St_Johns'),
      fc.nat(offers.length - 1),
      fc.constantFrom(0, 0, 3, 40),
      fc.array(step, { minLength: 5, maxLength: 25 }),
      (zone, number, startsIn, steps) => {
        const terms = termsIn(zone)
        const offer = offers[number]
        if (!offer) throw new Error('no such offer')
        const nobody = newUser({ partnerId: 'p', serviceId: 's', userid: 'u', at: began })
        const start = {
          offer,
          consents: [],
          startsAt: began + startsIn * DAY_MS,
          picks: offer.selectable.slice(0, offer.slots),
        }
        const created = createAccount(nobody, start, began, terms)
        let user = isRefusal(created) ? nobody : written(nobody, created, began, terms)
        let now = began
        for (const one of steps) {
          now += one.do === 'wait' ? one.hours * 3_600_000 : 60_000
          user = live(later(user, now, terms), one, now, terms)
        }
        later(user, now + 200 * DAY_MS, terms)
      },
    ),
    { numRuns: 200 },
  )
})

const terms = termsIn('America/New_York')
function day(date: `${number}-${number}-${number}`) {
  return startOfDate(date, terms.zone)
}

/** A member since February 10 with two picks in force; `of` returns the enrolment of a benefit that counts. */
function member(): { user: User; of: (user: User, benefit: string) => Enrolment } {
  const offer = offers.find(({ selectable, slots }) => slots >= 2 && selectable.length >= 2)
  if (!offer) throw new Error('no such offer')
  const nobody = newUser({ partnerId: 'p', serviceId: 's', userid: 'u', at: began })
  const start = { offer, consents: [], startsAt: began, picks: offer.selectable.slice(0, 2) }
  const created = createAccount(nobody, start, began, terms)
  if (isRefusal(created)) throw new Error(created.refused)
  const user = written(nobody, created, began, terms)
  const of = ({ enrolments }: User, benefit: string) => {
    const found = enrolments.filter(one => one.benefit === benefit && one.state !== 'void').at(-1)
    if (!found) throw new Error(`no ${benefit}`)
    return found
  }
  return { user, of }
}

function codeOf(result: Changed | Refusal): string {
  return isRefusal(result) ? (result.reasons[0]?.code ?? '') : 'done'
}

test('a date moves to what it should have been, and the state follows it', () => {
  const { user, of } = member()
  const wrong = user.enrolments.find(({ state }) => state === 'enrolled')
  if (!wrong) throw new Error('nothing in force')
  const now = began + 3 * DAY_MS
  const move = (
    from: User,
    dates: { firstDay?: `${number}-${number}-${number}`; lastDay?: `${number}-${number}-${number}` },
  ) => correctEnrolment(from, { kind: 'move', enrolmentId: of(from, wrong.benefit).id, ...dates }, now, terms)
  const after = (result: Changed | Refusal, from: User) => {
    if (isRefusal(result)) throw new Error(result.reasons[0]?.text.en)
    return written(from, result, now, terms)
  }
  const earlier = after(move(user, { firstDay: '2027-02-01' }), user)
  expect(of(earlier, wrong.benefit)).toMatchObject({ state: 'enrolled', startsAt: day('2027-02-01') })
  const ahead = after(move(earlier, { firstDay: '2027-03-01' }), earlier)
  expect(of(ahead, wrong.benefit)).toMatchObject({ state: 'scheduled', startsAt: day('2027-03-01') })
  const back = after(move(ahead, { firstDay: '2027-02-11', lastDay: '2027-02-20' }), ahead)
  expect(of(back, wrong.benefit)).toMatchObject({ state: 'endscheduled', endsAt: day('2027-02-21') })
  const over = after(move(back, { lastDay: '2027-02-11' }), back)
  expect(of(over, wrong.benefit)).toMatchObject({ state: 'ended', endsAt: day('2027-02-12') })
  expect(over.enrolments.filter(({ state }) => state === 'void')).toHaveLength(4)
  const ended = later(back, day('2027-02-22'), terms)
  expect(of(ended, wrong.benefit)).toMatchObject({ state: 'ended', closeReason: 'corrected' })
})

test('what cannot be is refused with its reason', () => {
  const { user, of } = member()
  const benefit = user.enrolments.find(({ state }) => state === 'enrolled')?.benefit ?? ''
  const { id } = of(user, benefit)
  const now = began + 3 * DAY_MS
  const move = (dates: object, from = user, enrolmentId = id) =>
    codeOf(correctEnrolment(from, { kind: 'move', enrolmentId, ...dates }, now, terms))
  expect(move({}, user, 'another')).toBe('unknown')
  expect(move({})).toBe('nothing_moves')
  expect(move({ firstDay: '2025-02-10' })).toBe('too_early')
  const movedIn = (one: Enrolment) => (one.id === id ? { ...one, startsAt: day('2019-05-01') } : one)
  const imported = { ...user, enrolments: user.enrolments.map(movedIn) }
  expect(move({ firstDay: '2019-06-01' }, imported)).toBe('done')
  expect(move({ firstDay: '2027-03-02' })).toBe('too_late')
  expect(move({ lastDay: '2027-02-09' })).toBe('no_day_left')
  const cancelled = written(
    user,
    cancelAccount(user, { effective: 'endofperiod', reason: 'voluntary' }, now, terms),
    now,
    terms,
  )
  expect(move({ lastDay: '2027-04-30' }, cancelled)).toBe('nothing_moves')
  const gone = later(cancelled, day('2027-03-01'), terms)
  const wasOn = gone.enrolments.find(one => one.benefit === benefit)?.id ?? ''
  const then = day('2027-03-20')
  const moveLater = (dates: object) =>
    codeOf(correctEnrolment(gone, { kind: 'move', enrolmentId: wasOn, ...dates }, then, terms))
  expect(moveLater({ lastDay: '2027-03-30' })).toBe('is_over')
  expect(moveLater({ lastDay: '2027-03-10' })).toBe('after_cancel')
  expect(moveLater({ lastDay: '2027-02-20' })).toBe('done')
  const voided = correctEnrolment(gone, { kind: 'void', enrolmentId: wasOn }, then, terms)
  expect(codeOf(voided)).toBe('done')
  if (!isRefusal(voided))
    expect(codeOf(correctEnrolment(voided.user, { kind: 'void', enrolmentId: wasOn }, then, terms))).toBe(
      'unknown',
    )
})

test('a start moves back a year at most, however often', () => {
  const { user, of } = member()
  const { benefit } = user.enrolments.find(({ state }) => state === 'enrolled') ?? of(user, '')
  const now = began + 3 * DAY_MS
  const moveTo = (from: User, firstDay: `${number}-${number}-${number}`) =>
    correctEnrolment(from, { kind: 'move', enrolmentId: of(from, benefit).id, firstDay }, now, terms)
  const moved = moveTo(user, '2026-02-12')
  if (isRefusal(moved)) throw new Error(moved.refused)
  expect(codeOf(moveTo(written(user, moved, now, terms), '2026-02-01'))).toBe('too_early')
})

test('a reinstatement names what an operator has ended before the cancel', () => {
  const { user, of } = member()
  const { benefit } = user.enrolments.find(({ state }) => state === 'enrolled') ?? of(user, '')
  const [then, now] = [began + 10 * DAY_MS, began + 12 * DAY_MS]
  const cancel = cancelAccount(user, { effective: 'immediate', reason: 'voluntary' }, then, terms)
  let gone = written(user, cancel, then, terms)
  for (const lastDay of ['2027-02-16', '2027-02-14'] as const) {
    const dates = { enrolmentId: of(gone, benefit).id, lastDay }
    const made = correctEnrolment(gone, { kind: 'move', ...dates }, now, terms)
    if (isRefusal(made)) throw new Error(made.refused)
    gone = written(gone, made, now, terms)
  }
  expect(reinstateAccount(gone, now, terms)).toMatchObject({
    notRestored: [{ name: benefit, code: 'cover_ended' }],
  })
})
