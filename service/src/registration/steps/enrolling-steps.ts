import type { ErrorCode } from '@benefit-enrolment/contract'
import { createAccount } from '../../accounts/lifecycle.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { isRefusal, refuse } from '../../membership/rules/refusal.ts'
import { detailsOf, draftOf, missingGroups } from '../session/answers.ts'
import { authorOf } from '../session/author.ts'
import { wayBack } from '../session/session.ts'
import { personShown, tagNow } from '../session/shown.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { checkConsents } from '../views/choices.ts'
import type { WayOut } from '../views/faults.ts'
import type { ConsentText } from '../views/parts.ts'
import { agreedNow, consentsToEnrol } from './agreements.ts'
import { foreseenLine, visitAfter } from './ahead.ts'
import { isAnybody } from './change-own.ts'
import { namingFirst, namingLines, withDraftNames } from './naming.ts'
import { type ConfirmedChange, changeAndConfirm, confirmMade } from './outcomes.ts'
import { type Plan, plansFor } from './plans.ts'
import { stepOf } from './progress.ts'
import { foundPlan, picksOf } from './registering-steps.ts'
import { confirmsOlder } from './save-answers.ts'
import { type Posted, type Step, showedOther, versionOf } from './step.ts'

/** All answers once more, with the consents that are needed. */
export const check: Step = {
  show: (visit, typed) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    if (visit.draft.picks === undefined && found.selectable.length > 0) return { to: 'benefits' }
    const chosen = chosenBenefits(visit, found)
    const unnamed = namingFirst(visit, chosen)
    if (unnamed) return unnamed
    const trial = { offer: found.offer, picks: picksOf(visit, found), consents: [], startsAt: visit.now }
    const after = visitAfter(visit, createAccount(visit.user, trial, visit.now, visit.terms))
    return {
      view: 'CHECK_ANSWERS',
      page: pageOf(visit, stepOf(visit, 'check')),
      details: detailsOf(visit.person),
      offername: found.offer.displayname[visit.locale],
      benefits: chosen.map(benefit => foreseenLine(visit, after, benefit, visit.now)),
      choosable: found.selectable.length > 0,
      naming: namingLines(visit, chosen),
      consents: consentsToEnrol(visit, chosen, typed.posted),
    }
  },
}

/** The benefits that a newcomer is about to get; empty while there is no plan. */
export function chosenByNewcomer(visit: Visit): readonly Benefit[] {
  const found = foundPlan(visit)
  return 'to' in found ? [] : chosenBenefits(visit, found)
}

function chosenBenefits(visit: Visit, found: Plan): Benefit[] {
  const picks = picksOf(visit, found)
  return [...found.included, ...found.selectable.filter(({ name }) => picks.includes(name))]
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
      namingFirst(visit, chosen) ??
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
  const version = versionOf(form)
  const change: ConfirmedChange = {
    why: 'enrol',
    of: isAnybody,
    agreements,
    decide: ({ user, person: documentOf, now, terms }) => {
      if (user.status === 'active') return refuse('user_exists')
      const draft = draftOf(documentOf('draft'))
      if (version !== undefined && version !== draft.version) return 'conflict'
      if (showedOther(form, tagNow(visit.partner, { user, person: documentOf, now, terms })))
        return 'conflict'
      const person = personShown(user, documentOf)
      const picks = picksOf({ ...visit, draft }, found)
      const start = { offer: found.offer, picks, consents: agreedNow(visit, agreements), startsAt: now }
      const chosen = chosenBenefits({ ...visit, draft }, found)
      const named = withDraftNames(user, draft, { benefits: chosen, at: now, who: authorOf(visit.session) })
      const created = createAccount(named.user, start, now, terms(person))
      if (isRefusal(created)) return created
      const { designations } = named
      return { ...created, designations, documents: { profile: person, prefill: null, draft: null } }
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

/** No plan fits, and why. */
export const none: Step = {
  show: visit => {
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const { plans, reasons } = plansFor(visit)
    if (plans.length > 0) return { to: 'plan' }
    return {
      view: 'NO_BENEFITS',
      page: pageOf(visit),
      reasons,
      redirecturl: wayBack(visit),
    }
  },
}
