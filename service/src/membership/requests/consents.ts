import type { GivenConsents, Locale } from '@benefit-enrolment/contract'
import type { Static } from 'typebox'
import { type Instant, parseTimestamp } from '../../calendar/calendar.ts'
import { type Refusal, refuseField } from '../rules/refusal.ts'
import type { Consent } from '../rules/state.ts'
import { openBenefit, type Terms } from '../rules/terms.ts'

/**
 * The consents of a request in the form in which they are kept. Refuses a consent that no benefit asks for in this
 * version, and one of the future.
 */
export function consentsOf(
  given: Static<typeof GivenConsents> = [],
  context: { terms: Terms; now: Instant; locale: Locale },
): Consent[] | Refusal {
  const consents: Consent[] = []
  for (const [index, { name, version, locale, agreedattimestamp }] of given.entries()) {
    const at = `consents[${index}]`
    const wanted = openBenefit(context.terms, name)?.consent
    if (!wanted) return refuseField(`${at}.name`, 'unknown', 'must be a benefit that asks for a consent')
    if (wanted.version !== version)
      return refuseField(`${at}.version`, 'unknown', 'must be the version of the consent text in force')
    const sentAt = agreedattimestamp ? parseTimestamp(agreedattimestamp) : undefined
    const agreedAt = sentAt ?? context.now
    if (agreedAt > context.now)
      return refuseField(`${at}.agreedattimestamp`, 'future', 'must not lie in the future')
    consents.push({ name, version, agreedAt, locale: locale || context.locale })
  }
  return consents
}
