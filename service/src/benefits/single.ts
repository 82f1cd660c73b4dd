import type { Instant } from '../calendar/calendar.ts'
import type { Benefit, Offer } from '../catalogue/model.ts'
import { freeSlots, isBoundaryLocked } from '../membership/rules/boundary.ts'
import { completeEnrolment, eventsOfPick } from '../membership/rules/complete.ts'
import { openCover, withCover } from '../membership/rules/cover.ts'
import type { Dependant } from '../membership/rules/dependant.ts'
import {
  enrolmentOf,
  mergeConsents,
  newEnrolment,
  withEnrolment,
  withOwnEnd,
} from '../membership/rules/enrolments.ts'
import {
  brokenRules,
  namedDependants,
  refuseCover,
  refuseUnknownDependants,
} from '../membership/rules/family.ts'
import type { Changed } from '../membership/rules/intents.ts'
import { because, isRefusal, type Refusal, reasonsFor, refuse } from '../membership/rules/refusal.ts'
import {
  type Consent,
  type Enrolment,
  heldEnrolment,
  isInForce,
  isPending,
  lastClosed,
  type Raised,
  raise,
  type SwapPair,
  type User,
} from '../membership/rules/state.ts'
import { judgePick, offerOf, openBenefit, partnerOffer, type Terms } from '../membership/rules/terms.ts'

/** A change of one benefit, and the enrolment for the answer. */
export type SingleChange = Changed & { readonly enrolment: Enrolment }

/** The benefit that is asked for, and the consents that come with it. */
type EnrolRequest = {
  readonly name: string
  readonly consents: readonly Consent[]
  /** Whom it covers beside the member; absent: the member alone, and those of a benefit that waits stay. */
  readonly covered?: readonly string[] | undefined
}

/**
 * Enrols in one benefit now, in a free slot, or completes one that waits for a consent. A benefit that is already held
 * does not change. Refused: a benefit that the offer does not have or that does not admit the user, and an offer
 * without a free slot.
 */
export function enrolBenefitOf(
  user: User,
  request: EnrolRequest,
  now: Instant,
  terms: Terms,
): SingleChange | Refusal {
  const consents = mergeConsents(user.consents, request.consents)
  const agreed: User = consents === user.consents ? user : { ...user, consents, updatedAt: now }
  const made = enrolAgreed(agreed, request, now, terms)
  return isRefusal(made) ? made : withOthersCompleted(made, request, now, terms)
}

/** The same once the user has the consents. */
function enrolAgreed(user: User, request: EnrolRequest, now: Instant, terms: Terms): SingleChange | Refusal {
  const unknown = refuseUnknownDependants(terms, request.covered ?? [], fieldOfCovered)
  if (unknown) return unknown
  const held = heldEnrolment(user, request.name)
  if (held) return completeWith(user, { held, covered: request.covered }, now, terms)
  const pending = enrolmentOf(user, request.name, isPending)
  const opening = openingFor(user, request.name, now, terms)
  // A benefit that a pending swap brings never begins before it when its consent is given; one that a pending offer
  // change brings does where it can. Otherwise the consent is for the boundary.
  if (pending && request.consents.length > 0 && (pending.pendingBy === 'swap' || isRefusal(opening)))
    return { user, events: [], enrolment: pending }
  if (isRefusal(opening)) return opening
  const { benefit, offer, isFixed, startsAt } = opening
  const dependants = coveredBy(benefit, request.covered ?? [], startsAt, terms)
  if (isRefusal(dependants)) return dependants
  const kept = isSwapLocked(user, now, terms) ? user : withoutSwapOf(user, request.name)
  const fresh = { benefit, offer: offer.offer, isFixed, pickedAt: now, startsAt, dependants }
  const enrolment: Enrolment = { ...newEnrolment(user, terms, fresh), isSingle: true }
  const enrolled = withEnrolment({ ...kept, updatedAt: now }, enrolment)
  return {
    user: enrolled,
    events: [...eventsOfPick(enrolled, enrolment, now), ...droppedSwap(user, enrolled, now)],
    enrolment,
  }
}

const fieldOfCovered = (index: number) => `covered[0].dependants[${index}]`

