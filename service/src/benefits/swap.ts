import { type Instant, lockedFrom } from '../calendar/calendar.ts'
import {
  beforeSwap,
  cutoffHours,
  isBoundaryLocked,
  swapBoundary,
  tryPairs,
} from '../membership/rules/boundary.ts'
import { isSameSet } from '../membership/rules/cover.ts'
import {
  brokenRules,
  namedDependants,
  refuseCover,
  refuseUnknownDependants,
} from '../membership/rules/family.ts'
import type { Changed } from '../membership/rules/intents.ts'
import { because, type Refusal, type RefusalReason, reasonsFor, refuse } from '../membership/rules/refusal.ts'
import { hasPendingCancel, isLive, raise, type SwapPair, type User } from '../membership/rules/state.ts'
import { judgePick, openBenefit, type Terms } from '../membership/rules/terms.ts'

/** A swap, made or previewed. */
export type SwapChange = Changed & {
  readonly add: readonly string[]
  readonly remove: readonly string[]
  readonly boundary: Instant
  readonly lockedAt: Instant
}

type SwapLists = {
  readonly add: readonly string[]
  readonly remove: readonly string[]
  /** Whom benefits of `add` will cover; what is not here covers the member alone. */
  readonly covered?: readonly { readonly name: string; readonly dependants: readonly string[] }[] | undefined
}

/**
 * Picks benefits to add and to remove at the next boundary. A new swap replaces the pending one whole; two empty lists
 * undo it; the same swap again changes nothing. Refused: pairs that do not fit or would not be admitted then, and any
 * change in the locked hours.
 */
export function swapBenefitsOf(
  user: User,
  lists: SwapLists,
  now: Instant,
  terms: Terms,
): SwapChange | Refusal {
  const boundary = swapBoundary(user, now, terms)
  const lockedAt = lockedFrom(boundary, cutoffHours(user, terms))
  const answer = { add: lists.add, remove: lists.remove, boundary, lockedAt }
  const unknown = refuseUnknownCovered(lists, terms)
  if (unknown) return unknown
  const pairs = pairsOf(lists)
  if (pairs.length === 0 && !user.swap) return { ...answer, user, events: [] }
  if (user.swap && isSameSwap(user.swap.pairs, pairs)) return { ...answer, user, events: [] }
  // At the boundary the cancel is applied first, so there will be no offer under which a pick could begin.
  if (hasPendingCancel(user)) return refuse('cancel_pending')
  if (isBoundaryLocked(user, boundary, { now, terms })) return refuse('change_locked')
  const free: User = { ...user, swap: undefined, updatedAt: now }
  const events = user.swap ? [raise(free, 'user_benefits_swap_cancelled', now)] : []
  if (pairs.length === 0) return { ...answer, user: free, events }
  const refusal =
    refusedPairs(beforeSwap(free, boundary, terms), pairs, { boundary, terms }) ??
    refuseCovered(lists, boundary, terms)
  if (refusal) return refusal
  const picked: User = { ...free, swap: { pairs, at: boundary } }
  return { ...answer, user: picked, events: [...events, raise(picked, 'user_benefits_pendingswap', now)] }
}

/**
 * Returns, for each benefit, whether a swap made now could bring it, into a free slot or in exchange for one of the
 * picks; the function that decides about the swap itself decides here too. A pending swap does not matter, because a
 * new one replaces it whole.
 */
export function openSwaps(user: User, now: Instant, terms: Terms): (name: string) => boolean {
  const boundary = swapBoundary(user, now, terms)
  if (isBoundaryLocked(user, boundary, { now, terms }) || hasPendingCancel(user)) return () => false
  const ahead = beforeSwap(user, boundary, terms)
  const picks = ahead.enrolments.filter(enrolment => isLive(enrolment) && !enrolment.isFixed)
  const ways = [...picks.map(enrolment => enrolment.benefit), undefined]
  return add => ways.some(remove => refusedPairs(ahead, [{ add, remove }], { boundary, terms }) === undefined)
}

function pairsOf({ add, remove, covered = [] }: SwapLists): SwapPair[] {
  return Array.from({ length: Math.max(add.length, remove.length) }, (_, index) => {
    const people = covered.find(({ name }) => name === add[index])?.dependants ?? []
    return { add: add[index], remove: remove[index], ...(people.length > 0 && { covered: people }) }
  })
}

function refuseUnknownCovered({ covered = [] }: SwapLists, terms: Terms): Refusal | undefined {
  return covered
    .map(({ dependants }, at) =>
      refuseUnknownDependants(terms, dependants, index => `covered[${at}].dependants[${index}]`),
    )
    .find(refusal => refusal !== undefined)
}

function refuseCovered({ covered = [] }: SwapLists, boundary: Instant, terms: Terms): Refusal | undefined {
  return covered
    .map(({ name, dependants }, at) => {
      const benefit = openBenefit(terms, name)
      const people = namedDependants(terms, dependants)
      const broken = benefit && brokenRules(benefit, people, boundary, terms)
      return broken && refuseCover(broken, id => `covered[${at}].dependants[${dependants.indexOf(id)}]`)
    })
    .find(refusal => refusal !== undefined)
}

function isSameSwap(a: readonly SwapPair[], b: readonly SwapPair[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      (pair, index) =>
        pair.add === b[index]?.add &&
        pair.remove === b[index]?.remove &&
        isSameSet(pair.covered ?? [], b[index]?.covered ?? []),
    )
  )
}

/**
 * Why the pairs are refused. Pairs that do not fit or are not admitted are all reported first; a missing slot counts
 * only when there are none of these.
 */
function refusedPairs(
  user: User,
  pairs: readonly SwapPair[],
  context: { boundary: Instant; terms: Terms },
): Refusal | undefined {
  const { boundary: at, terms } = context
  const reasons: RefusalReason[] = []
  let isFull = false
  for (const [index, { pair, ahead, misfit, succeeds }] of tryPairs(user, { pairs, at }, terms).entries()) {
    const benefit = pair.add === undefined ? undefined : openBenefit(terms, pair.add)
    // A benefit that is removed and added at the same instant would not change at all.
    const isBoth = pairs.some(other => other.remove !== undefined && other.remove === pair.add)
    if (isBoth) reasons.push(misfitReason('already_held', index))
    else if (misfit && misfit !== 'not_with_offer' && misfit !== 'no_slot')
      reasons.push(misfitReason(misfit, index))
    else if (!succeeds && benefit && ahead.offer) {
      isFull ||= misfit === 'no_slot'
      reasons.push(...reasonsFor(`add[${index}]`, judgePick(terms, benefit, at, ahead.offer.name).reasons))
    }
  }
  if (reasons.length > 0) return refuse('ineligible', reasons)
  return isFull ? refuse('slots_exceeded') : undefined
}

const misfitTexts = {
  not_selectable: ['add', 'must be a selectable benefit of the offer'],
  already_held: ['add', 'must be a benefit that the user does not hold'],
  not_held: ['remove', 'must be a picked benefit that is in force'],
} as const

function misfitReason(misfit: keyof typeof misfitTexts, index: number): RefusalReason {
  const [list, text] = misfitTexts[misfit]
  return because(`${list}[${index}]`, misfit, `${list}[${index}] ${text}`)
}
