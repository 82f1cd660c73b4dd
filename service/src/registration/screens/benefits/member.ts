import type { Benefit } from '../../../catalogue/model.ts'
import { isLive } from '../../../membership/rules/state.ts'
import { knownBenefit, offerOf } from '../../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import {
  cardOf,
  dueDay,
  leavingOn,
  liveEnrolment,
  startsFrom,
  statusOf,
  wantedElsewhere,
} from '../../steps/cards.ts'
import { choosableByMember, isMissing, memberPaths } from '../../steps/member-choices.ts'
import { saveAnswers } from '../../steps/save-answers.ts'
import type { Step } from '../../steps/step.ts'
import { swapOptionsOf } from '../../steps/swap-options.ts'
import { isFaulty } from '../../views/faults.ts'
import { benefitsView, parseBenefits } from './view.ts'

/** The benefits that a member has, and those that fit into free slots. */
export const memberBenefits: Step = {
  show: (visit, typed) => {
    const offer = offerOf(visit.terms, visit.user)
    if (!offer) return { to: 'overview' }
    const { selectable, waiting, free, slotless, refused, full } = choosableByMember(visit)
    const chosen = typed.posted?.getAll('benefit') ?? picksInMind(visit, selectable, waiting)
    const focus = visit.deepLink?.productname
    const paths = { ...memberPaths(visit), canadd: false }
    const startsAt = startsFrom(visit)
    // By the boundary a pending change of plan may have taken a benefit out of reach.
    const swappable = paths.canswap ? (swapOptionsOf(visit)?.available ?? []) : []
    const held = visit.user.enrolments.filter(
      enrolment => isLive(enrolment) && !waiting.includes(enrolment.benefit),
    )
    const shelf = {
      answers: { page: pageOf(visit), errors: typed.errors },
      offername: offer.displayname[visit.locale],
      slots: free + slotless.length,
      waitingslots: waiting.length,
      cards: [
        ...held.flatMap(enrolment => {
          const benefit = knownBenefit(visit.terms, visit.user, enrolment.benefit)
          return benefit ? [cardOf(visit, benefit, { status: statusOf(visit, enrolment) })] : []
        }),
        ...selectable.map(benefit => {
          const selected = chosen.includes(benefit.name)
          if (!waiting.includes(benefit.name))
            return cardOf(visit, benefit, { status: { kind: 'available' }, startsAt, selected })
          const live = liveEnrolment(visit.user, benefit.name)
          const dueon = live && dueDay(visit, live)
          return cardOf(visit, benefit, { status: { kind: 'waiting', dueon }, selected })
        }),
        ...refused.map(({ benefit, reasons }) =>
          cardOf(visit, benefit, { status: { kind: 'unavailable', reasons } }),
        ),
        ...full.map(benefit => {
          const swapto = swappable.includes(benefit)
            ? { swapto: `swap?in=${encodeURIComponent(benefit.name)}` }
            : {}
          return cardOf(visit, benefit, { status: { kind: 'full', ...swapto } })
        }),
        ...wantedElsewhere(visit, offer),
      ],
      focus,
      paths,
    }
    return benefitsView(shelf, 'overview', leavingOn(visit))
  },
  post: async (visit, form) => {
    const { selectable, free, slotless } = choosableByMember(visit)
    if (selectable.length === 0)
      return isMissing(visit, form.getAll('benefit')) ? 'conflict' : { to: 'overview' }
    const names = selectable.map(({ name }) => name)
    const picks = parseBenefits(form, { selectable: names, slots: free, slotless, required: true })
    if (isFaulty(picks)) return picks
    return saveAnswers(visit, { to: 'check' }, draft => ({ ...draft, picks }))
  },
}

/** The preselected benefits: at first those that wait for an agreement, and the one that the person's link is about. */
function picksInMind(
  visit: Visit,
  selectable: readonly Benefit[],
  waiting: readonly string[],
): readonly string[] {
  const { deepLink, draft } = visit
  const wanted = deepLink?.redirectto === 'enrol' ? [deepLink.productname] : []
  return (draft.picks ?? [...waiting, ...wanted]).filter(name =>
    selectable.some(benefit => benefit.name === name),
  )
}
