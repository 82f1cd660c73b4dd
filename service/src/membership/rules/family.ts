/**
 * Who of a family an enrolment covers, on which days, and at what price (contract §19). Pure; prices are read by
 * `catalogue/tiers.ts` alone.
 */
import { boundaryAfter, dateAt, dateOfAge, type Instant, startOfDate } from '../../calendar/calendar.ts'
import type { Benefit, Relationship } from '../../catalogue/model.ts'
import { type TierWorth, tierFor, worthOf } from '../../catalogue/tiers.ts'
import type { Dependant } from './dependant.ts'
import { because, type Refusal, type RefusalReason, refuse } from './refusal.ts'
import { type Covered, type Enrolment, hasLength } from './state.ts'
import type { Terms } from './terms.ts'

/** The days of a dependant in a benefit. */
export type Days = { readonly startsAt: Instant; readonly endsAt: Instant | undefined }

/** The days of a dependant's cover: those of the enrolment but for an own start and an own end. Without length: never covered. */
export function daysOf(enrolment: Enrolment, { startsAt: ownStart, end }: Covered): Days {
  const startsAt = Math.max(enrolment.startsAt, ownStart ?? enrolment.startsAt)
  const ends = [enrolment.endsAt, end?.at].filter(at => at !== undefined)
  return { startsAt, endsAt: ends.length === 0 ? undefined : Math.max(startsAt, Math.min(...ends)) }
}

/** Who is covered by an enrolment now, or from its start on; of one that is over, who was on its last day. */
export function coveredNow(enrolment: Enrolment): readonly Covered[] {
  const { covered = [], endsAt } = enrolment
  if (enrolment.state !== 'ended' || !hasLength(enrolment)) return covered.filter(({ isOver }) => !isOver)
  return covered.filter(one => {
    const days = daysOf(enrolment, one)
    return days.endsAt === endsAt && days.startsAt !== days.endsAt
  })
}

/** Who was, is or will be covered at an instant. */
export function coveredAt(enrolment: Enrolment, at: Instant): readonly Covered[] {
  return (enrolment.covered ?? []).filter(one => {
    const { startsAt, endsAt } = daysOf(enrolment, one)
    return startsAt <= at && (endsAt === undefined || at < endsAt)
  })
}

/** The end that an operator gave the cover of a dependant, which outlives what becomes of the enrolment. */
export function correctedCoverEnd(covered: Covered | undefined): Covered['end'] {
  return covered?.end?.reason === 'corrected' ? covered.end : undefined
}

/** The benefit by the terms whose prices hold for an enrolment at an instant, or by its newest ones. */
export function pricedTerms(
  terms: Pick<Terms, 'version'>,
  { benefit, version, tiersFrom }: Pick<Enrolment, 'benefit' | 'version' | 'tiersFrom'>,
  at: Instant = Number.POSITIVE_INFINITY,
): Benefit | undefined {
  const own = tiersFrom && tiersFrom.at <= at ? tiersFrom.version : version
  return terms.version(own).benefits.get(benefit)
}

/**
 * What an enrolment costs and pays: now, or at an instant. `undefined` where its catalogue no longer has the benefit, which cannot
 * be of one that was published.
 */
export function enrolmentWorth(
  terms: Pick<Terms, 'version'>,
  enrolment: Enrolment,
  at?: Instant,
): TierWorth | undefined {
  const benefit = pricedTerms(terms, enrolment, at)
  const people = at === undefined ? coveredNow(enrolment) : coveredAt(enrolment, at)
  return benefit && worthOf(benefit, people.map(relationshipOf))
}

function relationshipOf({ relationship }: { readonly relationship: Relationship }): Relationship {
  return relationship
}

/** Why a dependant may not be covered: the rule, in the word that a problem's `errors` carry. */
export type CoverRule =
  | 'no_family_cover'
  | 'relationship_not_covered'
  | 'one_spouse'
  | 'too_many_children'
  | 'too_old'
  | 'other_tier'

const ruleTexts: Readonly<Record<CoverRule, string>> = {
  no_family_cover: 'the benefit covers the member alone',
  relationship_not_covered: 'the benefit does not cover this relationship',
  one_spouse: 'a benefit covers one spouse or domestic partner',
  too_many_children: 'the benefit covers fewer children',
  too_old: 'a child must be below the age limit of the benefit on the first day of cover',
  other_tier: 'the benefit would cost something else; change who is covered first',
}

/** Somebody who would be covered, and whether they are already: the age of one who is counts no more. */
export type Candidate = Pick<Dependant, 'dependantid' | 'relationship' | 'dob'> & {
  readonly isCovered?: boolean
}

/**
 * The first rule that each of these people breaks if a benefit covers them together from an instant on; the first spouse and
 * the first children are those that may be covered.
 */
