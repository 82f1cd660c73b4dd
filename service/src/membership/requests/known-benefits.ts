import type { FieldProblem } from '@benefit-enrolment/contract'
import { ServiceError } from '../../http/service-error.ts'
import type { User } from '../rules/state.ts'
import { knownBenefit, openBenefit, type Terms } from '../rules/terms.ts'

/** A benefit that a request names, and where. */
export type NamedBenefit = { readonly field: string; readonly name: string }

/**
 * Refuses names of benefits that are neither in the newest catalogue nor among the user's own enrolments. Throws
 * `benefit_unknown`, which names each of the fields.
 */
export function checkBenefits(
  named: readonly NamedBenefit[],
  context: { user: User | undefined; terms: Terms },
): void {
  const { user, terms } = context
  const isKnown = (name: string) => (user ? knownBenefit(terms, user, name) : openBenefit(terms, name))
  const unknown = named
    .filter(({ name }) => isKnown(name) === undefined)
    .map(
      ({ field }): FieldProblem => ({
        field,
        code: 'unknown',
        message: `${field} must be the name of a benefit of the catalogue`,
      }),
    )
  if (unknown.length > 0) throw new ServiceError('benefit_unknown', undefined, { errors: unknown })
}

/** The benefits that the consents of a request name. */
export function consentNames(consents: readonly { readonly name: string }[] = []): NamedBenefit[] {
  return consents.map(({ name }, index) => ({ field: `consents[${index}].name`, name }))
}
