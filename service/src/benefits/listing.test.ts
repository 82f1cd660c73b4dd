import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundaryAfter, DAY_MS, type Instant } from '../calendar/calendar.ts'
import { parseCatalogue } from '../catalogue/parse.ts'
import { applyDueChanges, dueAt, projectPendingChanges } from '../membership/rules/apply-due.ts'
import { newUser, type User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
import { listBenefits, listedUntil, sharedStateOf } from './listing.ts'

const parsed = parseCatalogue(
  readFileSync(new URL('../../assets/demo-catalogue.yaml', import.meta.url), 'utf8'),
)
if (!parsed.ok) throw new Error('the demo catalogue is broken')
const { catalogue } = parsed
const offers = [...catalogue.offers.values()]

const zones = ['America/New_York', 'Pacific/Kiritimati', 'America/St_Johns'] as const
const began = Date.parse('2027-02-10T15:00:00Z')

let ids = 0
function termsIn(zone: string, residents = true): Terms {
  return {
    zone,
    today: { version: 1, catalogue },
    version: () => catalogue,
    partnerOffers: undefined,
    dependants: () => [],
    residence: () => (residents ? { dob: '1961-03-14', state: 'FL', zipcode: '33101' } : undefined),
    newId: () => `id-${ids++}`,
  }
}

type Life = {
  readonly zone: string
  readonly offer: number
  readonly picks: readonly number[]
  readonly startsIn: number
  readonly nextOffer: number | undefined
  readonly swap: { readonly add: number; readonly remove: number } | undefined
  readonly isCancelled: boolean
}
const life: fc.Arbitrary<Life> = fc.record({
  zone: fc.constantFrom(...zones),
  offer: fc.nat(offers.length - 1),
  picks: fc.uniqueArray(fc.nat(6), { maxLength: 3 }),
  startsIn: fc.constantFrom(0, 0, 3, 40),
  nextOffer: fc.option(fc.nat(offers.length - 1), { nil: undefined }),
  swap: fc.option(fc.record({ add: fc.nat(6), remove: fc.nat(6) }), { nil: undefined }),
  isCancelled: fc.boolean(),
})

/** An account made at `began`, with pending changes. */
function userOf({ offer: number, picks, startsIn, nextOffer, swap, isCancelled }: Life, terms: Terms): User {
  const offer = offers[number]
  if (!offer) throw new Error('no such offer')
  const since = began + startsIn * DAY_MS
  const boundary = boundaryAfter(since, terms.zone)
  const nameAt = (place: number) => offer.selectable[place % offer.selectable.length] ?? ''
  const names = [...offer.fixed, ...new Set(picks.map(nameAt))]
  const user: User = {
    ...newUser({ partnerId: 'p', serviceId: 's', userid: 'u', at: began }),
    status: 'active',
    offer: { name: offer.offer, since, version: 1, inForce: startsIn === 0, admits: true },
    pendingOffer:
      nextOffer === undefined || nextOffer === number
        ? undefined
        : { name: offers[nextOffer]?.offer ?? '', at: boundary },
    swap: swap && { pairs: [{ add: nameAt(swap.add), remove: nameAt(swap.remove) }], at: boundary },
    cancel: isCancelled ? { at: boundary, requestedAt: began, reason: 'voluntary' } : undefined,
    enrolments: names.map((benefit, place) => ({
      id: `e${place}`,
      benefit,
      offer: offer.offer,
      isFixed: offer.fixed.includes(benefit),
      state: startsIn === 0 ? ('enrolled' as const) : ('scheduled' as const),
      pendingBy: undefined,
      version: 1,
      pickedAt: began,
      startsAt: since,
      endsAt: undefined,
      ownEnd: undefined,
      actionDueAt: undefined,
      isSingle: false,
      closeReason: undefined,
    })),
  }
  return projectPendingChanges(user, terms, { user, at: began })
}

test('a list stays as it is until the instant that is told of it', () => {
  const instants = fc.tuple(
    fc.nat(75 * DAY_MS),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  )
  fc.assert(
    fc.property(
      life,
      instants,
      fc.constantFrom('', ...offers.map(({ offer }) => offer)),
      (made, [after, share], offername) => {
        const terms = termsIn(made.zone)
        const now = began + after
        const fresh = userOf(made, terms)
        const user = applyDueChanges(fresh, now, terms).at(-1)?.after ?? fresh
        const asked = { userid: 'u', age: 65, state: 'FL' as const, zipcode: '33101', offername }
        const at = (instant: Instant) => listBenefits({ user, terms, now: instant }, asked)
        const until = listedUntil({ user, terms, now })
        expect(until).toBeGreaterThan(now)
        expect(until).toBeLessThanOrEqual(dueAt(user) ?? until)
        const listed = at(now)
        expect(at(now + Math.floor((until - now) * share))).toEqual(listed)
        expect(at(until - 1)).toEqual(listed)
      },
    ),
    { numRuns: 600 },
  )
})

/** The member as somebody else, who joined and picked at other times, and agreed to other things. */
function asSomebodyElse(user: User, earlierMs: number): User {
  const { offer } = user
  return {
    ...user,
    serviceId: 'other',
    userid: 'other',
    createdAt: 1,
    updatedAt: 2,
    prefillCount: 7,
    offer: offer && { ...offer, since: offer.since - earlierMs },
    enrolments: user.enrolments.map((one, place) => ({
      ...one,
      id: `other-${9 - place}`,
      pickedAt: one.pickedAt - earlierMs * (9 - place),
      startsAt: one.startsAt - earlierMs,
    })),
    consents: [{ name: 'dental', version: '1', agreedAt: 3, locale: 'es' }],
  }
}

test('members whose states share a name get the same list, whenever they joined', () => {
  let shared = 0
  fc.assert(
    fc.property(life, fc.nat(75 * DAY_MS), fc.nat(400 * DAY_MS), (made, after, earlierMs) => {
      const terms = termsIn(made.zone)
      const now = began + after
      const fresh = userOf(made, terms)
      const user = applyDueChanges(fresh, now, terms).at(-1)?.after ?? fresh
      const name = sharedStateOf(user, now)
      if (name === undefined) return
      shared += 1
      const other = asSomebodyElse(user, earlierMs)
      expect(sharedStateOf(other, now)).toBe(name)
      const listedTo = (one: User) =>
        listBenefits({ user: one, terms, now }, { age: 65, state: 'FL', zipcode: '33101' })
      expect(listedTo(other)).toEqual(listedTo(user))
      expect(listedUntil({ user: other, terms, now })).toBe(listedUntil({ user, terms, now }))
    }),
    { numRuns: 1000 },
  )
  expect(shared).toBeGreaterThan(100)
})

test('who has something pending, or waits, shares a list with nobody', () => {
  const terms = termsIn(zones[0])
  const plain = { zone: zones[0], offer: 0, picks: [0], startsIn: 0, nextOffer: undefined, swap: undefined }
  const nameOf = (changes: Partial<Life>) =>
    sharedStateOf(userOf({ ...plain, isCancelled: false, ...changes }, terms), began)
  expect(nameOf({})).toBeDefined()
  expect(nameOf({ offer: 1 })).not.toBe(nameOf({}))
  expect(nameOf({ picks: [1] })).not.toBe(nameOf({}))
  expect(nameOf({ isCancelled: true })).toBeUndefined()
  expect(nameOf({ startsIn: 3 })).toBeUndefined()
  expect(nameOf({ nextOffer: 1 })).toBeUndefined()
  expect(nameOf({ swap: { add: 1, remove: 0 } })).toBeUndefined()
})

test('200 benefits are listed at most', () => {
  const [benefit] = [...catalogue.benefits.values()]
  const [offer] = offers
  if (!benefit || !offer) throw new Error('the demo catalogue is empty')
  const names = Array.from({ length: 201 }, (_, index) => `b${index}`)
  const large = {
    ...catalogue,
    benefits: new Map(names.map(name => [name, { ...benefit, name, rules: [] }])),
    offers: new Map([[offer.offer, { ...offer, fixed: [], selectable: names, rules: [] }]]),
  }
  const terms = { ...termsIn('America/New_York'), today: { version: 1, catalogue: large } }
  const user = newUser({ partnerId: 'p', serviceId: 's', userid: 'u', at: began })
  const asked = { userid: 'u', age: 40, state: 'FL' as const, zipcode: '33101', offername: '' }
  expect(listBenefits({ user, terms, now: began }, asked)).toHaveLength(200)
})
