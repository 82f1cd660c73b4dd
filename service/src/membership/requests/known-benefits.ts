import { because, type Refusal, refuse } from '../rules/refusal.ts'
import type { User } from '../rules/state.ts'
import { knownBenefit, openBenefit, type Terms } from '../rules/terms.ts'

/** A benefit that a request names, and where. */
export type NamedBenefit = { readonly field: string; readonly name: string }

/**
 * Refuses names of benefits that are neither in the newest catalogue nor among the user's own enrolments, with each of
 * their fields; `undefined`: all are known.
 */
export function refuseUnknown(
  named: readonly NamedBenefit[],
  context: { user: User | undefined; terms: Terms },
): Refusal | undefined {
  const { user, terms } = context
  const isKnown = (name: string) => (user ? knownBenefit(terms, user, name) : openBenefit(terms, name))
  const unknown = named
    .filter(({ name }) => isKnown(name) === undefined)
    .map(({ field }) => because(field, 'unknown', `${field} must be the name of a benefit of the catalogue`))
  return unknown.length > 0 ? refuse('benefit_unknown', unknown) : undefined
}

/** The benefits that the consents of a request name. */
export function consentNames(consents: readonly { readonly name: string }[] = []): NamedBenefit[] {
  return consents.map(({ name }, index) => ({ field: `consents[${index}].name`, name }))
}
