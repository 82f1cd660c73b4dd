import { lockedFrom } from '../../calendar/calendar.ts'
import type { Benefit, Offer } from '../../catalogue/model.ts'
import { beforeSwap, isBoundaryLocked, nextBoundary } from '../../membership/rules/boundary.ts'
import { type Enrolment, heldEnrolment, isHeld } from '../../membership/rules/state.ts'
import { judgePick, offerOf, openBenefit, slotsTaken } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { SwapChoice, Swappable } from '../views/choices.ts'
import type { Day } from '../views/parts.ts'
import { leavingOn } from './cards.ts'

/** What can be exchanged for what, as of the boundary. */
export type SwapOptions = {
  readonly boundary: number
  readonly lockedAt: number
  readonly isLocked: boolean
  /** The last day of all benefits, if a cancel is planned. */
  readonly leaving: Day | undefined
  /** Whether no swap can be made now. */
  readonly isClosed: boolean
  readonly held: readonly Enrolment[]
  readonly available: readonly Benefit[]
  readonly freeSlots: number
}

/** The options of a member's swap; `undefined` for a person without a plan in force. */
export function swapOptionsOf(visit: Visit): SwapOptions | undefined {
  const { user, terms, now } = visit
  const offer = offerOf(terms, user)
  if (!visit.isMember || !offer || !user.offer?.inForce) return undefined
  const boundary = user.swap?.at ?? nextBoundary(user, now, terms)
  const ahead = beforeSwap(user, boundary, terms)
  const aheadOffer = offerOf(terms, ahead) ?? offer
  const held = ahead.enrolments.filter(
    enrolment => isHeld(enrolment) && !enrolment.isFixed && isStillIn(enrolment, visit),
  )
  const available = aheadOffer.selectable.flatMap(name =>
    openToSwap(visit, { name, offer: aheadOffer, boundary }),
  )
  const isLocked = isBoundaryLocked(user, boundary, { now, terms })
  const leaving = leavingOn(visit)
  return {
    boundary,
    leaving,
    isClosed: isLocked || leaving !== undefined,
    lockedAt: lockedFrom(boundary, offer.cutoffhours),
    isLocked,
    held,
    available: available.filter(({ name }) => !heldEnrolment(ahead, name)),
    freeSlots: Math.max(0, aheadOffer.slots - slotsTaken(ahead)),
  }
}

/**
 * Whether an enrolment is in force now, not only at the boundary: a benefit that has not begun cannot be given up in a swap.
 */
function isStillIn(enrolment: Enrolment, visit: Visit): boolean {
  const now = visit.user.enrolments.find(({ id }) => id === enrolment.id)
  return now?.state === 'enrolled' || now?.state === 'endscheduled'
}

function openToSwap(
  visit: Visit,
  input: { name: string; offer: Offer; boundary: number },
): readonly Benefit[] {
  const benefit = openBenefit(visit.terms, input.name)
  return benefit && judgePick(visit.terms, benefit, input.boundary, input.offer.offer).admitted
    ? [benefit]
    : []
}

/**
 * What a new benefit may replace or fill: each pick in force, and `free` for a slot that is empty and that the pending swap
 * does not fill.
 */
export function swappableSlots(visit: Visit, options: SwapOptions): string[] {
  const filled = (visit.user.swap?.pairs ?? []).filter(({ remove }) => remove === undefined).length
  return [...options.held.map(({ benefit }) => benefit), ...(options.freeSlots > filled ? ['free'] : [])]
}

/** The benefits that may come for `out`, without those that the pending swap brings for another benefit. */
export function availableFor(visit: Visit, options: SwapOptions, out: string | undefined): Benefit[] {
  const taken = (visit.user.swap?.pairs ?? []).filter(({ remove }) => remove === undefined || remove !== out)
  return options.available.filter(({ name }) => !taken.some(({ add }) => add === name))
}

/** The benefit that the person came for, by the link of a card or by the partner's link. */
export function wantedIn(visit: Visit, options: SwapOptions, form: URLSearchParams): Benefit | undefined {
  const name = form.get('in') ?? visit.deepLink?.productname
  return availableFor(visit, options, undefined).find(benefit => benefit.name === name)
}

/** The benefits and free slots that the form of a swap may name. */
export function allowedIn(options: SwapOptions): Swappable {
  return {
    held: options.held.map(({ benefit }) => benefit),
    available: options.available.map(({ name }) => name),
    freeslots: options.freeSlots,
  }
}

/** The benefits that a swap brings. */
export function comingIn(options: SwapOptions, { add }: SwapChoice): readonly Benefit[] {
  return options.available.filter(({ name }) => add.includes(name))
}
