import { namingBenefits } from '../../accounts/beneficiaries.ts'
import { type Benefit, bySortOrder, type Offer, textIn } from '../../catalogue/model.ts'
import { type OpenDesignation, readDesignations } from '../../membership/records/designations.ts'
import { freeSlots, nextBoundary } from '../../membership/rules/boundary.ts'
import { designationOf } from '../../membership/rules/designations.ts'
import {
  hasPendingCancel,
  heldEnrolment,
  isInForce,
  isLive,
  isPending,
} from '../../membership/rules/state.ts'
import {
  hasBeneficiary,
  hasConsent,
  judgePick,
  knownBenefit,
  offerOf,
  openBenefit,
  slotsTaken,
} from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { MemberPaths, StillToDo, WaitingName } from '../views/parts.ts'
import { passageIn } from '../views/say.ts'
import { dueDay, liveEnrolment, startsFrom } from './cards.ts'
import { openCovers } from './family.ts'
import type { Refused } from './plans.ts'

/**
 * What a member can add now: benefits for free slots, benefits chosen before that wait for a consent or a beneficiary, and
 * those that a pending change brings and that wait for a consent.
 */
type Addable = {
  readonly selectable: readonly Benefit[]
  /** The names of those that were chosen or planned before and wait. */
  readonly waiting: readonly string[]
  /** How many of those that need a free slot can be ticked at once. */
  readonly free: number
  /** The names of the others: they wait, or every holder of the plan has them. */
  readonly slotless: readonly string[]
  readonly refused: readonly Refused[]
  /** The benefits that would be possible if a slot were free. */
  readonly full: readonly Benefit[]
}

/** What a member can add to their benefits. */
export function choosableByMember(visit: Visit): Addable {
  const { user, terms, locale } = visit
  const offer = offerOf(terms, user)
  if (!offer) return { selectable: [], waiting: [], free: 0, slotless: [], refused: [], full: [] }
  const free = freeSlots(user, offer, terms)
  const selectable: Benefit[] = []
  const waiting: string[] = []
  const refused: Refused[] = []
  const full: Benefit[] = []
  const fixed: string[] = []
  // What a pending change brings was perhaps planned by the partner, without the person's consent.
  for (const pending of user.enrolments.filter(isPending)) {
    const benefit = openBenefit(terms, pending.benefit)
    if (pending.state !== 'actionrequired' || !benefit || hasConsent(user, benefit)) continue
    if (heldEnrolment(user, pending.benefit)) continue
    selectable.push(benefit)
    waiting.push(benefit.name)
  }
  for (const name of namesOf(offer)) {
    const benefit = openBenefit(terms, name)
    if (!benefit) continue
    const held = heldEnrolment(user, name)
    if (held?.state === 'actionrequired') {
      selectable.push(benefit)
      waiting.push(name)
      continue
    }
    if (liveEnrolment(user, name)) continue
    const { reasons } = judgePick(terms, benefit, startsFrom(visit), offer.offer)
    const isFixed = offer.fixed.includes(name)
    if (reasons.length > 0)
      refused.push({ benefit, reasons: reasons.map(reason => passageIn(reason.text, locale)) })
    else if (isFixed || free > 0) {
      selectable.push(benefit)
      if (isFixed) fixed.push(name)
    } else full.push(benefit)
  }
  return {
    selectable: selectable.sort(bySortOrder),
    waiting,
    free,
    slotless: [...waiting, ...fixed],
    refused,
    full: full.sort(bySortOrder),
  }
}

/** Whether a swap is possible: there is a pick in force or a free slot, and another benefit to have instead. */
function isSwapOpen(visit: Visit): boolean {
  const { user, terms } = visit
  const offer = offerOf(terms, user)
  if (!offer || !user.offer?.inForce) return false
  const at = nextBoundary(user, visit.now, terms)
  const hasPick = user.enrolments.some(enrolment => isInForce(enrolment) && !enrolment.isFixed)
  const hasOther = offer.selectable.some(name => {
    const benefit = openBenefit(terms, name)
    return benefit && !heldEnrolment(user, name) && judgePick(terms, benefit, at, offer.offer).admitted
  })
  return user.swap !== undefined || ((hasPick || slotsTaken(user) < offer.slots) && hasOther)
}