/** The dependants of these ids. Refused: those whom the benefit may not cover from its start on. */
function coveredBy(
  benefit: Benefit,
  ids: readonly string[],
  startsAt: Instant,
  terms: Terms,
): readonly Dependant[] | Refusal {
  const people = namedDependants(terms, ids)
  const broken = brokenRules(benefit, people, startsAt, terms)
  return refuseCover(broken, id => fieldOfCovered(ids.indexOf(id))) ?? people
}

/** Completes a held benefit; one that waits covers those whom the request names from its start on. */
function completeWith(
  user: User,
  { held, covered }: { readonly held: Enrolment; readonly covered: readonly string[] | undefined },
  now: Instant,
  terms: Terms,
): SingleChange | Refusal {
  const benefit = openCover(held, terms) ?? openBenefit(terms, held.benefit)
  if (!covered || held.state !== 'actionrequired' || !benefit)
    return completeEnrolment(user, held, now, terms)
  const startsAt = Math.max(now, held.startsAt)
  const people = coveredBy(benefit, covered, startsAt, terms)
  if (isRefusal(people)) return people
  const naming = withCover(held, covered, startsAt, terms)
  return completeEnrolment(withEnrolment({ ...user, updatedAt: now }, naming), naming, now, terms)
}

/** A consent counts whichever benefit it is sent with: others that waited for it begin, too. */
function withOthersCompleted(
  made: SingleChange,
  { consents }: EnrolRequest,
  now: Instant,
  terms: Terms,
): SingleChange {
  let { user } = made
  const events = [...made.events]
  for (const { name } of consents) {
    const held = heldEnrolment(user, name)
    if (!held) continue
    const completed = completeEnrolment(user, held, now, terms)
    user = completed.user
    events.push(...completed.events)
  }
  return { ...made, user, events }
}

type OfTheOffer = { readonly offer: Offer; readonly benefit: Benefit; readonly isFixed: boolean }

/** A benefit of the user's offer. */
function ofTheOffer(user: User, name: string, terms: Terms): OfTheOffer | undefined {
  const offer = offerOf(terms, user)
  const benefit = openBenefit(terms, name)
  const isFixed = offer?.fixed.includes(name) ?? false
  return offer && benefit && (isFixed || offer.selectable.includes(name))
    ? { offer, benefit, isFixed }
    : undefined
}

/** The offer and the start for a benefit that is not held yet, or why it is refused. */
type Opening = OfTheOffer & { readonly startsAt: Instant }

function openingFor(user: User, name: string, now: Instant, terms: Terms): Opening | Refusal {
  const found = ofTheOffer(user, name, terms)
  if (!found) return notOfTheOffer()
  const { offer, benefit, isFixed } = found
  const startsAt = Math.max(now, user.offer?.since ?? now)
  const reasons = reasonsFor('name', judgePick(terms, benefit, startsAt, offer.offer).reasons)
  if (reasons.length > 0) return refuse('ineligible', reasons)
  // A benefit that is enrolled now need not come by the pending swap: its slot is free for it, and the benefit that
  // the swap would have removed stays.
  if (!isFixed && freeSlots(withoutSwapOf(user, name), offer, terms) === 0) return refuse('slots_exceeded')
  return { offer, benefit, isFixed, startsAt }
}

/**
 * Whether enrolling would have an effect, now or from the start of the membership, if the required consents were given:
 * a benefit that is not held begins, one that waits for a consent is completed.
 */
export function mayEnrol(user: User, name: string, now: Instant, terms: Terms): boolean {
  const held = heldEnrolment(user, name)
  if (held) return held.state === 'actionrequired' && openBenefit(terms, name) !== undefined
  return !isRefusal(openingFor(user, name, now, terms))
}

/** The user without the pair of a pending swap that would bring this benefit; other pairs stay. */
function withoutSwapOf(user: User, benefit: string): User {
  return withoutPairs(user, pair => pair.add === benefit)
}

function withoutPairs(user: User, goes: (pair: SwapPair) => boolean): User {
  if (!user.swap?.pairs.some(goes)) return user
  const pairs = user.swap.pairs.filter(pair => !goes(pair))
  return { ...user, swap: pairs.length > 0 ? { ...user.swap, pairs } : undefined }
}

