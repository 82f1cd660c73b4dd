import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setDependantsOf } from '../../service/src/accounts/dependants.ts'
import { cancelAccount, createAccount } from '../../service/src/accounts/lifecycle.ts'
import { reinstateAccount } from '../../service/src/accounts/reinstate.ts'
import { changeCoverOf } from '../../service/src/benefits/cover.ts'
import { enrolBenefitOf } from '../../service/src/benefits/single.ts'
import { swapBenefitsOf } from '../../service/src/benefits/swap.ts'
import {
  addDays,
  DAY_MS,
  dateAt,
  formatTimestamp,
  type Instant,
} from '../../service/src/calendar/calendar.ts'
import { parseCatalogue } from '../../service/src/catalogue/parse.ts'
import {
  applyDueChanges,
  dueAt,
  projectPendingChanges,
} from '../../service/src/membership/rules/apply-due.ts'
import { correctCover, movableCovers } from '../../service/src/membership/rules/correct-cover.ts'
import { correctEnrolment, movable, voidable } from '../../service/src/membership/rules/corrections.ts'
import type { Dependant } from '../../service/src/membership/rules/dependant.ts'
import { coveredAt, coveredNow, daysOf } from '../../service/src/membership/rules/family.ts'
import { linesOf } from '../../service/src/membership/rules/history.ts'
import type { Changed } from '../../service/src/membership/rules/intents.ts'
import { isRefusal, type Refusal } from '../../service/src/membership/rules/refusal.ts'
import {
  heldEnrolment,
  isInForce,
  isLive,
  newUser,
  type User,
} from '../../service/src/membership/rules/state.ts'
import type { Terms } from '../../service/src/membership/rules/terms.ts'
import { viewUser } from '../../service/src/membership/rules/view.ts'
import { changeOfferOf } from '../../service/src/offers/change.ts'
import { timesOf } from '../long.ts'
import { fileOf } from './catalogue.ts'
import { familyCatalogue } from './family-catalogue.ts'

const parsed = parseCatalogue(fileOf(familyCatalogue))
if (!parsed.ok) throw new Error('the catalogue is broken')
const { catalogue } = parsed
const began = Date.parse('2026-10-20T16:00:00Z')
const names = ['dental', 'hospital', 'eyes', 'gym', 'solo'] as const
const offers = ['bare', 'low', 'top'] as const
const NEVER = Number.POSITIVE_INFINITY

/** Ten people: spouses, small children, children about to reach an age limit, one of them on February 29. */
const pool: readonly Omit<Dependant, 'dependantid'>[] = [
  ['spouse', '1988-02-29'],
  ['domesticpartner', '1990-01-01'],
  ['child', '2019-05-04'],
  ['child', '2000-11-15'],
  ['child', '2000-12-31'],
  ['child', '2001-01-01'],
  ['child', '2009-03-01'],
  ['child', '2001-02-28'],
].map(([relationship, dob], index) => ({
  relationship: relationship as Dependant['relationship'],
  dob: dob as Dependant['dob'],
  firstname: `F${index}`,
  lastname: 'L',
}))

let ids = 0
const newId = () => `id-${ids++}`

/** One life: the user, its list, whom anybody ever named for a benefit, and who was seen covered when. */
class Life {
  now: Instant = began
  people: readonly Dependant[] = []
  readonly named = new Set<string>()
  readonly seen = new Map<string, { at: Instant; benefit: string; covered: string }>()
  user: User
  readonly terms: Terms = {
    zone: 'America/New_York',
    today: { version: 1, catalogue },
    version: () => catalogue,
    partnerOffers: undefined,
    dependants: () => this.people,
    residence: () => ({ dob: '1961-03-14', state: 'FL', zipcode: '33101' }),
    newId,
  }