export function brokenRules(
  benefit: Benefit,
  people: readonly Candidate[],
  at: Instant,
  { zone }: Pick<Terms, 'zone'>,
): ReadonlyMap<string, CoverRule> {
  const { covers } = benefit
  const broken = new Map<string, CoverRule>()
  let spouses = 0
  let children = 0
  for (const { dependantid, relationship, dob, isCovered = false } of people) {
    const rule = (): CoverRule | undefined => {
      if (!covers) return 'no_family_cover'
      if (!covers[relationship]) return 'relationship_not_covered'
      if (relationship !== 'child') return ++spouses > 1 ? 'one_spouse' : undefined
      const { maxage = Number.POSITIVE_INFINITY, most = Number.POSITIVE_INFINITY } = covers.child ?? {}
      if (!isCovered && dateOfAge(dob, maxage) <= dateAt(at, zone)) return 'too_old'
      return ++children > most ? 'too_many_children' : undefined
    }
    const found = rule()
    if (found) broken.set(dependantid, found)
  }
  return broken
}

/** The refusal of people whom a benefit may not cover, each with its place in the request; `undefined`: all may be. */
export function refuseCover(
  broken: ReadonlyMap<string, CoverRule>,
  fieldOf: (dependantId: string) => string,
  /** The request itself makes them, so nobody knows their ids. */
  { isNew = false }: { readonly isNew?: boolean } = {},
): Refusal | undefined {
  const reasons = [...broken].map(([dependantid, rule]): RefusalReason => {
    const field = fieldOf(dependantid)
    return { ...because(field, rule, `${field}: ${ruleTexts[rule]}`), ...(!isNew && { dependantid }) }
  })
  return reasons.length > 0 ? refuse('dependant_not_eligible', reasons) : undefined
}

/**
 * When a child's cover ends by age: at the end of the period in which the child reaches the age, or of the present one where that is
 * over, because no cover is taken away for the past. `undefined` for others.
 */
export function ageEndOf(
  benefit: Benefit,
  { relationship, dob }: Pick<Dependant, 'relationship' | 'dob'>,
  from: Instant,
  { zone }: Pick<Terms, 'zone'>,
): Covered['end'] {
  const maxage = relationship === 'child' ? benefit.covers?.child?.maxage : undefined
  if (maxage === undefined) return undefined
  const birthday = startOfDate(dateOfAge(dob, maxage), zone)
  return { at: boundaryAfter(Math.max(birthday, from), zone), reason: 'endsatage' }
}

/** These people as covered by an enrolment from an instant on: with its start, or later. */
export function coveredFrom(
  benefit: Benefit,
  people: readonly Dependant[],
  { startsAt, isLater = false, terms }: { startsAt: Instant; isLater?: boolean; terms: Pick<Terms, 'zone'> },
): readonly Covered[] {
  return people.map(one => ({
    dependantId: one.dependantid,
    relationship: one.relationship,
    startsAt: isLater ? startsAt : undefined,
    end: ageEndOf(benefit, one, startsAt, terms),
    isOver: false,
  }))
}

/** The dependants of these ids, in their order; an id that is unknown is left out. */
export function namedDependants(terms: Pick<Terms, 'dependants'>, ids: readonly string[]): Dependant[] {
  if (ids.length === 0) return []
  const known = terms.dependants()
  return ids.flatMap(id => known.find(({ dependantid }) => dependantid === id) ?? [])
}

/** Those of these dependants whom a benefit may newly cover from an instant on. */
export function coverable(
  benefit: Benefit,
  ids: readonly string[],
  at: Instant,
  terms: Pick<Terms, 'dependants' | 'zone'>,
): Dependant[] {
  const people = namedDependants(terms, ids)
  const broken = brokenRules(benefit, people, at, terms)
  return people.filter(({ dependantid }) => !broken.has(dependantid))
}

/** Refuses ids that are none of the user's dependants, each with its place in the request; `undefined`: all are. */
export function refuseUnknownDependants(
  terms: Pick<Terms, 'dependants'>,
  ids: readonly string[],
  fieldOf: (index: number) => string,
): Refusal | undefined {
  const known = new Set(ids.length > 0 ? terms.dependants().map(({ dependantid }) => dependantid) : [])
  const reasons = ids.flatMap((id, index) =>
    known.has(id)
      ? []
      : [because(fieldOf(index), 'unknown', `${fieldOf(index)} must be a dependant of the user`)],
  )
  return reasons.length > 0 ? refuse('dependant_unknown', reasons) : undefined
}

/** The name of the tier of a benefit for these people; `undefined` for a benefit without tiers. */
export function tierName(benefit: Benefit | undefined, who: Iterable<Relationship>): string | undefined {
  return benefit?.tiers && tierFor(benefit.tiers, who)?.tier
}
