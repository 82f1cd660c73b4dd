import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import { type Benefit, type HowToUse, howToUse } from '../../catalogue/model.ts'
import type { Enrolment } from './state.ts'
import { openBenefit, type Terms } from './terms.ts'

/** How a benefit is used by today's catalogue, whatever it said when cover began: a telephone number is no term of cover. */
export function howToUseToday(terms: Terms, benefit: Benefit): HowToUse | undefined {
  return howToUse(openBenefit(terms, benefit.name) ?? benefit)
}

/** The instant from which a benefit that has ended can no longer be used for what happened before; `undefined`: it cannot. */
export function usableUntil(
  terms: Terms,
  { state, endsAt }: Enrolment,
  benefit: Benefit,
): Instant | undefined {
  const days = howToUseToday(terms, benefit)?.within?.days
  return state === 'ended' && endsAt !== undefined && days !== undefined ? endsAt + days * DAY_MS : undefined
}
