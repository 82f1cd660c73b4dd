import { reinstateAccount } from '../../accounts/reinstate.ts'
import { designationOf } from '../../membership/rules/designations.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { hasPendingCancel, isActive, type User } from '../../membership/rules/state.ts'
import { hasConsent, knownBenefit, offerOf } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { Comeback } from '../views/model.ts'
import { visitAfter } from './ahead.ts'
import { liveLines } from './cards.ts'
import { isAnybody, type OwnChange } from './change-own.ts'
import { changeAndConfirm } from './outcomes.ts'
import type { Step } from './step.ts'

/** What would be restored if the person undid their cancel now; `undefined` when that is not possible. */
export function comebackOf(visit: Visit): Comeback | undefined {
  const { user, now, terms } = visit
  if (user.status !== 'cancelled') return undefined
  const trial = reinstateAccount(user, now, terms)
  if (isRefusal(trial)) return undefined
  const offer = offerOf(terms, trial.user)
  const benefits = liveLines(visitAfter(visit, trial)).map(({ since, ...line }) =>
    since === undefined ? line : { ...line, startson: since },
  )
  if (!offer || benefits.length === 0) return undefined
  const known = benefits.flatMap(({ name }) => knownBenefit(terms, trial.user, name) ?? [])
  return {
    offername: offer.displayname[visit.locale],
    benefits,
    agreed: known.some(benefit => benefit.consent && hasConsent(trial.user, benefit)),
    named: known.some(
      ({ name, beneficiaries }) => beneficiaries && designationOf(trial.user, name) !== undefined,
    ),
  }
}

/** Restores offer and benefits after a cancel, during the days in which that is allowed; a repeat changes nothing. */
export const comeback: Step = takingBack('details', user => user.status !== 'active', 'as shown')

/** Keeps the benefits by undoing a cancel that is still pending. */
export const cancelUndo: Step = takingBack('cancel', hasPendingCancel)

/** Takes a cancel back. Refused by the rules: shows `from` again. `as shown`: also refuses a form that is out of date. */
function takingBack(from: string, isToDo: (user: User) => boolean, how?: 'as shown'): Step {
  const decide: OwnChange['decide'] = ({ user, now, terms }) => {
    if (!isToDo(user)) return 'unchanged'
    const change = reinstateAccount(user, now, terms())
    // A former member who has begun a new registration gives it up by coming back.
    return isRefusal(change) || isActive(user) ? change : { ...change, documents: { draft: null } }
  }
  return {
    show: () => ({ to: from }),
    post: (visit, form) => {
      const change: OwnChange = { why: 'reinstate', of: isAnybody, decide, ...(how ? { form } : {}) }
      return changeAndConfirm(visit, 'undone', change, 'conflict')
    },
  }
}
