import { boundaryAfter, type Instant, isLocked } from '../calendar/calendar.ts'
import { raise } from './events.ts'
import { applyOfferChange, type Changed, pairMisfit } from './intents.ts'
import { isHeld, type User } from './state.ts'
import { offerOf, type Terms } from './terms.ts'

/** The first boundary for which the user's changes are meant: the one after now, or after a start that lies ahead. */
export const nextBoundary = (user: User, now: Instant, terms: Terms): Instant =>
  boundaryAfter(Math.max(now, user.offer?.since ?? now), terms.zone)

/** Whether changes for a boundary are locked by the cut-off of the user's offer. */
export const isBoundaryLocked = (
  user: User,
  boundary: Instant,
  context: { now: Instant; terms: Terms },
): boolean => isLocked(context.now, boundary, offerOf(context.terms, user)?.cutoffhours ?? 24)

/** The user as it will be at a boundary for whom a swap is tried: its own holdings, a pending offer change applied. */
export const beforeSwap = (user: User, at: Instant, terms: Terms): User => {
  const own: User = { ...user, enrolments: user.enrolments.filter(isHeld) }
  if (!own.pendingOffer || own.pendingOffer.at > at) return own
  return withoutMarks(applyOfferChange(own, own.pendingOffer.name, { at, terms }).user)
}

/** The user with planned rows taken for held ones. */
export const withoutMarks = (user: User): User => ({
  ...user,
  enrolments: user.enrolments.map(enrolment => ({ ...enrolment, plannedBy: undefined })),
})

/** Drops a pending swap when one of its pairs no longer fits the offer that will be in force at its boundary. */
export const dropMisfitSwap = (user: User, now: Instant, terms: Terms): Changed => {
  if (!user.swap) return { user, events: [] }
  const ahead = beforeSwap(user, user.swap.at, terms)
  if (user.swap.pairs.every(pair => pairMisfit(ahead, pair, terms) === undefined)) return { user, events: [] }
  const dropped: User = { ...user, swap: undefined, updatedAt: now }
  return { user: dropped, events: [raise(dropped, 'user_benefits_swap_cancelled', now)] }
}
