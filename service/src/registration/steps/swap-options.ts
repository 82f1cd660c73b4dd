import { lockedFrom } from '../../calendar/calendar.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { beforeSwap, isBoundaryLocked, nextBoundary } from '../../membership/rules/boundary.ts'
import { heldEnrolment, isHeld, isInForce, type SwapPair } from '../../membership/rules/state.ts'
import { judgePick, offerOf, openBenefit, slotsTaken } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { IsoDate } from '../views/parts.ts'
import { isPairCalledOff } from './ahead.ts'
import { leavingOn } from './cards.ts'

/** What can be exchanged for what, as of the boundary. */
export type SwapOptions = {
  readonly boundary: number
  readonly lockedAt: number
  readonly isLocked: boolean
  /** The last day of all benefits, if a cancel is planned. */
  readonly leaving: IsoDate | undefined
  /** Whether no swap can be made now. */
  readonly isClosed: boolean
  /** The names of the picks in force, which can be given up. */
  readonly held: readonly string[]
  readonly freeslots: number
  /**
   * What a new benefit may replace or fill: each pick in force, and `free` for a slot that is empty and that the pending
   * swap does not fill.
   */
  readonly slots: readonly string[]
  readonly available: readonly Benefit[]
}

/** The options of a member's swap; `undefined` for a person without a plan in force. */
export function swapOptionsOf(visit: Visit): SwapOptions | undefined {
  const { user, terms, now } = visit
  const offer = offerOf(terms, user)
  if (!visit.isMember || !offer || !user.offer?.inForce) return undefined
  const boundary = user.swap?.at ?? nextBoundary(user, now, terms)
  const ahead = beforeSwap(user, boundary, terms)
  const aheadOffer = offerOf(terms, ahead) ?? offer
  // A benefit that has not begun cannot be given up in a swap, even if it is in force at the boundary.
  const inForce = new Set(user.enrolments.filter(isInForce).map(({ id }) => id))
  const held = ahead.enrolments
    .filter(enrolment => isHeld(enrolment) && !enrolment.isFixed && inForce.has(enrolment.id))
    .map(({ benefit }) => benefit)
  const freeslots = Math.max(0, aheadOffer.slots - slotsTaken(ahead))
  const filled = pairsThatHold(visit).filter(({ remove }) => remove === undefined).length
  const isLocked = isBoundaryLocked(user, boundary, { now, terms })
  const leaving = leavingOn(visit)
  return {
    boundary,
    leaving,
    isClosed: isLocked || leaving !== undefined,
    lockedAt: lockedFrom(boundary, offer.cutoffhours),
    isLocked,
    held,
    freeslots,
    slots: [...held, ...(freeslots > filled ? ['free'] : [])],
    available: aheadOffer.selectable
      .flatMap(name => openBenefit(terms, name) ?? [])
      .filter(benefit => judgePick(terms, benefit, boundary, aheadOffer.offer).admitted)
      .filter(({ name }) => !heldEnrolment(ahead, name)),
  }
}

/** The pairs of the pending swap without those that will be called off, which take nothing away from a new choice. */
export function pairsThatHold(visit: Visit): readonly SwapPair[] {
  return (visit.user.swap?.pairs ?? []).filter(pair => !isPairCalledOff(visit, pair))
}

/** The benefits that may come for `out`, without those that the pending swap brings for another benefit. */
export function availableFor(visit: Visit, options: SwapOptions, out: string | undefined): Benefit[] {
  const taken = pairsThatHold(visit).filter(({ remove }) => remove === undefined || remove !== out)
  return options.available.filter(({ name }) => !taken.some(({ add }) => add === name))
}

/** The benefit that the person came for, by the link of a card or by the partner's link. */
export function wantedIn(visit: Visit, options: SwapOptions, form: URLSearchParams): Benefit | undefined {
  const name = form.get('in') ?? visit.deepLink?.productname
  return availableFor(visit, options, undefined).find(benefit => benefit.name === name)
}