  constructor(covering: readonly (readonly number[])[]) {
    this.people = pool.map((one, index) => ({ dependantid: `d${index}`, ...one }))
    const fresh = newUser({ partnerId: 'p', serviceId: 's', userid: 'u', at: began })
    const offer = catalogue.offers.get('low')
    if (!offer) throw new Error('no offer')
    const family = this.people.map((dependant, index) => ({
      dependant,
      benefits: ['dental', 'hospital'].filter((_, nth) => covering[nth]?.includes(index)),
    }))
    const start = { offer, picks: ['hospital'], consents: [], startsAt: began }
    const made = createAccount(fresh, { ...start, family }, began, this.terms)
    const alone = isRefusal(made) ? createAccount(fresh, { ...start, family: [] }, began, this.terms) : made
    if (isRefusal(alone)) throw new Error('no member')
    if (!isRefusal(made))
      for (const { dependant, benefits } of family)
        for (const name of benefits) this.named.add(`${name} ${dependant.dependantid}`)
    this.user = fresh
    this.write(alone, fresh)
  }

  name(benefit: string, people: readonly string[]): void {
    for (const id of people) this.named.add(`${benefit} ${id}`)
  }

  /** Takes a change as the executor does; a refusal changes nothing. */
  write<Made extends Changed>(made: Made | Refusal, before: User = this.user): Made | undefined {
    if (isRefusal(made)) return undefined
    const after =
      made.user.status === 'active'
        ? projectPendingChanges(made.user, this.terms, { user: before, at: this.now })
        : made.user
    linesOf({ at: this.now, before, after, events: made.events }, 'partner', 'cover')
    this.user = after
    this.check()
    return made
  }

  /** What was seen of a benefit before is corrected. */
  correct(benefit: string, made: Changed | Refusal): void {
    if (this.write(made))
      for (const [key, seen] of this.seen) if (seen.benefit === benefit) this.seen.delete(key)
  }

  later(at: Instant): User {
    return applyDueChanges(this.user, at, this.terms).at(-1)?.after ?? this.user
  }

  wait(to: Instant): void {
    for (const step of applyDueChanges(this.user, to, this.terms)) {
      linesOf(step, 'schedule', 'due')
      this.user = step.after
      this.now = step.at
      this.check()
    }
    this.now = to
    this.check()
  }

  check(): void {
    const { enrolments } = this.user
    expect(dueAt(this.user) ?? NEVER).toBeGreaterThan(this.now)
    const rows = enrolments.flatMap(enrolment =>
      (isLive(enrolment) || enrolment.state === 'ended' ? (enrolment.covered ?? []) : []).map(one => ({
        ...{ one, enrolment },
        ...daysOf(enrolment, one),
      })),
    )
    for (const { one, enrolment, startsAt, endsAt = NEVER } of rows) {
      const { benefit } = enrolment
      expect(this.named).toContain(`${benefit} ${one.dependantId}`)
      expect(startsAt).toBeGreaterThanOrEqual(enrolment.startsAt)
      expect(endsAt).toBeLessThanOrEqual(Math.max(enrolment.endsAt ?? NEVER, startsAt))
      const twice = rows.filter(
        other =>
          other.one !== one &&
          other.enrolment.benefit === benefit &&
          other.one.dependantId === one.dependantId &&
          other.startsAt < endsAt &&
          startsAt < (other.endsAt ?? NEVER) &&
          startsAt < endsAt,
      )
      expect(twice).toEqual([])
    }
    const shown = viewUser(this.user, this.terms, 'en').benefits
    for (const { id, benefit, state, pendingCover, startsAt } of enrolments) {
      if (!pendingCover) continue
      // What is shown as planned comes true, if nothing else ends the benefit before.
      const plan = shown.find(one => one.name === benefit && one.state === state)?.pendingcover
      expect(plan?.effectiveattimestamp).toBe(formatTimestamp(Math.max(pendingCover.at, startsAt)))
      if (state === 'actionrequired') continue
      const then = heldEnrolment(this.later(Math.max(pendingCover.at, startsAt)), benefit)
      if (then?.id === id) expect(idsOf(coveredNow(then))).toEqual([...(plan?.dependants ?? [])].sort())
    }
    for (const held of enrolments.filter(isInForce)) {
      const people = coveredNow(held)
      const children = people.filter(({ relationship }) => relationship === 'child')
      expect(people.length - children.length).toBeLessThanOrEqual(1)
      // The tier shown is that of those who are covered at this instant, and of nobody else.
      const tier = held.benefit === 'solo' ? undefined : tierOf(coveredAt(held, this.now))
      const view = shown.find(
        ({ name, state }) => name === held.benefit && ['enrolled', 'endscheduled'].includes(state),
      )
      expect(view?.tier).toBe(tier)
      // Of several changes at one instant the last one counts.
      const { benefit } = held
      this.seen.set(`${this.now} ${benefit}`, { at: this.now, benefit, covered: idsOf(people).join() })
    }
  }
}

