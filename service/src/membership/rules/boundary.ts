import { boundaryAfter, type Instant, isLocked } from '../../calendar/calendar.ts'
import type { Offer } from '../../catalogue/model.ts'
import { applyAt, dueAt } from './apply-due.ts'
import { applyOfferChange, type Changed, type Misfit, pairMisfit, pairSucceeds, swapPair } from './intents.ts'
import { isHeld, raise, type SwapPair, type User } from './state.ts'
import { offerOf, slotsTaken, type Terms } from './terms.ts'

/**
 * The first boundary that the user's changes can be meant for: the one after now, or after the offer's start if that is
 * later.
 */
export function nextBoundary(user: User, now: Instant, terms: Terms): Instant {
  return boundaryAfter(Math.max(now, user.offer?.since ?? now), terms.zone)
}

/** The boundary at which the user's picks are swapped: that of the pending swap, or the next one. */
export function swapBoundary(user: User, now: Instant, terms: Terms): Instant {
  return user.swap?.at ?? nextBoundary(user, now, terms)
}

/** For how many hours before a boundary changes are locked. */
export function cutoffHours(user: User, terms: Terms): number {
  return offerOf(terms, user)?.cutoffhours ?? 24
}

/**
 * Whether changes meant for a boundary are locked, by the `cutoffhours` of the user's offer. The start of a membership
 * locks nothing, because no period ends there.
 */
export function isBoundaryLocked(
  user: User,
  boundary: Instant,
  context: { now: Instant; terms: Terms },
): boolean {
  return (
    (user.offer === undefined || user.offer.inForce || boundary > user.offer.since) &&
    isLocked(context.now, boundary, cutoffHours(user, context.terms))
  )
}

/**
 * The user as it will be when its swap is applied at a boundary: with everything that falls due before, and with a
 * pending offer change.
 */
export function beforeSwap(user: User, at: Instant, terms: Terms): User {
  let ahead: User = { ...user, swap: undefined, enrolments: user.enrolments.filter(isHeld) }
  for (let due = dueAt(ahead); due !== undefined && due < at; due = dueAt(ahead)) {
    ahead = withoutMarks(applyAt(ahead, { at: due, terms, isProjection: true }).user)
  }
  if (!ahead.pendingOffer || ahead.pendingOffer.at > at) return ahead
  return withoutMarks(applyOfferChange(ahead, ahead.pendingOffer.name, { at, terms }).user)
}

/** The result of one pair, tried on the user after the pairs before it. */
type PairTrial = {
  readonly pair: SwapPair
  readonly ahead: User
  readonly misfit: Misfit | undefined
  /** Whether the pair would take effect if all consents were given. */
  readonly succeeds: boolean
}

/** Tries the pairs one after the other on the user that `beforeSwap` returns. */
export function tryPairs(
  user: User,
  swap: { pairs: readonly SwapPair[]; at: Instant },
  terms: Terms,
): PairTrial[] {
  const { pairs, at } = swap
  const context = { at, terms, isProjection: true }
  let ahead = user
  return pairs.map((pair, index) => {
    const succeeds = pairSucceeds(ahead, pair, context)
    const misfit = succeeds ? undefined : pairMisfit(ahead, pair, terms)
    const trial = { pair, ahead, misfit, succeeds }
    if (index < pairs.length - 1) ahead = withoutMarks(swapPair(ahead, pair, context) ?? ahead)
    return trial
  })
}

/**
 * Free slots that a new pick may use: free today, and still free after the pending swap has filled its own. If the offer
 * changes first, the slots of the new offer count.
 */
export function freeSlots(user: User, offer: Offer, terms: Terms): number {
  const now = Math.max(0, offer.slots - slotsTaken(user))
  const { swap } = user
  if (now === 0 || !swap?.pairs.some(isIntoFreeSlot)) return now
  const { filled, free } = slotsAhead(user, swap, terms)
  if (filled === 0) return now
  return Math.max(0, now - filled, user.pendingOffer ? Math.min(now, free) : 0)
}

type SlotsAhead = {
  /** How many free slots the swap will fill; a pair that will fail fills none. */
  readonly filled: number
  /** How many are free after it, in the offer that is in force then. */
  readonly free: number
}

// A list asks for each of its benefits, and each answer would try the whole swap.
const lastAhead = new WeakMap<User, { readonly terms: Terms; readonly ahead: SlotsAhead }>()

function slotsAhead(user: User, swap: NonNullable<User['swap']>, terms: Terms): SlotsAhead {
  const known = lastAhead.get(user)
  if (known?.terms === terms) return known.ahead
  const before = beforeSwap(user, swap.at, terms)
  const offer = offerOf(terms, before)
  const pairs = tryPairs(before, swap, terms).flatMap(({ pair, succeeds }) => (succeeds ? [pair] : []))
  const comes = pairs.filter(({ add }) => add !== undefined && !offer?.fixed.includes(add)).length
  const goes = pairs.filter(({ remove }) => remove !== undefined).length
  const ahead = {
    filled: pairs.filter(isIntoFreeSlot).length,
    free: (offer?.slots ?? 0) - slotsTaken(before) - comes + goes,
  }
  lastAhead.set(user, { terms, ahead })
  return ahead
}

function isIntoFreeSlot({ add, remove }: SwapPair): boolean {
  return add !== undefined && remove === undefined
}

/** The user with pending rows treated as held. */
function withoutMarks(user: User): User {
  return {
    ...user,
    enrolments: user.enrolments.map(enrolment => ({ ...enrolment, pendingBy: undefined })),
  }
}

/** Drops a pending swap if one of its pairs no longer fits the offer that will be in force at its boundary. */
export function dropMisfitSwap(user: User, now: Instant, terms: Terms): Changed {
  const trials = user.swap ? tryPairs(beforeSwap(user, user.swap.at, terms), user.swap, terms) : []
  if (trials.every(trial => trial.misfit === undefined)) return { user, events: [] }
  const dropped: User = { ...user, swap: undefined, updatedAt: now }
  return { user: dropped, events: [raise(dropped, 'user_benefits_swap_cancelled', now)] }
}
