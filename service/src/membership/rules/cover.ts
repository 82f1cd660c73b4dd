/** The change of who is covered, pending and at its boundary (contract §19); `family.ts` has the rules of cover itself. */
import type { Benefit } from '../../catalogue/model.ts'
import { pricedTerms } from './family.ts'
import type { Enrolment } from './state.ts'
import { openBenefit, type Terms } from './terms.ts'

/**
 * The terms by which a change of cover of an enrolment is decided: those of the enrolment, or of the newest catalogue where these have
 * no tiers. `undefined`: neither has any.
 */
export function openCover(enrolment: Enrolment, terms: Terms): Benefit | undefined {
  const held = pricedTerms(terms, enrolment)
  if (held?.tiers) return held
  const open = openBenefit(terms, enrolment.benefit)
  return open?.tiers && open
}
