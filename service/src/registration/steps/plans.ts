import { type Benefit, bySortOrder, type Offer } from '../../catalogue/model.ts'
import {
  isAvailable,
  judgeOfferAt,
  judgePick,
  openBenefit,
  partnerOffer,
  partnerOffers,
} from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'

/** A plan as a newcomer sees it: what comes with it, what can be chosen, and what cannot and why. */
export type Plan = {
  readonly offer: Offer
  readonly included: readonly Benefit[]
  readonly selectable: readonly Benefit[]
  readonly refused: readonly Refused[]
}

/** A benefit that this person cannot have, and why, in the page's language. */
export type Refused = { readonly benefit: Benefit; readonly reasons: readonly string[] }

/**
 * The plans that are open to a newcomer and have something for them. `reasons`: why there is none, in the page's language;
 * without a reason, no plan is open to anybody.
 */
export function plansFor(visit: Visit): {
  readonly plans: readonly Plan[]
  readonly reasons: readonly string[]
} {
  const reasons: string[] = []
  const closed: string[] = []
  const plans: Plan[] = []
  for (const offer of offersOf(visit)) {
    const verdict = judgeOfferAt(visit.terms, offer, visit.now)
    const texts = verdict.reasons.map(reason => reason.text[visit.locale])
    if (!isAvailable(visit.terms, offer, visit.now)) {
      closed.push(...texts)
      continue
    }
    if (!verdict.admitted) {
      reasons.push(...texts)
      continue
    }
    const plan = planOf(visit, offer)
    if (plan.included.length + plan.selectable.length > 0) plans.push(plan)
    else reasons.push(...plan.refused.flatMap(refused => refused.reasons))
  }
  return { plans, reasons: reasons.length > 0 ? [...new Set([...reasons, ...closed])] : [] }
}

/** The plans that the link or the partner allows a newcomer, whether or not they admit this person. */
export function offersOf(visit: Visit): readonly Offer[] {
  const { offername } = visit.session
  if (offername === null) return partnerOffers(visit.terms)
  const offer = partnerOffer(visit.terms, offername)
  return offer ? [offer] : []
}

/** A plan as it applies to this person today. */
export function planOf(visit: Visit, offer: Offer): Plan {
  const refused: Refused[] = []
  const admitted = (names: readonly string[]) =>
    names.flatMap(name => {
      const benefit = openBenefit(visit.terms, name)
      if (!benefit) return []
      const { reasons } = judgePick(visit.terms, benefit, visit.now, offer.offer)
      if (reasons.length === 0) return [benefit]
      refused.push({ benefit, reasons: reasons.map(reason => reason.text[visit.locale]) })
      return []
    })
  const included = admitted(offer.fixed).sort(bySortOrder)
  const selectable = admitted(offer.selectable).sort(bySortOrder)
  return { offer, included, selectable, refused }
}
