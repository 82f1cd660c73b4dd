/** Who an enrolment covers from an instant on (contract §19): a change of it, and ends by age; `family.ts` has the rules of cover. */
import type { Instant } from '../../calendar/calendar.ts'
import type { Benefit } from '../../catalogue/model.ts'
import type { Dependant } from './dependant.ts'
import { withEnrolment } from './enrolments.ts'
import {
  ageEndOf,
  brokenRules,
  correctedCoverEnd,
  coveredFrom,
  coveredNow,
  type Days,
  daysOf,
  namedDependants,
  pricedTerms,
} from './family.ts'
import {
  type Covered,
  type Enrolment,
  isInForce,
  isLive,
  type PendingCover,
  type Raised,
  raise,
  type User,
} from './state.ts'
import { openBenefit, type Terms } from './terms.ts'

/**
 * The terms by which a change of cover of an enrolment is decided: those of the enrolment, or of the newest catalogue where these have
 * no tiers. `undefined`: neither has any.
 */
export function openCover(enrolment: Enrolment, terms: Terms): Benefit | undefined {
  const held = pricedTerms(terms, enrolment)
  if (held?.tiers) return held
  const open = openBenefit(terms, enrolment.benefit)
  return open?.tiers && open
}

/**
 * The enrolment with these people covered from an instant on, and nobody else; the terms stay. Who may not be covered by then is left
 * out, and the rest holds; without any tiers nothing changes. A change that was pending is over.
 */
export function withCover(
  enrolment: Enrolment,
  ids: readonly string[],
  at: Instant,
  terms: Terms,
): Enrolment {
  const { pendingCover: _, ...settled } = enrolment
  const benefit = openCover(enrolment, terms)
  if (!benefit) return settled
  const held = new Set(coveredNow(enrolment).map(({ dependantId }) => dependantId))
  const people = namedDependants(terms, ids).map(one => ({ ...one, isCovered: held.has(one.dependantid) }))
  const broken = brokenRules(benefit, people, at, terms)
  // Whom it covers already may have been moved in outside the rules, and keeps the cover.
  const kept = people.filter(({ dependantid, isCovered }) => isCovered || !broken.has(dependantid))
  const stays = ({ dependantId }: Covered) => kept.some(one => one.dependantid === dependantId)
  const hasBegun = isInForce(enrolment)
  const { covered = [], startsAt } = enrolment
  const before = hasBegun
    ? covered.map(
        (one): Covered =>
          one.isOver || stays(one) ? one : { ...one, end: { at, reason: 'coverchanged' }, isOver: true },
      )
    : covered.filter(stays)
  const fresh = coveredFrom(
    benefit,
    kept.filter(({ isCovered }) => !isCovered),
    // What waits for an action begins whenever that is done, and its people with it.
    {
      startsAt: Math.max(at, startsAt),
      isLater: enrolment.state !== 'actionrequired' && at > startsAt,
      terms,
    },
  )
  const isNewTerms = !pricedTerms(terms, enrolment)?.tiers
  return {
    ...settled,
    covered: [...before, ...fresh],
    ...(isNewTerms && { tiersFrom: { version: terms.today.version, at } }),
  }
}

/**
 * Applies what is due for those who are covered, the last of all at an instant: ends by age, then pending changes of cover. One
 * event for a benefit in force whose people have changed.
 */
export function applyCovers(user: User, at: Instant, terms: Terms): Changed {
  let changed = user
  const events: Raised[] = []
  for (const enrolment of user.enrolments) {
    const { covered, pendingCover } = enrolment
    if ((!covered && !pendingCover) || !isLive(enrolment)) continue
    const isEnded = ({ isOver, end }: Covered) => !isOver && end !== undefined && end.at <= at
    const people = pendingPeople(enrolment)
    const aged = covered?.some(isEnded)
      ? {
          ...enrolment,
          covered: covered.map(one => (isEnded(one) ? { ...one, isOver: true } : one)),
          // Once it is over, their cover does not show any more that it was to end before the change.
          ...(pendingCover && { pendingCover: { ...pendingCover, people } }),
        }
      : enrolment
    const isDue = pendingCover !== undefined && pendingCover.at <= at && isInForce(enrolment)
    const after = isDue
      ? withCover(
          aged,
          people.map(({ dependantId }) => dependantId),
          at,
          terms,
        )
      : aged
    if (after === enrolment) continue
    changed = withEnrolment(changed, after)
    if (isInForce(after) && !coverTheSame(enrolment, after))
      events.push(raise(changed, 'benefit_cover_changed', at, enrolment.benefit))
  }
  return { user: changed, events }
}

