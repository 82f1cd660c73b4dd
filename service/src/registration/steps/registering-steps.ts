import type { Benefit } from '../../catalogue/model.ts'
import { missingGroups } from '../session/answers.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { parseBenefits, parseOffer } from '../views/choices.ts'
import { isFaulty } from '../views/faults.ts'
import { cardOf, wantedElsewhere } from './cards.ts'
import { costOf } from './disclosures.ts'
import { type Plan, plansFor } from './plans.ts'
import { stepOf } from './progress.ts'
import { saveAnswers } from './save-answers.ts'
import type { Step } from './step.ts'

/**
 * Where a newcomer begins or goes on: with their details until they have chosen benefits, and at the benefits when they
 * came for one that they have not chosen. A former member first sees what can come back.
 */
export function resumeAt({ draft: { picks }, deepLink, user }: Visit): string {
  if (picks === undefined || user.status === 'cancelled') return 'details'
  return deepLink && !picks.includes(deepLink.productname) ? 'benefits' : 'check'
}

/** The plans from which a newcomer chooses one; skipped when there is no choice. */
export const plan: Step = {
  show: (visit, typed) => {
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const { plans } = plansFor(visit)
    if (plans.length === 0) return { to: 'none' }
    if (plans.length === 1) return { to: 'benefits' }
    const chosen = typed.posted ? (typed.posted.get('offername') ?? '') : planInMind(visit, plans)
    const partOf = (benefit: Benefit) => ({
      displayname: benefit.displayname[visit.locale],
      description: benefit.description[visit.locale],
      cost: costOf(visit, benefit),
    })
    return {
      view: 'PLAN',
      page: pageOf(visit, stepOf(visit, 'plan')),
      plans: plans.map(({ offer, included, selectable }) => ({
        offer: offer.offer,
        displayname: offer.displayname[visit.locale],
        description: offer.description[visit.locale],
        included: included.map(partOf),
        selectable: selectable.map(partOf),
        slots: Math.min(offer.slots, selectable.length),
      })),
      chosen,
    }
  },
  post: async (visit, form) => {
    // The partner may have left a detail out since the view was shown.
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const plans = plansFor(visit).plans.map(({ offer }) => offer.offer)
    const offer = parseOffer(form, plans)
    if (isFaulty(offer)) return offer
    return saveAnswers(visit, { form, to: 'benefits' }, draft => {
      if (draft.offer === offer) return draft
      const { picks: _, ...kept } = draft
      return { ...kept, offer }
    })
  },
}

/** The preselected plan: the one already chosen, or the first that has the benefit of the person's link. */
function planInMind(visit: Visit, plans: readonly Plan[]): string | undefined {
  const wanted = visit.deepLink?.productname
  const fitting = plans.find(({ included, selectable }) =>
    [...included, ...selectable].some(benefit => benefit.name === wanted),
  )
  return visit.draft.offer ?? fitting?.offer.offer
}

/** The benefits of a newcomer's plan. */
export const benefits: Step = {
  show: (visit, typed) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    const { offer, included, selectable, refused } = found
    const chosen = typed.posted?.getAll('benefit') ?? picksOf(visit, found)
    const focus = visit.deepLink?.productname
    const startsAt = visit.now
    return {
      view: 'BENEFITS',
      page: pageOf(visit, stepOf(visit, 'benefits')),
      offername: offer.displayname[visit.locale],
      slots: Math.min(offer.slots, selectable.length),
      back: plansFor(visit).plans.length > 1 ? 'plan' : 'details',
      cards: [
        ...included.map(benefit => cardOf(visit, benefit, { status: { kind: 'included' }, startsAt })),
        ...selectable.map(benefit =>
          cardOf(visit, benefit, {
            status: { kind: 'available' },
            startsAt,
            selected: chosen.includes(benefit.name),
          }),
        ),
        ...refused.map(({ benefit, reasons }) =>
          cardOf(visit, benefit, { status: { kind: 'unavailable', reasons } }),
        ),
        ...wantedElsewhere(visit, offer),
      ],
      focus,
    }
  },
  post: async (visit, form) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    const { offer, included, selectable } = found
    const picks = parseBenefits(form, {
      selectable: selectable.map(({ name }) => name),
      slots: offer.slots,
      required: included.length === 0,
    })
    if (isFaulty(picks)) return picks
    return saveAnswers(visit, { form, to: 'check' }, draft => ({ ...draft, picks }))
  },
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
