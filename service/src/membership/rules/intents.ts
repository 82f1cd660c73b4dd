import type { Instant } from '../../calendar/calendar.ts'
import type { Offer } from '../../catalogue/model.ts'
import { closed, enrolmentOf, newEnrolment, withEnrolment } from './enrolments.ts'
import { coverable } from './family.ts'
import {
  byEnrolledFirst,
  type Enrolment,
  endsByItself,
  isInForce,
  isLive,
  type Raised,
  raise,
  type SwapPair,
  type User,
} from './state.ts'
import {
  admitsOffer,
  heldTerms,
  judgeOfferAt,
  judgePick,
  missingFor,
  offerOf,
  openBenefit,
  partnerOffer,
  type Terms,
} from './terms.ts'

// The functions of this file work on a user without projected changes (`withoutProjectedRows`). Every live enrolment is
// therefore held, including one that an earlier change at the same instant has just brought.

/** A user after a change, and the events that the change raised. */
export type Changed = { readonly user: User; readonly events: readonly Raised[] }

/**
 * A cancel takes effect: all cover ends, enrolments that have not begun are withdrawn, and pending changes are dropped.
 */
export function applyCancel(user: User, at: Instant): Changed {
  const cancelled: User = {
    ...user,
    status: 'cancelled',
    offer: user.offer && { ...user.offer, inForce: false },
    pendingOffer: undefined,
    swap: undefined,
    enrolments: user.enrolments.map(enrolment =>
      // An enrolment that a pending change was to bring is undone with that change: a reinstate does not restore it.
      isLive(enrolment) ? closed(enrolment, at, enrolment.pendingBy ? 'undone' : 'cancelled') : enrolment,
    ),
  }
  return { user: cancelled, events: [raise(cancelled, 'offer_cancel_successful', at)] }
}

/**
 * A change to another offer takes effect. Picks that the new offer also has stay, the earliest first, up to its slots;
 * its fixed benefits are added if the user is admitted to them and has not declined them meanwhile; all other enrolments
 * end. If the offer is closed by then, or no longer admits the user, only the pending change is canceled.
 */
export function applyOfferChange(user: User, name: string, context: { at: Instant; terms: Terms }): Changed {
  const { at, terms } = context
  const offer = offerOpenAt(terms, name, at)
  const before = offerOf(terms, user)
  const free: User = { ...user, pendingOffer: undefined }
  if (!offer || !before) {
    return { user: free, events: [raise(free, 'offer_change_cancelled', at)] }
  }
  const kept = keptPicks(user, offer, context)
  let changed: User = {
    ...free,
    offer: { name, since: at, version: terms.today.version, inForce: true, admits: true },
    enrolments: user.enrolments.map(enrolment => {
      // An enrolment that ends by itself at this instant is left to that end.
      if (!isLive(enrolment) || endsByItself(enrolment, at)) return enrolment
      const isFixed = offer.fixed.includes(enrolment.benefit)
      if (isFixed || kept.has(enrolment.id)) return { ...enrolment, offer: name, isFixed }
      return closed(enrolment, at, 'offer changed')
    }),
  }
  for (const fixed of offer.fixed) {
    const benefit = openBenefit(terms, fixed)
    if (!benefit || enrolmentOf(changed, fixed, isLive) || !judgePick(terms, benefit, at, name).admitted)
      continue
    if (isDeclinedFor(user, fixed, at)) continue
    const joined = newEnrolment(changed, terms, {
      benefit,
      offer: name,
      isFixed: true,
      pickedAt: at,
      startsAt: at,
    })
    changed = withEnrolment(changed, { ...joined, pendingBy: 'offer' })
  }
  const direction = offer.rank > before.rank ? 'offer_upgrade_successful' : 'offer_downgrade_successful'
  return {
    user: changed,
    events: [raise(changed, direction, at), raise(changed, 'offer_activiation_successful', at)],
  }
}

/** The offer that a change at that instant leads to; `undefined` if it is closed then, or does not admit the user. */
export function offerOpenAt(terms: Terms, name: string, at: Instant): Offer | undefined {
  const offer = partnerOffer(terms, name)
  return offer && judgeOfferAt(terms, offer, at).admitted ? offer : undefined
}

/** Whether the user declined a benefit that the offer change of this instant was to bring. */
function isDeclinedFor(user: User, benefit: string, at: Instant): boolean {
  return user.enrolments.some(
    enrolment =>
      enrolment.benefit === benefit &&
      enrolment.state === 'declined' &&
      enrolment.pendingBy === 'offer' &&
      enrolment.startsAt === at,
  )
}

