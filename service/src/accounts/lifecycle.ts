import type { CancelReason } from '@benefit-enrolment/contract'
import { boundaryAfter, type Instant } from '../calendar/calendar.ts'
import type { Benefit, Offer } from '../catalogue/model.ts'
import type { Dependant } from '../membership/rules/dependant.ts'
import {
  closed,
  correctedEndOf,
  endByCorrection,
  mergeConsents,
  newEnrolment,
  withAgeEnd,
  withEnrolment,
  withOwnEnd,
} from '../membership/rules/enrolments.ts'
import { brokenRules, refuseCover } from '../membership/rules/family.ts'
import { applyCancel, type Changed } from '../membership/rules/intents.ts'
import { because, type Refusal, type RefusalReason, reasonsFor, refuse } from '../membership/rules/refusal.ts'
import {
  type Consent,
  type Enrolment,
  isHeld,
  isInForce,
  newUser,
  type Raised,
  raise,
  type User,
} from '../membership/rules/state.ts'
import {
  heldTerms,
  isAdmittedToOwnOffer,
  isAvailable,
  judgeOfferAt,
  judgePick,
  openBenefit,
  type Terms,
} from '../membership/rules/terms.ts'

/** The data with which a membership starts. */
export type Start = {
  readonly offer: Offer
  readonly picks: readonly string[]
  readonly consents: readonly Consent[]
  readonly startsAt: Instant
  /** The list of dependants, who stand in the data of the account, and what covers each; absent: there is none. */
  readonly family?: readonly NamedFamily[] | undefined
}

/** A dependant, and the benefits that cover it from their start on. */
export type NamedFamily = { readonly dependant: Dependant; readonly benefits: readonly string[] }

/**
 * Starts a membership: the user is active at once, and the offer is in force from `startsAt`. A fixed benefit that is
 * refused is left out; a refused offer or pick refuses the whole request.
 */
export function createAccount(user: User, start: Start, now: Instant, terms: Terms): Changed | Refusal {
  if (user.status === 'active') return refuse('user_exists')
  const { offer, picks, startsAt } = start
  const verdict = judgeOfferAt(terms, offer, startsAt)
  if (!isAvailable(terms, offer, startsAt))
    return refuse('offer_not_available', reasonsFor('offername', verdict.reasons))
  if (!verdict.admitted) return refuse('ineligible', reasonsFor('offername', verdict.reasons))
  const wanted = picks.filter(name => !offer.fixed.includes(name))
  const refused = refusedPicks(wanted, picks, { offer, at: startsAt, terms })
  if (refused.length > 0) return refuse('ineligible', refused)
  if (wanted.length > offer.slots) return refuse('slots_exceeded')
  const { family = [] } = start
  const uncovered = refusedFamily(family, [...offer.fixed, ...wanted], { at: startsAt, terms })
  if (uncovered) return uncovered

  let created: User = {
    ...user,
    status: 'active',
    updatedAt: now,
    entryExpiresAt: undefined,
    cancel: undefined,
    pendingOffer: undefined,
    swap: undefined,
    offer: {
      name: offer.offer,
      since: startsAt,
      version: terms.today.version,
      inForce: false,
      admits: true,
    },
    consents: mergeConsents(user.consents, start.consents),
    // A former member has a list, which this one replaces.
    ...((start.family || user.dependantsVersion !== undefined) && {
      dependantsVersion: (user.dependantsVersion ?? 0) + 1,
    }),
  }
  for (const name of [...offer.fixed, ...wanted]) {
    const benefit = openBenefit(terms, name)
    if (!benefit || !judgePick(terms, benefit, startsAt, offer.offer).admitted) continue
    const isFixed = offer.fixed.includes(name)
    const dependants = coveredBy(family, name)
    const fresh = { benefit, offer: offer.offer, isFixed, pickedAt: now, startsAt, dependants }
    created = withEnrolment(created, newEnrolment(created, terms, fresh))
  }
  const inForce = startsAt <= now
  // The offer is in force before the events are raised, because they carry the state right after the change.
  if (inForce) created = { ...created, offer: created.offer && { ...created.offer, inForce } }
  const events: Raised[] = [raise(created, 'enrollment_successful', now)]
  if (inForce) events.push(raise(created, 'offer_activiation_successful', now))
  return { user: created, events }
}