function droppedSwap(before: User, after: User, now: Instant): Raised[] {
  return before.swap && !after.swap ? [raise(after, 'user_benefits_swap_cancelled', now)] : []
}

function isSwapLocked(user: User, now: Instant, terms: Terms): boolean {
  return user.swap !== undefined && isBoundaryLocked(user, user.swap.at, { now, terms })
}

function notOfTheOffer(): Refusal {
  return refuse('ineligible', [because('name', 'not_selectable', 'name must be a benefit of the offer')])
}

/**
 * Declines one benefit of the user's offer that is not in force: a pick or a fixed benefit that waits is closed, as are the pairs
 * of a pending swap that name it; one
 * that a pending swap would bring is taken out of that swap, and one that a pending offer change would bring stays out.
 * Refused: a benefit in force, one that is neither held nor part of the offer nor about to come, and changing what a
 * pending change brings in its locked hours.
 */
export function declineBenefitOf(
  user: User,
  name: string,
  now: Instant,
  terms: Terms,
): SingleChange | Refusal {
  const held = heldEnrolment(user, name)
  if (held && isInForce(held)) return refuse('benefit_in_force')
  if (held) {
    // The pairs that name it end in the locked hours, too: left in the swap, one would take the benefit away if it is asked for again.
    const left = withoutPairs(user, ({ add, remove }) => add === name || remove === name)
    const declined = decline(left, declinedFrom(held, { user, now, terms }), now)
    return { ...declined, events: [...declined.events, ...droppedSwap(user, declined.user, now)] }
  }
  if (user.swap?.pairs.some(pair => pair.add === name)) return declineSwap(user, name, now, terms)
  const pending = enrolmentOf(user, name, isPending)
  if (pending) {
    if (isBoundaryLocked(user, pending.startsAt, { now, terms })) return refuse('change_locked')
    return decline(user, declinedFrom(pending, { user, now, terms }), now)
  }
  const past = lastClosed(user, name)
  if (past?.state === 'declined') return { user, events: [], enrolment: past }
  const found = ofTheOffer(user, name, terms)
  return found ? decline(user, declinedRow(user, found, { now, terms }), now) : notOfTheOffer()
}

/** The enrolment as declined. If a pending offer change would bring the benefit, the row says so: see `applyOfferChange`. */
function declinedFrom(
  enrolment: Enrolment,
  { user, now, terms }: { user: User; now: Instant; terms: Terms },
): Enrolment {
  const { pendingOffer } = user
  const comes = pendingOffer && partnerOffer(terms, pendingOffer.name)?.fixed.includes(enrolment.benefit)
  return {
    ...enrolment,
    state: 'declined',
    pendingBy: comes ? 'offer' : undefined,
    startsAt: comes ? pendingOffer.at : enrolment.startsAt,
    endsAt: now,
    closeReason: 'declined',
  }
}

function declinedRow(
  user: User,
  { offer, benefit, isFixed }: OfTheOffer,
  { now, terms }: { now: Instant; terms: Terms },
): Enrolment {
  const fresh = { benefit, offer: offer.offer, isFixed, pickedAt: now, startsAt: now }
  const enrolment = newEnrolment(user, terms, fresh)
  return { ...withOwnEnd(enrolment, undefined), state: 'declined', endsAt: now, closeReason: 'declined' }
}

/** Declining a benefit that a swap would bring keeps the benefit that the swap would have removed; other pairs stay. */
function declineSwap(user: User, name: string, now: Instant, terms: Terms): SingleChange | Refusal {
  const offer = offerOf(terms, user)
  const benefit = openBenefit(terms, name)
  if (!offer || !benefit) return notOfTheOffer()
  if (isSwapLocked(user, now, terms)) return refuse('change_locked')
  const isFixed = offer.fixed.includes(name)
  const unswapped = withoutSwapOf(user, name)
  const declined = decline(unswapped, declinedRow(user, { offer, benefit, isFixed }, { now, terms }), now)
  return { ...declined, events: [...declined.events, ...droppedSwap(user, declined.user, now)] }
}

function decline(user: User, enrolment: Enrolment, now: Instant): SingleChange {
  const declined = withEnrolment({ ...user, updatedAt: now }, enrolment)
  return { user: declined, events: [raise(declined, 'benefit_declined', now, enrolment.benefit)], enrolment }
}