function keptPicks(user: User, offer: Offer, context: { at: Instant; terms: Terms }): Set<string> {
  return new Set(
    user.enrolments
      .filter(
        enrolment =>
          isLive(enrolment) &&
          !enrolment.isFixed &&
          !endsByItself(enrolment, context.at) &&
          offer.selectable.includes(enrolment.benefit) &&
          mayFollow(enrolment, offer, context.terms),
      )
      .sort(byEnrolledFirst)
      .slice(0, offer.slots)
      .map(enrolment => enrolment.id),
  )
}

/** Whether a pick may stay under the new offer: one that is reserved for the holders of certain offers may not. */
function mayFollow(enrolment: Enrolment, offer: Offer, terms: Terms): boolean {
  const benefit = heldTerms(terms, enrolment)
  return benefit === undefined || admitsOffer(benefit, offer.offer)
}

/**
 * A swap takes effect, pair by pair. If a pair's new benefit fails, the old one stays, so that nobody ends with less
 * cover. The old benefit ends at the instant at which the new one begins. In a projection (`isProjection`) a missing consent
 * does not fail the pair, because there is still time to give it.
 */
export function applySwap(
  user: User,
  pairs: readonly SwapPair[],
  context: { at: Instant; terms: Terms; isProjection: boolean },
): Changed {
  let changed: User = { ...user, swap: undefined }
  let done = 0
  for (const pair of pairs) {
    const after = swapPair(changed, pair, context)
    if (after === undefined) continue
    changed = after
    done += 1
  }
  const events: Raised[] = []
  if (done > 0) events.push(raise(changed, 'user_benefits_swap_successful', context.at))
  if (done < pairs.length) events.push(raise(changed, 'user_benefits_swap_failed', context.at))
  return { user: changed, events }
}

type PairContext = { at: Instant; terms: Terms; isProjection: boolean }

/** The user after one pair of a swap; `undefined` when the pair fails. */
export function swapPair(user: User, pair: SwapPair, context: PairContext): User | undefined {
  const { at, terms } = context
  if (!pairSucceeds(user, pair, context)) return undefined
  let changed = user
  const removed = pair.remove === undefined ? undefined : enrolmentOf(user, pair.remove, isLive)
  if (removed) changed = withEnrolment(changed, closed(removed, at, 'swapped out'))
  const benefit = pair.add === undefined ? undefined : openBenefit(terms, pair.add)
  const offer = user.offer?.name
  if (!benefit || offer === undefined) return changed
  const dependants = coverable(benefit, pair.covered ?? [], at, terms)
  const fresh = { benefit, offer, isFixed: false, pickedAt: at, startsAt: at, dependants }
  const added = newEnrolment(changed, terms, fresh)
  // A swap does not wait: if the consent or the beneficiary is missing at its boundary, it fails.
  const actionDueAt = added.state === 'actionrequired' ? at : undefined
  return withEnrolment(changed, { ...added, pendingBy: 'swap', actionDueAt })
}

/** Whether a pair takes effect at this point: it fits, and the user is admitted to the new benefit. */
export function pairSucceeds(user: User, pair: SwapPair, context: PairContext): boolean {
  const { at, terms, isProjection } = context
  if (pairMisfit(user, pair, terms)) return false
  if (pair.add === undefined) return true
  const benefit = openBenefit(terms, pair.add)
  const offer = user.offer?.name
  if (!benefit || offer === undefined) return false
  if (!isProjection && missingFor(user, benefit).length > 0) return false
  return judgePick(terms, benefit, at, offer).admitted
}

/** Why a pair does not fit the user's offer and enrolments, regardless of eligibility. */
export type Misfit = 'not_selectable' | 'not_with_offer' | 'already_held' | 'not_held' | 'no_slot'

/** Why a pair does not fit the user's offer and picks at this point; `undefined` when it fits. */
export function pairMisfit(user: User, pair: SwapPair, terms: Terms): Misfit | undefined {
  const offer = offerOf(terms, user)
  if (!offer) return 'not_selectable'
  const removed = pair.remove === undefined ? undefined : enrolmentOf(user, pair.remove, isLive)
  if (pair.remove !== undefined && (!removed || removed.isFixed || !isInForce(removed))) return 'not_held'
  if (pair.add === undefined) return undefined
  const benefit = openBenefit(terms, pair.add)
  if (!benefit || !offer.selectable.includes(pair.add)) return 'not_selectable'
  if (!admitsOffer(benefit, offer.offer)) return 'not_with_offer'
  if (enrolmentOf(user, pair.add, isLive)) return 'already_held'
  const taken = user.enrolments.filter(enrolment => isLive(enrolment) && !enrolment.isFixed).length
  return taken - (removed ? 1 : 0) + 1 > offer.slots ? 'no_slot' : undefined
}
