import type { BodyOf, setDependants } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { Benefit } from '../catalogue/model.ts'
import { coversAhead, openCover, pendingPeople } from '../membership/rules/cover.ts'
import type { Dependant } from '../membership/rules/dependant.ts'
import {
  ageEndOf,
  brokenRules,
  type CoverRule,
  coveredNow,
  daysOf,
  pricedTerms,
  refuseCover,
  tierName,
} from '../membership/rules/family.ts'
import type { Changed } from '../membership/rules/intents.ts'
import { because, isRefusal, type Refusal, type RefusalReason, refuse } from '../membership/rules/refusal.ts'
import { type Covered, type Enrolment, isLive, raise, type User } from '../membership/rules/state.ts'
import { openBenefit, type Terms } from '../membership/rules/terms.ts'

/** The people of a request: an entry without an id is new. */
type Given = BodyOf<typeof setDependants>['dependants']

/** A new version of the list, and the user with it; the list is part of the account's data. */
export type NewList = Changed & { readonly dependants: readonly Dependant[] }

/**
 * Replaces the list of dependants; the same list again changes nothing. A corrected birth date moves the end by age of somebody
 * who is covered, never into the past. Refused: a version that is not the newest, an id that is not the user's, leaving out
 * somebody who is or will be covered, and what the rules of a benefit would not allow of them, or at another price.
 */
export function setDependantsOf(
  user: User,
  { version, dependants: given }: { readonly version?: number | undefined; readonly dependants: Given },
  now: Instant,
  terms: Terms,
): NewList | Refusal {
  const before = terms.dependants()
  if (version !== undefined && version !== (user.dependantsVersion ?? 0)) return refuse('version_conflict')
  const dependants = namedIn(given, before, terms)
  if (isRefusal(dependants)) return dependants
  if (JSON.stringify(dependants) === JSON.stringify(before)) return { user, events: [], dependants }
  const leftOut = before
    .filter(one => !dependants.some(({ dependantid }) => dependantid === one.dependantid))
    .filter(one => coversAhead(user, one, terms))
  if (leftOut.length > 0)
    return refuse(
      'dependant_covered',
      leftOut.map(({ dependantid }) => ({
        ...because('dependants', 'covered', 'dependants leaves out somebody who is or will be covered'),
        dependantid,
      })),
    )
  const listed = withList(user, now)
  const enrolments: Enrolment[] = []
  for (const enrolment of listed.enrolments) {
    const refit = refitted(enrolment, { before, dependants, now, terms })
    if (isRefusal(refit)) return refit
    enrolments.push(refit)
  }
  const refused = refusePlanned(user, { dependants, terms })
  if (refused) return refused
  const changed: User = { ...listed, enrolments }
  return { user: changed, events: [raise(changed, 'user_update_successful', now)], dependants }
}

/** The user with one more version of the list. */
export function withList(user: User, now: Instant): User {
  return { ...user, updatedAt: now, dependantsVersion: (user.dependantsVersion ?? 0) + 1 }
}

/** Where a dependant stands in a request. */
function placeOf(dependants: readonly Dependant[]): (id: string) => string {
  return id => `dependants[${dependants.findIndex(({ dependantid }) => dependantid === id)}]`
}

function namedIn(given: Given, before: readonly Dependant[], terms: Terms): Dependant[] | Refusal {
  const known = new Set(before.map(({ dependantid }) => dependantid))
  const unknown: RefusalReason[] = []
  const dependants = given.map(({ dependantid, ...one }, index): Dependant => {
    if (dependantid && !known.delete(dependantid))
      unknown.push(
        because(
          `dependants[${index}].dependantid`,
          'unknown',
          'dependantid must be one of the user, and stand once',
        ),
      )
    return dependantOf(dependantid || terms.newId(), one)
  })
  return unknown.length > 0 ? refuse('dependant_unknown', unknown) : dependants
}

/** A dependant as it is kept: what is not given is left out. */
export function dependantOf(
  dependantid: string,
  { relationship, firstname, lastname, dob, gender }: Omit<Given[number], 'dependantid'>,
): Dependant {
  return {
    ...{ dependantid, relationship, firstname, lastname, dob: dob as Dependant['dob'] },
    ...(gender && { gender }),
  }
}

type Lists = {
  readonly before: readonly Dependant[]
  readonly dependants: readonly Dependant[]
  readonly now: Instant
  readonly terms: Terms
}

