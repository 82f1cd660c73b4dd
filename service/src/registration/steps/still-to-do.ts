import type { Benefit } from '../../catalogue/model.ts'
import { proposedDesignation } from '../../membership/rules/designations.ts'
import { type Enrolment, isHeld, isLive } from '../../membership/rules/state.ts'
import { hasBeneficiary, hasConsent, knownBenefit } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { StillToDo, WaitingName } from '../views/parts.ts'
import { dueDay } from './cards.ts'

/** What a member still has to do for their benefits; `undefined` when nothing. */
export function stillToDo(visit: Visit): StillToDo | undefined {
  const { user, terms, locale } = visit
  const live = [...new Set(user.enrolments.filter(isLive).map(({ benefit }) => benefit))]
  const benefits = live.flatMap(name => knownBenefit(terms, user, name) ?? [])
  const waiting = (isSo: (benefit: Benefit, enrolment: Enrolment) => boolean) =>
    benefits.flatMap((benefit): WaitingName[] => {
      const found = user.enrolments.find(
        one => one.benefit === benefit.name && one.state === 'actionrequired' && isSo(benefit, one),
      )
      return found ? [{ displayname: benefit.displayname[locale], dueon: dueDay(visit, found) }] : []
    })
  const missing = waiting(benefit => !hasBeneficiary(user, benefit))
  // Benefits of a planned change are agreed to with that change, not here.
  const agree = waiting((benefit, one) => isHeld(one) && !hasConsent(user, benefit))
  const proposed = benefits
    .filter(({ name }) => proposedDesignation(user, name) !== undefined)
    .map(({ displayname }) => displayname[locale])
  return missing.length + agree.length + proposed.length === 0 ? undefined : { missing, agree, proposed }
}
