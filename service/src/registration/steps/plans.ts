import { type Benefit, bySortOrder, type Offer } from '../../catalogue/model.ts'
import { html } from '../../http/html.ts'
import {
  isAvailable,
  judgeOfferAt,
  judgePick,
  openBenefit,
  partnerOffer,
  partnerOffers,
} from '../../membership/rules/terms.ts'
import { missingGroups } from '../session/person.ts'
import type { Visit } from '../session/visit.ts'
import type { Passage } from '../views/parts.ts'
import { passageIn } from '../views/say.ts'
import type { Page } from '../views/surroundings.ts'

/** A plan as a newcomer sees it: what comes with it, what can be chosen, and what cannot and why. */
export type Plan = {
  readonly offer: Offer
  readonly included: readonly Benefit[]
  readonly selectable: readonly Benefit[]
  readonly refused: readonly Refused[]
}

/** A benefit that this person cannot have, and why, in the page's language. */
export type Refused = { readonly benefit: Benefit; readonly reasons: readonly Passage[] }

/**
 * The plans that are open to a newcomer and have something for them. `reasons`: why there is none, in the page's language;
 * without a reason, no plan is open to anybody.
 */
export function plansFor(visit: Visit): {
  readonly plans: readonly Plan[]
  readonly reasons: readonly Passage[]
} {
  const reasons: Passage[] = []
  const plans: Plan[] = []
  for (const offer of offersOf(visit)) {
    const verdict = judgeOfferAt(visit.terms, offer, visit.now)
    // What is closed to everybody is no reason that this person could do something about.
    if (!isAvailable(visit.terms, offer, visit.now)) continue
    if (!verdict.admitted) {
      reasons.push(...verdict.reasons.map(reason => passageIn(reason.text, visit.locale)))
      continue
    }
    const plan = planOf(visit, offer)
    if (plan.included.length + plan.selectable.length > 0) plans.push(plan)
    else reasons.push(...plan.refused.flatMap(refused => refused.reasons))
  }
  return {
    plans,
    reasons: [...new Map(reasons.map(one => [html`${one}`.markup, one])).values()],
  }
}

/** The plans that the link or the partner allows a newcomer, whether or not they admit this person. */
function offersOf(visit: Visit): readonly Offer[] {
  const { offername } = visit.session
  if (offername === null) return partnerOffers(visit.terms)
  const offer = partnerOffer(visit.terms, offername)
  return offer ? [offer] : []
}

/** A plan as it applies to this person today. */
function planOf(visit: Visit, offer: Offer): Plan {
  const refused: Refused[] = []
  const admitted = (names: readonly string[]) =>
    names.flatMap(name => {
      const benefit = openBenefit(visit.terms, name)
      if (!benefit) return []
      const { reasons } = judgePick(visit.terms, benefit, visit.now, offer.offer)
      if (reasons.length === 0) return [benefit]
      refused.push({ benefit, reasons: reasons.map(reason => passageIn(reason.text, visit.locale)) })
      return []
    })
  const included = admitted(offer.fixed).sort(bySortOrder)
  const selectable = admitted(offer.selectable).sort(bySortOrder)
  return { offer, included, selectable, refused }
}

/** The plan to continue with, or the path of a step that must be done first. */
export function foundPlan(visit: Visit): Plan | { to: string } {
  if (missingGroups(visit.person).length > 0) return { to: 'details' }
  const { plans } = plansFor(visit)
  const [only, ...more] = plans
  if (!only) return { to: 'none' }
  const chosen = more.length === 0 ? only : plans.find(({ offer }) => offer.offer === visit.draft.offer)
  return chosen ?? { to: 'plan' }
}

/**
 * The preselected benefits: the draft's picks that still fit; before there are any, the benefit that the person's link
 * is about.
 */
export function picksOf(visit: Visit, { selectable }: Plan): readonly string[] {
  const open = selectable.map(({ name }) => name)
  const { picks } = visit.draft
  const wanted = visit.deepLink?.redirectto === 'enrol' ? [visit.deepLink.productname] : []
  return (picks ?? wanted).filter(name => open.includes(name))
}

/** What comes with a plan, and what of the rest this newcomer has picked. */
export function chosenBenefits(visit: Visit, found: Plan): Benefit[] {
  const picks = picksOf(visit, found)
  return [...found.included, ...found.selectable.filter(({ name }) => picks.includes(name))]
}

/**
 * Whether a newcomer has a choice of plans. `perhaps`: the partner has several, and the details that decide which of
 * them admit this person are not known yet.
 */
function choosesPlan(visit: Visit): boolean | 'perhaps' {
  if (offersOf(visit).length < 2) return false
  return missingGroups(visit.person).length > 0 ? 'perhaps' : plansFor(visit).plans.length > 1
}

/** The number of a step in the registration: details, benefits and answers, and a plan if there is a choice. */
export function stepOf(
  visit: Visit,
  step: 'details' | 'plan' | 'benefits' | 'check',
): NonNullable<Page['step']> {
  const steps = choosesPlan(visit)
    ? ['details', 'plan', 'benefits', 'check']
    : ['details', 'benefits', 'check']
  return { at: Math.max(1, steps.indexOf(step) + 1), of: steps.length }
}