/** By the four tiers of the catalogue. */
function tierOf(people: readonly { readonly relationship: string }[]): string {
  const hasChild = people.some(({ relationship }) => relationship === 'child')
  const hasSpouse = people.some(({ relationship }) => relationship !== 'child')
  if (hasSpouse) return hasChild ? 'family' : 'mespouse'
  return hasChild ? 'mechildren' : 'me'
}

function idsOf(people: readonly { readonly dependantId: string }[]): string[] {
  return people.map(({ dependantId }) => dependantId).sort()
}

const who = fc.uniqueArray(fc.nat(pool.length - 1), { maxLength: 3 })
const step = fc.oneof(
  fc.record({ do: fc.constant('wait' as const), days: fc.constantFrom(1, 9, 12, 31, 40) }),
  fc.record({ do: fc.constant('cover' as const), name: fc.constantFrom(...names), who }),
  fc.record({
    do: fc.constant('cover' as const),
    name: fc.constantFrom('dental' as const, 'hospital' as const),
    who,
  }),
  fc.record({ do: fc.constant('callOff' as const), name: fc.constantFrom(...names) }),
  fc.record({
    do: fc.constant('enrol' as const),
    name: fc.constantFrom(...names),
    who,
    agrees: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('swap' as const),
    add: fc.constantFrom(...names),
    remove: fc.constantFrom(...names),
    who,
  }),
  fc.record({ do: fc.constant('offer' as const), offer: fc.constantFrom(...offers), isNow: fc.boolean() }),
  fc.record({ do: fc.constant('cancel' as const), isNow: fc.boolean() }),
  fc.record({ do: fc.constant('return' as const) }),
  fc.record({
    do: fc.constant('list' as const),
    nth: fc.nat(pool.length - 1),
    months: fc.integer({ min: -14, max: 14 }),
  }),
  fc.record({ do: fc.constant('move' as const), nth: fc.nat(6), first: fc.integer({ min: -40, max: 40 }) }),
  fc.record({ do: fc.constant('void' as const), nth: fc.nat(20) }),
  fc.record({
    do: fc.constant('moveDependant' as const),
    nth: fc.nat(6),
    which: fc.constantFrom('firstDay' as const, 'lastDay' as const),
    days: fc.integer({ min: -60, max: 20 }),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

function act(life: Life, one: Step): void {
  const { user, now, terms } = life
  const people = 'who' in one ? one.who.map(index => life.people[index]?.dependantid ?? '') : []
  switch (one.do) {
    case 'wait':
      life.wait(now + one.days * DAY_MS)
      return
    case 'cover':
    case 'callOff': {
      const dependants = one.do === 'cover' ? people : undefined
      const preview = changeCoverOf(user, { name: one.name, dependants }, now, terms)
      if (isRefusal(preview)) return
      life.name(one.name, people)
      life.write(preview)
      const held = heldEnrolment(life.user, one.name)
      if (!held || held.state === 'actionrequired' || user.status !== 'active') return
      // What was answered comes true, if nothing else ends the benefit before.
      const then = heldEnrolment(life.later(preview.effectiveAt), one.name)
      if (!then || then.id !== held.id) return
      expect(idsOf(coveredNow(then))).toEqual([...preview.after.dependants].sort())
      return
    }
    case 'enrol': {
      const consents =
        one.agrees && one.name === 'eyes'
          ? [{ name: 'eyes', version: 'v1', agreedAt: now, locale: 'en' as const }]
          : []
      if (user.status !== 'active') return
      const made = enrolBenefitOf(user, { name: one.name, consents, covered: people }, now, terms)
      if (!isRefusal(made)) life.name(one.name, people)
      life.write(made)
      return
    }
    case 'swap': {
      if (user.status !== 'active') return
      const covered = [{ name: one.add, dependants: people }]
      const made = swapBenefitsOf(user, { add: [one.add], remove: [one.remove], covered }, now, terms)
      if (!isRefusal(made)) life.name(one.add, people)
      life.write(made)
      return
    }
    case 'offer':
      if (user.status !== 'active') return
      life.write(
        changeOfferOf(
          user,
          { offername: one.offer, action: 'auto', effective: one.isNow ? 'immediate' : 'nextperiod' },
          now,
          terms,
        ),
      )
      return
    case 'cancel':
      life.write(
        cancelAccount(
          user,
          { effective: one.isNow ? 'immediate' : 'endofperiod', reason: 'voluntary' },
          now,
          terms,
        ),
      )
      return
    case 'return':
      life.write(reinstateAccount(user, now, terms))
      return
    case 'list': {
      const given = life.people.map((person, index) =>
        index === one.nth ? { ...person, dob: addDays(person.dob, one.months * 30) } : person,
      )
      const made = setDependantsOf(user, { dependants: given as never }, now, terms)
      if (isRefusal(made)) return
      life.people = made.dependants
      life.write(made)
      return
    }
    case 'move': {
      const rows = movable(user)
      const wrong = rows[one.nth % Math.max(1, rows.length)]
      if (!wrong) return
      const firstDay = addDays(dateAt(now, terms.zone), one.first)
      const correction = { kind: 'move' as const, enrolmentId: wrong.id, firstDay }
      life.correct(wrong.benefit, correctEnrolment(user, correction, now, terms))
      return
    }
    case 'void': {
      const wrong = voidable(user)[one.nth]
      if (!wrong) return
      const correction = { kind: 'void' as const, enrolmentId: wrong.id }
      life.correct(wrong.benefit, correctEnrolment(user, correction, now, terms))
      return
    }
    case 'moveDependant': {
      const rows = movableCovers(user)
      const wrong = rows[one.nth % Math.max(1, rows.length)]
      if (!wrong) return
      const { enrolment, covered } = wrong
      const day = { [one.which]: addDays(dateAt(now, terms.zone), one.days) }
      const correction = { enrolmentId: enrolment.id, dependantId: covered.dependantId, ...day }
      life.correct(enrolment.benefit, correctCover(user, correction, now, terms))
      return
    }
  }
}

test('whatever is done in whatever order: nobody is covered twice or unnamed, the tier is that of those covered, previews come true, and the past stays', () => {
  fc.assert(
    fc.property(fc.tuple(who, who), fc.array(step, { maxLength: 30 }), (covering, steps) => {
      const life = new Life(covering)
      for (const one of steps) act(life, one)
      life.wait(life.now + 40 * DAY_MS)
      // Each day of the past is told by the rows of today as it was seen then.
      for (const { at, benefit, covered } of life.seen.values()) {
        const held = life.user.enrolments.filter(
          one =>
            one.benefit === benefit &&
            (isInForce(one) || one.state === 'ended') &&
            one.startsAt <= at &&
            at < (one.endsAt ?? NEVER),
        )
        if (held.length === 1 && held[0]) expect(idsOf(coveredAt(held[0], at)).join()).toBe(covered)
      }
    }),
    {
      numRuns: timesOf(150, 20_000),
      // Found here: an own end before the boundary, a pending change whose benefit begins on another day since, and one that names
      // somebody whose own end comes before it.
      examples: [
        [
          [[], [0]],
          [
            { do: 'moveDependant', nth: 0, which: 'lastDay', days: 0 },
            { do: 'callOff', name: 'hospital' },
          ],
        ],
        [
          [[0], []],
          [
            { do: 'cover', name: 'dental', who: [] },
            { do: 'move', nth: 0, first: 1 },
            { do: 'cover', name: 'dental', who: [] },
          ],
        ],
        [
          [[0, 7], []],
          [
            { do: 'moveDependant', nth: 1, which: 'lastDay', days: 0 },
            { do: 'cover', name: 'dental', who: [7] },
          ],
        ],
      ],
    },
  )
})