type Changed = { readonly user: User; readonly events: readonly Raised[] }

function coverTheSame(a: Enrolment, b: Enrolment): boolean {
  const idsOf = (one: Enrolment) => coveredNow(one).map(({ dependantId }) => dependantId)
  return isSameSet(idsOf(a), idsOf(b))
}

/** Whether two lists of ids name the same, each once. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(id => b.includes(id))
}

/**
 * The earliest instant at which something about those whom an enrolment covers falls due. A pending change of what waits for an
 * action takes effect when that begins.
 */
export function coverDueAt({ covered, pendingCover, state, startsAt }: Enrolment): Instant | undefined {
  if (!covered && !pendingCover) return undefined
  let due = pendingCover && state !== 'actionrequired' ? Math.max(pendingCover.at, startsAt) : undefined
  for (const { isOver, end } of covered ?? [])
    if (!isOver && end && (due === undefined || end.at < due)) due = end.at
  return due
}

/** Who will be covered by a pending change, for all who show or apply it: without those whose time is over by then. */
export function pendingPeople(enrolment: Enrolment): PendingCover['people'] {
  const { pendingCover } = enrolment
  if (!pendingCover) return []
  const at = Math.max(pendingCover.at, enrolment.startsAt)
  const ending = coveredNow(enrolment).filter(one => {
    const { endsAt } = daysOf(enrolment, one)
    return endsAt !== undefined && endsAt <= at
  })
  return pendingCover.people.filter(({ dependantId }) => !ending.some(one => one.dependantId === dependantId))
}

/** Whether a dependant is covered, or will be by a change that is still to come. */
export function coversAhead(user: User, dependant: Dependant, terms: Terms): boolean {
  const { dependantid } = dependant
  const isSwappedIn = user.swap?.pairs.some(({ covered }) => covered?.includes(dependantid)) ?? false
  return isSwappedIn || coversOfDependant(user, dependant, terms).length > 0
}

/** One benefit in which a dependant is or will be covered. */
export type DependantCover = Days & {
  readonly benefit: string
  readonly state: 'scheduled' | 'covered' | 'endscheduled'
}

/**
 * The benefits in which a dependant is or will be covered, with what a pending change of cover brings or ends, and the end by age of
 * those whom it brings.
 */
export function coversOfDependant(user: User, dependant: Dependant, terms: Terms): DependantCover[] {
  const { dependantid: dependantId } = dependant
  return user.enrolments.filter(isLive).flatMap((enrolment): DependantCover[] => {
    const { benefit, pendingCover } = enrolment
    const at = pendingCover && Math.max(pendingCover.at, enrolment.startsAt)
    const stays = pendingCover?.people.some(one => one.dependantId === dependantId) ?? true
    const now = coveredNow(enrolment).find(one => one.dependantId === dependantId)
    if (!now) {
      const open = openCover(enrolment, terms)
      if (at === undefined || !stays || !open) return []
      return coveredFrom(open, [dependant], { startsAt: at, isLater: true, terms }).map(one => ({
        ...{ benefit, state: 'scheduled', ...daysOf(enrolment, one) },
      }))
    }
    const { startsAt, endsAt: dated } = daysOf(enrolment, now)
    const endsAt = stays ? dated : Math.min(at ?? NEVER, dated ?? NEVER)
    if (!isInForce(enrolment)) return [{ benefit, state: 'scheduled', startsAt, endsAt }]
    return [{ benefit, state: endsAt === undefined ? 'covered' : 'endscheduled', startsAt, endsAt }]
  })
}

const NEVER: Instant = Number.POSITIVE_INFINITY

/**
 * The enrolment that begins later than was planned, without the children who have grown too old by its first day and those whom an
 * operator's end has reached by then, and with the ends of the others.
 */
export function refitCover(enrolment: Enrolment, terms: Terms): Enrolment {
  const { covered, startsAt } = enrolment
  const benefit = pricedTerms(terms, enrolment)
  if (!covered || !benefit) return enrolment
  const people = namedDependants(
    terms,
    coveredNow(enrolment).map(({ dependantId }) => dependantId),
  )
  const broken = brokenRules(benefit, people, startsAt, terms)
  return {
    ...enrolment,
    covered: covered.flatMap(one => {
      const person = people.find(({ dependantid }) => dependantid === one.dependantId)
      if (one.isOver || !person) return [one]
      const given = correctedCoverEnd(one)
      if (broken.has(one.dependantId) || (given && given.at <= startsAt)) return []
      return [{ ...one, end: given ?? ageEndOf(benefit, person, startsAt, terms) }]
    }),
  }
}