/** The changes that the page offers this member. */
export function memberPaths(visit: Visit): MemberPaths {
  const isLeaving = hasPendingCancel(visit.user)
  return {
    canadd: !isLeaving && choosableByMember(visit).selectable.length > 0,
    canswap: !isLeaving && isSwapOpen(visit),
    canchangeoffer: !isLeaving && visit.partner.offers?.length !== 1,
    cancancel: true,
    isleaving: isLeaving,
    canname: namingBenefits(visit.user, visit.terms).some(({ benefit: { name } }) =>
      liveEnrolment(visit.user, name),
    ),
    covers: openCovers(visit).map(({ name, displayname }) => ({
      name,
      displayname: textIn(displayname, visit.locale),
    })),
  }
}

function namesOf(offer: Offer): readonly string[] {
  return [...new Set([...offer.fixed, ...offer.selectable])]
}

/** Whether the person chose a benefit that they do not have, so that they must not believe that it was added. */
export function isMissing({ user }: Visit, picks: readonly string[] = []): boolean {
  return picks.some(name => !liveEnrolment(user, name))
}

/** What a member has to do, or may still do, for their benefits; `undefined` when nothing. */
export function stillToDo(visit: Visit): StillToDo | undefined {
  const { user, terms, locale } = visit
  const live = [...new Set(user.enrolments.filter(isLive).map(({ benefit }) => benefit))]
  const benefits = live.flatMap(name => knownBenefit(terms, user, name) ?? [])
  const waiting = (isSo: (benefit: Benefit) => boolean) =>
    benefits.filter(isSo).flatMap((benefit): WaitingName[] => {
      const found = user.enrolments.find(
        one => one.benefit === benefit.name && one.state === 'actionrequired',
      )
      return found ? [{ displayname: textIn(benefit.displayname, locale), dueon: dueDay(visit, found) }] : []
    })
  const missing = waiting(benefit => !hasBeneficiary(user, benefit))
  // What has left the catalogue cannot be agreed to any more.
  const agree = waiting(
    benefit => !hasConsent(user, benefit) && openBenefit(terms, benefit.name) !== undefined,
  )
  const unnamed = benefits
    .filter(({ name, beneficiaries }) => beneficiaries === 'optional' && !designationOf(user, name))
    .map(({ displayname }) => textIn(displayname, locale))
  const openplaces = openPlaces(visit)
  const count = missing.length + agree.length + unnamed.length + openplaces
  return count === 0 ? undefined : { missing, agree, unnamed, openplaces }
}

/** How many benefits can be added now: as many as fit, of those that the person may have. */
function openPlaces(visit: Visit): number {
  if (hasPendingCancel(visit.user)) return 0
  const { free, selectable, slotless } = choosableByMember(visit)
  return Math.min(free, selectable.filter(({ name }) => !slotless.includes(name)).length)
}

/** All versions of the beneficiaries that this person has named. */
export function designationsOf({ context, partner, user }: Visit): Promise<readonly OpenDesignation[]> {
  return readDesignations(context.database, { partner, user })
}

/**
 * The path to name beneficiaries for the first benefit that waits for them after an agreement, and from there to the
 * confirmation; `undefined` when none waits.
 */
export function namingAhead({ user, terms }: Pick<Visit, 'user' | 'terms'>): string | undefined {
  const waiting = user.enrolments
    .filter(one => isLive(one) && one.state === 'actionrequired')
    .flatMap(({ benefit }) => knownBenefit(terms, user, benefit) ?? [])
    .find(benefit => !hasBeneficiary(user, benefit))
  return waiting && `beneficiaries/${waiting.name}?then=done`
}
