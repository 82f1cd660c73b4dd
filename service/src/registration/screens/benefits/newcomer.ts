import { pageOf } from '../../session/visit.ts'
import { cardOf, wantedElsewhere } from '../../steps/cards.ts'
import { foundPlan, picksOf, plansFor, stepOf } from '../../steps/plans.ts'
import { saveAnswers } from '../../steps/save-answers.ts'
import type { Step } from '../../steps/step.ts'
import { isFaulty } from '../../views/faults.ts'
import { benefitsView, parseBenefits } from './view.ts'

/** The benefits of a newcomer's plan. */
export const benefits: Step = {
  show: (visit, typed) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    const { offer, included, selectable, refused } = found
    const chosen = typed.posted?.getAll('benefit') ?? picksOf(visit, found)
    const focus = visit.deepLink?.productname
    const startsAt = visit.now
    const shelf = {
      answers: { page: pageOf(visit, stepOf(visit, 'benefits')), errors: typed.errors },
      offername: offer.displayname[visit.locale],
      slots: Math.min(offer.slots, selectable.length),
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
    return benefitsView(shelf, plansFor(visit).plans.length > 1 ? 'plan' : 'details')
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
    return saveAnswers(visit, { to: 'check' }, draft => ({ ...draft, picks }))
  },
}
