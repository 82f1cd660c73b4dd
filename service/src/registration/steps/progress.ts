import type { Visit } from '../session/visit.ts'
import type { Page } from '../views/surroundings.ts'
import { missingGroups } from './answers.ts'
import { offersOf, openPlans } from './plans.ts'

/**
 * Whether a newcomer has a plan to choose: `perhaps` where the partner has several, and which of them are open to this
 * person is not known before the details are.
 */
export function choosesPlan(visit: Visit): boolean | 'perhaps' {
  if (offersOf(visit).length < 2) return false
  return missingGroups(visit.person).length > 0 ? 'perhaps' : openPlans(visit).length > 1
}

/** Where a step of the registration stands: details, benefits and answers, and a plan where there is one to choose. */
export function stepOf(
  visit: Visit,
  step: 'details' | 'plan' | 'benefits' | 'check',
): NonNullable<Page['step']> {
  const steps = choosesPlan(visit)
    ? ['details', 'plan', 'benefits', 'check']
    : ['details', 'benefits', 'check']
  return { at: Math.max(1, steps.indexOf(step) + 1), of: steps.length }
}
