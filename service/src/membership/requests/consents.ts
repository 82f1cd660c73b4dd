import type { GivenConsents, Locale } from '@benefit-enrolment/contract'
import type { Static } from 'typebox'
import { type Instant, parseTimestamp } from '../../calendar/calendar.ts'
import { badField } from '../../http/service-error.ts'
import type { Consent } from '../rules/state.ts'
import { openBenefit, type Terms } from '../rules/terms.ts'

/**
 * The consents of a request in the form in which they are kept. Refuses a consent that no benefit asks for in this
 * version.
 */
export function consentsOf(
  given: Static<typeof GivenConsents>,
  context: { terms: Terms; now: Instant; locale: Locale },
): Consent[] {
  return given.map((consent, index) => {
    const wanted = openBenefit(context.terms, consent.name)?.consent
    if (!wanted)
      throw badField(`consents[${index}].name`, 'unknown', 'must be a benefit that asks for a consent')
    if (wanted.version !== consent.version) {
      throw badField(
        `consents[${index}].version`,
        'unknown',
        'must be the version of the consent text in force',
      )
    }
    const agreedAt = consent.agreedattimestamp ? parseTimestamp(consent.agreedattimestamp) : undefined
    if (agreedAt !== undefined && agreedAt > context.now) {
      throw badField(`consents[${index}].agreedattimestamp`, 'future', 'must not lie in the future')
    }
    return {
      name: consent.name,
      version: consent.version,
      agreedAt: agreedAt ?? context.now,
      locale: consent.locale || context.locale,
    }
  })
}
