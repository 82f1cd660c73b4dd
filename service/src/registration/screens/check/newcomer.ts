import type { ErrorCode } from '@benefit-enrolment/contract'
import { createAccount } from '../../../accounts/lifecycle.ts'
import type { Benefit } from '../../../catalogue/model.ts'
import { isRefusal, refuse } from '../../../membership/rules/refusal.ts'
import { detailsOf, draftOf } from '../../session/answers.ts'
import { personShown, tagNow } from '../../session/shown.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { agreedNow, consentsToEnrol } from '../../steps/agreements.ts'
import { foreseenLine, visitAfter } from '../../steps/ahead.ts'
import { isAnybody } from '../../steps/change-own.ts'
import { type ConfirmedChange, changeAndConfirm, confirmMade } from '../../steps/outcomes.ts'
import { chosenBenefits, foundPlan, type Plan, picksOf, plansFor, stepOf } from '../../steps/plans.ts'
import { checkConsents } from '../../steps/posted.ts'
import { confirmsOlder } from '../../steps/save-answers.ts'
import { type Posted, type Step, showedOther } from '../../steps/step.ts'
import type { WayOut } from '../../views/faults.ts'
import type { ConsentText } from '../../views/parts.ts'
import { checkView } from './view.ts'

/** All answers once more, with the consents that are needed. */
export const check: Step = {
  show: (visit, typed) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    if (visit.draft.picks === undefined && found.selectable.length > 0) return { to: 'benefits' }
    const chosen = chosenBenefits(visit, found)
    const trial = { offer: found.offer, picks: picksOf(visit, found), consents: [], startsAt: visit.now }
    const after = visitAfter(visit, createAccount(visit.user, trial, visit.now, visit.terms))
    const answers = { page: pageOf(visit, stepOf(visit, 'check')), errors: typed.errors }
    return checkView(answers, detailsOf(visit.person), {
      offername: found.offer.displayname[visit.locale],
      benefits: chosen.map(benefit => foreseenLine(visit, after, benefit, visit.now)),
      isfirstfree: found.offer.firstmonth === 'free',
      choosable: found.selectable.length > 0,
      consents: consentsToEnrol(visit, chosen, typed.posted),
    })
  },
}

/** Enrols exactly once, however often the button is pressed; each press gets the same confirmation. */
export const enrol: Step = {
  show: check.show,
  post: async (visit, form) => {
    const found = foundPlan(visit)
    if ('to' in found) {
      if (found.to === 'none') noteRefused(visit, 'ineligible')
      return found
    }
    if (confirmsOlder(visit, form)) return 'conflict'
    if (visit.draft.picks === undefined && found.selectable.length > 0) return { to: 'benefits' }
    const chosen = chosenBenefits(visit, found)
    const agreements = consentsToEnrol(visit, chosen)
    return (
      checkConsents(form, agreements, 'enroll', wayOut(visit, found, chosen)) ??
      enrolNow(visit, { form, found, agreements })
    )
  },
}

/** What a newcomer can do who does not agree to what a benefit asks for; nothing where there is no other choice. */
function wayOut(visit: Visit, { included, selectable }: Plan, chosen: readonly Benefit[]) {
  return (name: string): WayOut | undefined => {
    const isAmong = (benefits: readonly Benefit[]) => benefits.some(benefit => benefit.name === name)
    if (isAmong(selectable)) return chosen.length > 1 || selectable.length > 1 ? 'without' : undefined
    if (!isAmong(included)) return undefined
    return plansFor(visit).plans.some(plan => !isAmong(plan.included)) ? 'otherplan' : undefined
  }
}

function enrolNow(
  visit: Visit,
  input: { form: URLSearchParams; found: Plan; agreements: readonly ConsentText[] },
): Promise<Posted> {
  const { form, found, agreements } = input
  const change: ConfirmedChange = {
    why: 'enrol',
    of: isAnybody,
    agreements,
    decide: ({ user, person: documentOf, now, terms }) => {
      if (user.status === 'active') return refuse('user_exists')
      const draft = draftOf(documentOf('draft'))
      if (showedOther(form, tagNow(visit.partner, { user, person: documentOf, now, terms })))
        return 'conflict'
      const person = personShown(user, documentOf)
      const picks = picksOf({ ...visit, draft }, found)
      const start = { offer: found.offer, picks, consents: agreedNow(visit, agreements), startsAt: now }
      const created = createAccount(user, start, now, terms(person))
      if (isRefusal(created)) return created
      return { ...created, documents: { profile: person, prefill: null, draft: null } }
    },
  }
  return changeAndConfirm(visit, 'enrolled', change, code => {
    // The person is already a member: this is another press of the same button, or they enrolled in another way.
    if (code === 'user_exists') return confirmMade(visit, 'enrolled')
    noteRefused(visit, code)
    // The rules or the catalogue changed while the person answered: the person sees what is open now.
    return { to: 'plan' }
  })
}

/** Records the refusal, so that `enrolment user show` can tell why somebody who pressed the button is not a member. */
function noteRefused({ context, partner, user, requestId }: Visit, code: ErrorCode): void {
  context.noteRefused(partner, user.userid, { at: context.clock.real(), requestId, code, reasons: [] })
}
