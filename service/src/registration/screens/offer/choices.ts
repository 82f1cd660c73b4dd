import { textIn } from '../../../catalogue/model.ts'
import { isBoundaryLocked, nextBoundary } from '../../../membership/rules/boundary.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import { hasPendingCancel, heldEnrolment } from '../../../membership/rules/state.ts'
import {
  isAvailable,
  judgeOfferAt,
  knownBenefit,
  offerOf,
  openBenefit,
  partnerOffers,
} from '../../../membership/rules/terms.ts'
import { changeOfferOf } from '../../../offers/change.ts'
import type { Visit } from '../../session/visit.ts'
import { localDay, standingLine, startsFrom } from '../../steps/cards.ts'
import type { BenefitLine, IsoDate, Passage } from '../../views/parts.ts'
import { passageIn, sayIn } from '../../views/say.ts'

/** An offer that a member could move to: from which day, and why not. */
type OfferChoice = {
  readonly offer: string
  readonly displayname: string
  readonly effectiveon: IsoDate
  readonly reasons: readonly Passage[]
}

/** The offers besides the one in force, and whether and when each can follow it. */
export function offerChoices(visit: Visit): OfferChoice[] {
  const { user, terms, now, locale } = visit
  const say = sayIn(visit)
  const current = offerOf(terms, user)
  const others = partnerOffers(terms).filter(({ offer }) => offer !== current?.offer)
  return others.map(one => {
    const isUpgrade = one.rank > (current?.rank ?? 0)
    const at = isUpgrade ? startsFrom(visit) : nextBoundary(user, now, terms)
    const verdict = judgeOfferAt(terms, one, at)
    const isLocked = !isUpgrade && isBoundaryLocked(user, at, { now, terms })
    const isClosed = verdict.admitted && !isAvailable(terms, one, at)
    return {
      offer: one.offer,
      displayname: textIn(one.displayname, locale),
      effectiveon: localDay(visit, at),
      reasons: [
        ...verdict.reasons.map(reason => passageIn(reason.text, locale)),
        ...(isLocked ? [`${say`Changes for next month are closed`}.`] : []),
        ...(isClosed ? [say`This plan is not offered right now.`] : []),
      ],
    }
  })
}

/** The offers that a member can change to. */
export function openOffers(visit: Visit): OfferChoice[] {
  return offerChoices(visit).filter(({ reasons }) => reasons.length === 0)
}

/**
 * The change that a form or an address asks for, tried out, with the benefits that it brings and the address of its
 * confirmation; `undefined` when it is not open.
 */
export function proposed(visit: Visit, form: URLSearchParams) {
  const { user, terms } = visit
  if (!visit.isMember || hasPendingCancel(user)) return undefined
  const choice = openOffers(visit).find(({ offer }) => offer === form.get('offername'))
  if (!choice) return undefined
  const input = inputFor(choice.offer)
  const changed = changeOfferOf(user, input, visit.now, terms)
  if (isRefusal(changed)) return undefined
  return {
    changed,
    choice,
    gained: changed.gained.flatMap(name => openBenefit(terms, name) ?? []),
  }
}

/** The change in the terms of the API. */
export function inputFor(offername: string) {
  return { offername, action: 'auto', effective: 'auto' } as const
}

/** The address of the confirmation of a change to this offer. */
export function addressOf(offername: string): string {
  return `offer/confirm?${new URLSearchParams({ offername })}`
}

/** The benefits of these names that the person holds, each as one line. */
export function heldLines(visit: Visit, names: readonly string[]): BenefitLine[] {
  return names.flatMap(name => {
    const held = heldEnrolment(visit.user, name)
    return held && knownBenefit(visit.terms, visit.user, name) ? [standingLine(visit, held)] : []
  })
}
