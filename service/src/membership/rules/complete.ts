import type { Instant } from '../../calendar/calendar.ts'
import { applyCovers, refitCover } from './cover.ts'
import { withEnrolment } from './enrolments.ts'
import type { Changed } from './intents.ts'
import type { Enrolment, User } from './state.ts'
import { type Raised, raise } from './state.ts'
import { missingFor, openBenefit, type Terms } from './terms.ts'

/**
 * Starts an enrolment that waited for a consent or a beneficiary, now or at its own start, once nothing is missing;
 * otherwise changes nothing.
 */
export function completeEnrolment(
  user: User,
  held: Enrolment,
  now: Instant,
  terms: Terms,
): Changed & { readonly enrolment: Enrolment } {
  const benefit = openBenefit(terms, held.benefit)
  if (held.state !== 'actionrequired' || !benefit || missingFor(user, benefit).length > 0)
    return { user, events: [], enrolment: held }
  const startsAt = Math.max(now, held.startsAt)
  const state = startsAt <= now ? 'enrolled' : 'scheduled'
  const complete: Enrolment = { ...held, state, startsAt, actionDueAt: undefined, isSingle: true }
  const enrolment = startsAt > held.startsAt ? refitCover(complete, terms) : complete
  const begun = withEnrolment({ ...user, updatedAt: now }, enrolment)
  // A change of cover was to take effect at the start.
  const changed = state === 'enrolled' ? applyCovers(begun, now, terms) : { user: begun, events: [] }
  return {
    user: changed.user,
    events: [...eventsOfPick(changed.user, enrolment, now), ...changed.events],
    enrolment,
  }
}

/**
 * The event of a benefit that the user asked for alone. A scheduled benefit raises its success event later, at its
 * start.
 */
export function eventsOfPick(user: User, enrolment: Enrolment, now: Instant): Raised[] {
  const names = {
    actionrequired: 'benefit_action_required',
    scheduled: 'benefit_enrollment_scheduled',
    enrolled: 'benefit_enrollment_successful',
  } as const
  const name = names[enrolment.state as keyof typeof names]
  return [raise(user, name, now, enrolment.benefit)]
}
