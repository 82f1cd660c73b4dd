import { missingGroups } from '../session/answers.ts'
import type { Visit } from '../session/visit.ts'
import type { Page } from '../views/surroundings.ts'
import { offersOf, plansFor } from './plans.ts'

/**
 * Whether a newcomer has a choice of plans. `perhaps`: the partner has several, and the details that decide which of
 * them admit this person are not known yet.
 */
export function choosesPlan(visit: Visit): boolean | 'perhaps' {
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
