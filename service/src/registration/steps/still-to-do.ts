import type { Benefit } from '../../catalogue/model.ts'
import { proposedDesignation } from '../../membership/rules/designations.ts'
import { isLive } from '../../membership/rules/state.ts'
import { hasBeneficiary, hasConsent, knownBenefit, openBenefit } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { StillToDo, WaitingName } from '../views/parts.ts'
import { dueDay } from './cards.ts'

/** What a member still has to do for their benefits; `undefined` when nothing. */
export function stillToDo(visit: Visit): StillToDo | undefined {
  const { user, terms, locale } = visit
  const live = [...new Set(user.enrolments.filter(isLive).map(({ benefit }) => benefit))]
  const benefits = live.flatMap(name => knownBenefit(terms, user, name) ?? [])
  const waiting = (isSo: (benefit: Benefit) => boolean) =>
    benefits.filter(isSo).flatMap((benefit): WaitingName[] => {
      const found = user.enrolments.find(
        one => one.benefit === benefit.name && one.state === 'actionrequired',
      )
      return found ? [{ displayname: benefit.displayname[locale], dueon: dueDay(visit, found) }] : []
    })
  const missing = waiting(benefit => !hasBeneficiary(user, benefit))
  // What has left the catalogue cannot be agreed to any more.
  const agree = waiting(
    benefit => !hasConsent(user, benefit) && openBenefit(terms, benefit.name) !== undefined,
  )
  const proposed = benefits
    .filter(({ name }) => proposedDesignation(user, name) !== undefined)
    .map(({ displayname }) => displayname[locale])
  return missing.length + agree.length + proposed.length === 0 ? undefined : { missing, agree, proposed }
}
