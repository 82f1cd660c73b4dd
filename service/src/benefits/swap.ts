import { type Instant, lockedFrom } from '../calendar/calendar.ts'
import { beforeSwap, isBoundaryLocked, nextBoundary, withoutMarks } from '../membership/boundary.ts'
import { type Raised, raise } from '../membership/events.ts'
import { applySwap, type Misfit, pairMisfit } from '../membership/intents.ts'
import { because, type Refusal, type RefusalReason, reasonsFor, refuse } from '../membership/refusal.ts'
import type { SwapPair, User } from '../membership/state.ts'
import { judgePick, offerOf, openBenefit, type Terms } from '../membership/terms.ts'

/** A swap, made or previewed. */
export type SwapChange = {
  readonly user: User
  readonly events: readonly Raised[]
  readonly add: readonly string[]
  readonly remove: readonly string[]
  readonly boundary: Instant
  readonly lockedAt: Instant
}

/**
 * Picks benefits to come in and to go out at the next boundary. A new swap replaces the pending one whole; both lists
 * empty undo it. Refused: what does not fit or is not admitted then, and any change in the locked hours.
 */
export const swapBenefitsOf = (
  user: User,
  lists: { add: readonly string[]; remove: readonly string[] },
  now: Instant,
  terms: Terms,
): SwapChange | Refusal => {
  const boundary = user.swap?.at ?? nextBoundary(user, now, terms)
  const cutoff = offerOf(terms, user)?.cutoffhours ?? 24
  const answer = { add: lists.add, remove: lists.remove, boundary, lockedAt: lockedFrom(boundary, cutoff) }
  const pairs = pairsOf(lists)
  if (pairs.length === 0 && !user.swap) return { ...answer, user, events: [] }
  if (isBoundaryLocked(user, boundary, { now, terms })) return refuse('change_locked')
  const free: User = { ...user, swap: undefined, updatedAt: now }
  const events = user.swap ? [raise(free, 'user_benefits_swap_cancelled', now)] : []
  if (pairs.length === 0) return { ...answer, user: free, events }
  const refusal = refusedSwap(free, pairs, { lists, boundary, terms })
  if (refusal) return refusal
  const picked: User = { ...free, swap: { pairs, at: boundary } }
  return { ...answer, user: picked, events: [...events, raise(picked, 'user_benefits_pendingswap', now)] }
}

const pairsOf = (lists: { add: readonly string[]; remove: readonly string[] }): SwapPair[] =>
  Array.from({ length: Math.max(lists.add.length, lists.remove.length) }, (_, index) => ({
    add: lists.add[index],
    remove: lists.remove[index],
  }))

/** Tries the pairs one after the other against the offer and the picks that will be there at the boundary. */
const refusedSwap = (
  user: User,
  pairs: readonly SwapPair[],
  context: { lists: { add: readonly string[]; remove: readonly string[] }; boundary: Instant; terms: Terms },
): Refusal | undefined => {
  const { boundary: at, terms } = context
  let ahead = beforeSwap(user, at, terms)
  const reasons: RefusalReason[] = []
  let isFull = false
  for (const [index, pair] of pairs.entries()) {
    const misfit = pairMisfit(ahead, pair, terms)
    const benefit = pair.add === undefined ? undefined : openBenefit(terms, pair.add)
    if (misfit === 'no_slot') isFull = true
    else if (misfit) reasons.push(misfitReason(misfit, index))
    else if (benefit && ahead.offer) {
      reasons.push(...reasonsFor(`add[${index}]`, judgePick(terms, benefit, at, ahead.offer.name).reasons))
    }
    ahead = withoutMarks(applySwap(ahead, [pair], { at, terms, outlook: true }).user)
  }
  if (reasons.length > 0) return refuse('ineligible', reasons)
  return isFull ? refuse('slots_exceeded') : undefined
}

const misfitTexts = {
  not_selectable: ['add', 'must be a selectable benefit of the offer'],
  already_held: ['add', 'must be a benefit that the user does not hold'],
  not_held: ['remove', 'must be a picked benefit that is in force'],
} as const

const misfitReason = (misfit: Exclude<Misfit, 'no_slot'>, index: number): RefusalReason => {
  const [list, text] = misfitTexts[misfit]
  return because(`${list}[${index}]`, misfit, `${list}[${index}] ${text}`)
}