function coveredBy(family: readonly NamedFamily[], benefit: string): Dependant[] {
  return family.flatMap(({ dependant, benefits }) => (benefits.includes(benefit) ? [dependant] : []))
}

/** Refuses dependants of benefits that do not come, and those whom a benefit may not cover. */
function refusedFamily(
  family: readonly NamedFamily[],
  coming: readonly string[],
  { at, terms }: { at: Instant; terms: Terms },
): Refusal | undefined {
  const fieldOf = (index: number, name: string) =>
    `dependants[${index}].benefits[${family[index]?.benefits.indexOf(name)}].name`
  const absent = family.flatMap(({ benefits }, index) =>
    benefits
      .filter(name => !coming.includes(name))
      .map(name => fieldOf(index, name))
      .map(field => because(field, 'not_selectable', `${field} must be a fixed benefit, or one of benefits`)),
  )
  if (absent.length > 0) return refuse('ineligible', absent)
  for (const name of coming) {
    const benefit = openBenefit(terms, name)
    const broken = benefit && brokenRules(benefit, coveredBy(family, name), at, terms)
    const placeOf = (id: string) => family.findIndex(({ dependant }) => dependant.dependantid === id)
    const refused = broken && refuseCover(broken, id => fieldOf(placeOf(id), name), { isNew: true })
    if (refused) return refused
  }
  return undefined
}

function refusedPicks(
  wanted: readonly string[],
  picks: readonly string[],
  context: { offer: Offer; at: Instant; terms: Terms },
): RefusalReason[] {
  return wanted.flatMap(name => {
    const field = `benefits[${picks.indexOf(name)}]`
    const benefit = openBenefit(context.terms, name)
    if (!benefit || !context.offer.selectable.includes(name)) {
      return [because(field, 'not_selectable', `${field} must be a selectable benefit of the offer`)]
    }
    return reasonsFor(field, judgePick(context.terms, benefit, context.at, context.offer.offer).reasons)
  })
}

/**
 * The user after an update, and the events that it raises. If data that rules use has changed, all cover is judged
 * again; a user whom the offer no longer admits keeps it, and the partner is told.
 */
export function updateAccount(user: User, hasMoved: boolean, now: Instant, terms: Terms): Changed {
  const changed: User = { ...user, updatedAt: now }
  const updated = hasMoved ? rejudge(changed, now, terms) : changed
  const events = [raise(updated, 'user_update_successful', now)]
  if (user.offer?.admits && updated.offer?.admits === false)
    events.push(raise(updated, 'offer_action_required', now))
  return { user: updated, events }
}

/**
 * Judges all cover by the benefits' own rules. A benefit that no longer admits the user ends at the period's end, or is
 * withdrawn if it has not begun. If it admits the user again before that end, the end is removed, or is again the one that
 * an operator has set. A pending swap is checked again only at its boundary (contract §8).
 */
function rejudge(user: User, now: Instant, terms: Terms): User {
  const boundary = boundaryAfter(now, terms.zone)
  return {
    ...user,
    offer: user.offer && { ...user.offer, admits: isAdmittedToOwnOffer(terms, user) },
    enrolments: user.enrolments.map(enrolment => {
      if (!isHeld(enrolment)) return enrolment
      const benefit = heldTerms(terms, enrolment)
      if (isStillAdmitted(benefit, enrolment, terms)) {
        const free =
          enrolment.ownEnd?.reason === 'ineligible'
            ? withOwnEnd(enrolment, endByCorrection(enrolment.correctedEnd))
            : enrolment
        return withAgeEnd(free, benefit, { now, terms })
      }
      if (!isInForce(enrolment)) return closed(enrolment, now, 'ineligible')
      if (enrolment.ownEnd && enrolment.ownEnd.at <= boundary) return enrolment
      const ending: Enrolment = { ...enrolment, ownEnd: { at: boundary, reason: 'ineligible' } }
      const corrected = correctedEndOf(enrolment)
      return corrected === undefined ? ending : { ...ending, correctedEnd: corrected }
    }),
  }
}

