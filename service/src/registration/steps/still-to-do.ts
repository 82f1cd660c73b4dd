import type { Benefit } from '../../catalogue/model.ts'
import { designationOf } from '../../membership/rules/designations.ts'
import { hasPendingCancel, isLive } from '../../membership/rules/state.ts'
import { hasBeneficiary, hasConsent, knownBenefit, openBenefit } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { StillToDo, WaitingName } from '../views/parts.ts'
import { dueDay } from './cards.ts'
import { choosableByMember } from './member-choices.ts'

/** What a member has to do, or may still do, for their benefits; `undefined` when nothing. */
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
  const unnamed = benefits
    .filter(({ name, beneficiaries }) => beneficiaries === 'optional' && !designationOf(user, name))
    .map(({ displayname }) => displayname[locale])
  const openplaces = openPlaces(visit)
  const count = missing.length + agree.length + unnamed.length + openplaces
  return count === 0 ? undefined : { missing, agree, unnamed, openplaces }
}

/** How many benefits can be added now: as many as fit, of those that the person may have. */
function openPlaces(visit: Visit): number {
  if (hasPendingCancel(visit.user)) return 0
  const { free, selectable, slotless } = choosableByMember(visit)
  return Math.min(free, selectable.filter(({ name }) => !slotless.includes(name)).length)
}
