import type { Instant } from '../calendar/calendar.ts'
import { mergeConsents, newEnrolment, withEnrolment } from '../membership/enrolments.ts'
import { type Raised, raise } from '../membership/events.ts'
import type { Changed } from '../membership/intents.ts'
import { because, type Refusal, reasonsFor, refuse } from '../membership/refusal.ts'
import {
  type Consent,
  type Enrolment,
  heldEnrolment,
  isInForce,
  isLive,
  type User,
} from '../membership/state.ts'
import { hasConsent, judgePick, offerOf, openBenefit, slotsTaken, type Terms } from '../membership/terms.ts'

/** A change of one benefit, and the enrolment that answers it. */
export type SingleChange = Changed & { readonly enrolment: Enrolment }

/**
 * Enrols in one benefit now, in a free slot, or completes one that waits for a consent. What is held already stays
 * as it is. Refused: a benefit that the offer does not have or that is not admitted, and a full offer.
 */
export const enrolBenefitOf = (
  user: User,
  wish: { name: string; consents: readonly Consent[] },
  now: Instant,
  terms: Terms,
): SingleChange | Refusal => {
  const consenting: User = { ...user, consents: mergeConsents(user.consents, wish.consents) }
  const held = heldEnrolment(user, wish.name)
  if (held) return completed(consenting, held, now, terms)
  const planned = user.enrolments.find(
    enrolment => enrolment.benefit === wish.name && isLive(enrolment) && enrolment.plannedBy === 'swap',
  )
  if (planned && wish.consents.length > 0) {
    return { user: { ...consenting, updatedAt: now }, events: [], enrolment: planned }
  }
  const offer = offerOf(terms, user)
  const benefit = openBenefit(terms, wish.name)
  const isFixed = offer?.fixed.includes(wish.name) ?? false
  if (!offer || !benefit || !(isFixed || offer.selectable.includes(wish.name))) {
    return refuse('ineligible', [because('name', 'not_selectable', 'name must be a benefit of the offer')])
  }
  const startsAt = Math.max(now, user.offer?.since ?? now)
  const verdict = judgePick(terms, benefit, startsAt, offer.offer)
  if (!verdict.admitted) return refuse('ineligible', reasonsFor('name', verdict.reasons))
  if (!isFixed && slotsTaken(user) + addsFromFreeSlots(user) + 1 > offer.slots)
    return refuse('slots_exceeded')
  const fresh = { benefit, offer: offer.offer, isFixed, pickedAt: now, startsAt }
  const enrolment = newEnrolment(consenting, terms, fresh)
  const enrolled = withEnrolment({ ...consenting, updatedAt: now }, enrolment)
  return { user: enrolled, events: eventsOf(enrolled, enrolment, now), enrolment }
}

/** Slots that a pending swap counts on. */
const addsFromFreeSlots = (user: User): number =>
  user.swap?.pairs.filter(pair => pair.add !== undefined && pair.remove === undefined).length ?? 0

const eventsOf = (user: User, enrolment: Enrolment, now: Instant): Raised[] => {
  if (isInForce(enrolment)) return [raise(user, 'benefit_enrollment_successful', now, enrolment.benefit)]
  if (enrolment.state !== 'actionrequired') return []
  return [raise(user, 'benefit_action_required', now, enrolment.benefit)]
}

const completed = (user: User, held: Enrolment, now: Instant, terms: Terms): SingleChange => {
  const benefit = openBenefit(terms, held.benefit)
  if (held.state !== 'actionrequired' || !benefit || !hasConsent(user, benefit)) {
    return { user, events: [], enrolment: held }
  }
  const startsAt = Math.max(now, held.startsAt)
  const state = startsAt <= now ? 'enrolled' : 'scheduled'
  const enrolment: Enrolment = { ...held, state, startsAt, actionDueAt: undefined }
  const changed = withEnrolment({ ...user, updatedAt: now }, enrolment)
  return { user: changed, events: eventsOf(changed, enrolment, now), enrolment }
}

/**
 * Declines one benefit of the user's offer that is not in force; a pick or a fixed benefit that waits is closed.
 * Refused: what is in force, and what is neither held nor open to the user.
 */
export const declineBenefitOf = (
  user: User,
  name: string,
  now: Instant,
  terms: Terms,
): SingleChange | Refusal => {
  const held = heldEnrolment(user, name)
  if (held && isInForce(held)) return refuse('benefit_in_force')
  if (held) {
    const declined: Enrolment = { ...held, state: 'declined', endsAt: now, closeReason: 'declined' }
    return decline(user, declined, now)
  }
  const past = user.enrolments.findLast(enrolment => enrolment.benefit === name)
  if (past?.state === 'declined') return { user, events: [], enrolment: past }
  const offer = offerOf(terms, user)
  const benefit = openBenefit(terms, name)
  if (!offer || !benefit || !(offer.fixed.includes(name) || offer.selectable.includes(name))) {
    return refuse('ineligible', [because('name', 'not_selectable', 'name must be a benefit of the offer')])
  }
  const fresh = {
    benefit,
    offer: offer.offer,
    isFixed: offer.fixed.includes(name),
    pickedAt: now,
    startsAt: now,
  }
  const enrolment = newEnrolment(user, terms, fresh)
  return decline(
    user,
    { ...enrolment, state: 'declined', endsAt: now, ownEnd: undefined, closeReason: 'declined' },
    now,
  )
}

const decline = (user: User, enrolment: Enrolment, now: Instant): SingleChange => {
  const declined = withEnrolment({ ...user, updatedAt: now }, enrolment)
  return { user: declined, events: [raise(declined, 'benefit_declined', now, enrolment.benefit)], enrolment }
}