/** Judged with the age at the start, because time alone ends nothing. */
function isStillAdmitted(benefit: Benefit | undefined, enrolment: Enrolment, terms: Terms): boolean {
  return benefit === undefined || judgePick(terms, benefit, enrolment.startsAt, enrolment.offer).admitted
}

/**
 * Cancels at the end of the period, or at once. Benefits that have not begun are withdrawn at once; a pending offer
 * change, a pending swap and pending changes of cover are dropped. A repeat changes nothing, except that `immediate` brings a pending end
 * forward. A membership that has not begun has no period to wait for, so it is canceled at once.
 */
export function cancelAccount(
  user: User,
  cancel: { effective: 'endofperiod' | 'immediate'; reason: CancelReason },
  now: Instant,
  terms: Terms,
): Changed {
  if (user.status === 'cancelled') return { user, events: [] }
  const isImmediate = cancel.effective === 'immediate' || !user.offer?.inForce
  if (user.cancel && !isImmediate) return { user, events: [] }
  const dropped = dropPending(user, now)
  const reason = user.cancel?.reason ?? cancel.reason
  const at = isImmediate ? now : boundaryAfter(now, terms.zone)
  const requestedAt = user.cancel?.requestedAt ?? now
  const pending: User = {
    ...dropped.user,
    updatedAt: now,
    cancel: { at, requestedAt, reason },
    enrolments: dropped.user.enrolments.map(enrolment =>
      isHeld(enrolment) && !isInForce(enrolment)
        ? closed(enrolment, now, 'cancelled')
        : enrolment.pendingCover
          ? { ...enrolment, pendingCover: undefined }
          : enrolment,
    ),
  }
  if (!isImmediate) {
    return { user: pending, events: [...dropped.events, raise(pending, 'offer_cancel_scheduled', now)] }
  }
  const applied = applyCancel(pending, now)
  return { user: applied.user, events: [...dropped.events, ...applied.events] }
}

function dropPending(user: User, now: Instant): Changed {
  const events: Raised[] = []
  let dropped = user
  if (user.pendingOffer) {
    dropped = { ...dropped, pendingOffer: undefined }
    events.push(raise(dropped, 'offer_change_cancelled', now))
  }
  if (user.swap) {
    dropped = { ...dropped, swap: undefined }
    events.push(raise(dropped, 'user_benefits_swap_cancelled', now))
  }
  return { user: dropped, events }
}

/**
 * Ends all cover at once, and leaves a user with only the names and the history: what is not named here is cleared. When the erasure
 * is written, it also clears offer and cancel, which the events and the records that the law keeps still tell.
 */
export function eraseAccount(user: User, now: Instant, terms: Terms): Changed {
  const ended: Changed =
    user.status === 'active'
      ? cancelAccount(user, { effective: 'immediate', reason: 'voluntary' }, now, terms)
      : { user, events: [] }
  const { partnerId, serviceId, userid, createdAt, prefillCount, prefillWrittenAt } = ended.user
  const { offer, cancel, enrolments, consents, designations } = ended.user
  const erased: User = {
    ...newUser({ partnerId, serviceId, userid, at: createdAt }),
    ...{ prefillCount, prefillWrittenAt, offer, cancel, enrolments, consents, designations },
    status: 'erased',
    erasedAt: now,
    updatedAt: now,
  }
  return { user: erased, events: [...ended.events, raise(erased, 'user_erased', now)] }
}