/** The enrolment with the relationships and ends by age of the new list. */
function refitted(enrolment: Enrolment, { before, dependants, now, terms }: Lists): Enrolment | Refusal {
  const { covered = [] } = enrolment
  const benefit = pricedTerms(terms, enrolment)
  const isOpen = (one: Covered) => isLive(enrolment) && !one.isOver
  const open = covered.filter(isOpen)
  if (!isLive(enrolment) || !benefit || (open.length === 0 && !enrolment.pendingCover)) return enrolment
  const nowOf = (id: string) => dependants.find(({ dependantid }) => dependantid === id)
  const people = open.flatMap(one => nowOf(one.dependantId) ?? [])
  const broken = new Map<string, CoverRule>()
  for (const one of open) {
    const person = nowOf(one.dependantId)
    const was = before.find(({ dependantid }) => dependantid === one.dependantId)
    if (!person || (person.dob === was?.dob && person.relationship === was.relationship)) continue
    // As if this person were covered anew on the same first day, with all others as they are.
    const others = people.filter(other => other !== person).map(other => ({ ...other, isCovered: true }))
    const rules = brokenRules(benefit, [...others, person], daysOf(enrolment, one).startsAt, terms)
    const rule = rules.get(one.dependantId)
    if (rule) broken.set(one.dependantId, rule)
  }
  const refused = refuseCover(
    broken.size > 0 ? broken : movedTier(benefit, open, dependants),
    placeOf(dependants),
  )
  if (refused) return refused
  const { pendingCover } = enrolment
  return {
    ...enrolment,
    pendingCover: pendingCover && {
      ...pendingCover,
      people: pendingCover.people.map(one => ({
        ...one,
        relationship: nowOf(one.dependantId)?.relationship ?? one.relationship,
      })),
    },
    covered: covered.map(one => {
      const person = nowOf(one.dependantId)
      if (!person || !isOpen(one)) return one
      const { startsAt } = daysOf(enrolment, one)
      const end =
        one.end === undefined || one.end.reason === 'endsatage'
          ? ageEndOf(benefit, person, Math.max(startsAt, now), terms)
          : one.end
      return { ...one, relationship: person.relationship, end }
    }),
  }
}

/** Those whose new relationship would give people whom a benefit covers together another tier. */
function movedTier(
  benefit: Benefit,
  people: readonly Pick<Covered, 'dependantId' | 'relationship'>[],
  dependants: readonly Dependant[],
): ReadonlyMap<string, CoverRule> {
  const changed = people.map(one => ({
    ...one,
    is:
      dependants.find(({ dependantid }) => dependantid === one.dependantId)?.relationship ?? one.relationship,
  }))
  const was = changed.map(({ relationship }) => relationship)
  const is = changed.map(one => one.is)
  if (tierName(benefit, was) === tierName(benefit, is)) return new Map()
  return new Map(
    changed.flatMap(one =>
      one.is === one.relationship ? [] : [[one.dependantId, 'other_tier' satisfies CoverRule] as const],
    ),
  )
}

/** Refuses what would break the rules of a change that is still to come, or would give it another price. */
function refusePlanned(
  user: User,
  { dependants, terms }: Pick<Lists, 'dependants' | 'terms'>,
): Refusal | undefined {
  const changes = user.enrolments.filter(isLive).flatMap(one =>
    one.pendingCover
      ? [
          {
            benefit: openCover(one, terms),
            at: one.pendingCover.at,
            planned: pendingPeople(one),
            ids: one.pendingCover.people.map(({ dependantId }) => dependantId),
            held: new Set(coveredNow(one).map(({ dependantId }) => dependantId)),
          },
        ]
      : [],
  )
  const { swap } = user
  const swapped = (swap?.pairs ?? []).flatMap(({ add, covered: ids }) =>
    swap && add && ids
      ? // The tier of what it brings was compared with that of its pending row.
        [{ benefit: openBenefit(terms, add), at: swap.at, ids, planned: [], held: new Set<string>() }]
      : [],
  )
  for (const { benefit, at, ids, planned, held } of [...changes, ...swapped]) {
    if (!benefit) continue
    const people = dependants
      .filter(({ dependantid }) => ids.includes(dependantid))
      .map(one => ({ ...one, isCovered: held.has(one.dependantid) }))
    const broken = brokenRules(benefit, people, at, terms)
    const refused = refuseCover(
      broken.size > 0 ? broken : movedTier(benefit, planned, dependants),
      placeOf(dependants),
    )
    if (refused) return refused
  }
  return undefined
}
