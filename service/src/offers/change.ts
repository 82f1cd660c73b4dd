import type { Instant } from '../calendar/calendar.ts'
import { startProjectedRows, withoutProjectedRows } from '../membership/rules/apply-due.ts'
import { beforeSwap, dropMisfitSwap, isBoundaryLocked, nextBoundary } from '../membership/rules/boundary.ts'
import { applyOfferChange, type Changed } from '../membership/rules/intents.ts'
import { type Refusal, reasonsFor, refuse } from '../membership/rules/refusal.ts'
import {
  endsByItself,
  hasPendingCancel,
  isHeld,
  isLive,
  raise,
  type User,
} from '../membership/rules/state.ts'
import { isAvailable, judgeOfferAt, offerOf, partnerOffer, type Terms } from '../membership/rules/terms.ts'

/** The request of a partner. */
export type OfferChangeInput = {
  readonly offername: string
  readonly action: 'upgrade' | 'downgrade' | 'auto'
  readonly effective: 'auto' | 'immediate' | 'nextperiod'
}

/** An offer change, made or previewed. */
export type OfferChange = Changed & {
  readonly direction: 'upgrade' | 'downgrade' | 'none'
  readonly isImmediate: boolean
  readonly effectiveAt: Instant
  readonly gained: readonly string[]
  readonly lost: readonly string[]
  readonly kept: readonly string[]
}

/**
 * Moves a user to another offer, now or at the next period, or returns why not. A newer change replaces a pending one;
 * the same change again changes nothing; asking for the current offer undoes a pending change. A pending swap that no
 * longer fits is dropped.
 */
export function changeOfferOf(
  user: User,
  input: OfferChangeInput,
  now: Instant,
  terms: Terms,
): OfferChange | Refusal {
  const current = offerOf(terms, user)
  const offer =
    partnerOffer(terms, input.offername) ?? (input.offername === user.offer?.name ? current : undefined)
  if (!current || !offer) return refuse('offername_unknown')
  if (offer.offer === current.offer)
    return user.pendingOffer ? undoOfferChangeOf(user, now, terms) : refuse('already_on_offer')
  const direction = offer.rank > current.rank ? 'upgrade' : 'downgrade'
  if (input.action !== 'auto' && input.action !== direction) return refuse('direction_mismatch')
  const isImmediate =
    input.effective === 'immediate' || (input.effective === 'auto' && direction === 'upgrade')
  // At the boundary the cancel is applied first, so there will be no period in which the offer could begin.
  if (!isImmediate && hasPendingCancel(user)) return refuse('cancel_pending')
  const boundary = nextBoundary(user, now, terms)
  const effectiveAt = isImmediate ? Math.max(now, user.offer?.since ?? now) : boundary
  const verdict = judgeOfferAt(terms, offer, effectiveAt)
  if (!isAvailable(terms, offer, effectiveAt))
    return refuse('offer_not_available', reasonsFor('offername', verdict.reasons))
  if (!verdict.admitted) return refuse('ineligible', reasonsFor('offername', verdict.reasons))

  const free: User = withoutProjectedRows({ ...user, updatedAt: now, pendingOffer: undefined })
  const moment = { at: effectiveAt, terms }
  // Benefits that begin before the change will be in force by then, so they get the places before those that still wait.
  const then = applyOfferChange(beforeSwap(free, effectiveAt, terms), offer.offer, moment)
  const answer = { ...compare(free, then.user, effectiveAt), direction, isImmediate, effectiveAt } as const
  const isPendingAlready = user.pendingOffer?.name === offer.offer && user.pendingOffer.at === effectiveAt
  if (isPendingAlready) return { ...answer, user, events: [] }
  if (!isImmediate && isBoundaryLocked(user, boundary, { now, terms })) return refuse('change_locked')
  const events = user.pendingOffer ? [raise(free, 'offer_change_cancelled', now)] : []
  if (isImmediate && effectiveAt <= now) {
    const applied = applyOfferChange(free, offer.offer, moment)
    const swept = dropMisfitSwap(startProjectedRows(user, applied.user), now, terms)
    return { ...answer, user: swept.user, events: [...events, ...applied.events, ...swept.events] }
  }
  const pending: User = { ...free, pendingOffer: { name: offer.offer, at: effectiveAt } }
  events.push(raise(pending, 'offer_change_scheduled', now))
  const swept = dropMisfitSwap(pending, now, terms)
  return { ...answer, user: swept.user, events: [...events, ...swept.events] }
}

/** Undoes a pending offer change; without one nothing changes. Refused in the locked hours before its boundary. */
export function undoOfferChangeOf(user: User, now: Instant, terms: Terms): OfferChange | Refusal {
  const kept = user.enrolments.filter(isHeld).map(enrolment => enrolment.benefit)
  const same = { direction: 'none', isImmediate: true, effectiveAt: now, gained: [], lost: [], kept } as const
  if (!user.pendingOffer) return { ...same, user, events: [] }
  if (isBoundaryLocked(user, user.pendingOffer.at, { now, terms })) return refuse('change_locked')
  const free: User = { ...user, pendingOffer: undefined, updatedAt: now }
  const swept = dropMisfitSwap(free, now, terms)
  return { ...same, user: swept.user, events: [raise(free, 'offer_change_cancelled', now), ...swept.events] }
}

/**
 * Compares the benefits before and after; a benefit that ends by itself at that very instant does not count as kept.
 */
function compare(
  before: User,
  after: User,
  at: Instant,
): { gained: string[]; lost: string[]; kept: string[] } {
  const had = new Set(before.enrolments.filter(isHeld).map(enrolment => enrolment.benefit))
  const has = after.enrolments
    .filter(enrolment => isLive(enrolment) && !endsByItself(enrolment, at))
    .map(enrolment => enrolment.benefit)
  return {
    gained: has.filter(name => !had.has(name)),
    lost: [...had].filter(name => !has.includes(name)),
    kept: has.filter(name => had.has(name)),
  }
}
