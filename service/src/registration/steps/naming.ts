import { type OpenDesignation, readDesignations } from '../../membership/records/designations.ts'
import { isLive } from '../../membership/rules/state.ts'
import { hasBeneficiary, knownBenefit } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'

/** All versions of the beneficiaries that this person has named. */
export function designationsOf({ context, partner, user }: Visit): Promise<readonly OpenDesignation[]> {
  return readDesignations(context.database, { partner, user })
}

/**
 * The path to name beneficiaries for the first benefit that waits for them after an agreement, and from there to the
 * confirmation; `undefined` when none waits.
 */
export function namingAhead({ user, terms }: Pick<Visit, 'user' | 'terms'>): string | undefined {
  const waiting = user.enrolments
    .filter(one => isLive(one) && one.state === 'actionrequired')
    .flatMap(({ benefit }) => knownBenefit(terms, user, benefit) ?? [])
    .find(benefit => !hasBeneficiary(user, benefit))
  return waiting && `beneficiaries/${waiting.name}?then=done`
}
