import type { Instant } from '../calendar/calendar.ts'
import { type Benefit, bySortOrder, type Naming } from '../catalogue/model.ts'
import { completeEnrolment } from '../membership/rules/complete.ts'
import { withDesignation } from '../membership/rules/designations.ts'
import type { Changed } from '../membership/rules/intents.ts'
import {
  type Designation,
  heldEnrolment,
  isLive,
  type Raised,
  raise,
  type User,
} from '../membership/rules/state.ts'
import { knownBenefit, offerOf, type Terms } from '../membership/rules/terms.ts'

/** A change of a user that adds one version of a beneficiary designation. */
type NewlyNamed = Changed & { readonly designation: Designation }

/** A benefit that takes beneficiaries, and whether naming them is required. */
export type NamingBenefit = { readonly benefit: Benefit; readonly naming: Naming }

/**
 * The benefits for which a member may name beneficiaries, in the order of the catalogue: those of the offer or held by
 * the member that take beneficiaries, and those with an earlier designation.
 */
export function namingBenefits(user: User, terms: Terms): readonly NamingBenefit[] {
  const offer = offerOf(terms, user)
  const held = user.enrolments.filter(isLive).map(({ benefit }) => benefit)
  const named = user.designations.map(({ benefit }) => benefit)
  const names = new Set([...(offer?.fixed ?? []), ...(offer?.selectable ?? []), ...held, ...named])
  return [...names]
    .flatMap((name): readonly NamingBenefit[] => {
      const benefit = knownBenefit(terms, user, name)
      const naming = benefit?.beneficiaries ?? (named.includes(name) ? 'optional' : undefined)
      return benefit && naming ? [{ benefit, naming }] : []
    })
    .sort((a, b) => bySortOrder(a.benefit, b.benefit))
}

/** Stores the beneficiaries that the person names; a benefit that waited for them begins, now or from its start. */
export function nameBeneficiariesOf(
  user: User,
  { benefit, who }: Pick<Designation, 'benefit' | 'who'>,
  now: Instant,
  terms: Terms,
): NewlyNamed {
  const added = withDesignation(user, { benefit, who, at: now })
  return { ...afterNaming(added.user, benefit, now, terms), designation: added.designation }
}

/** The change after beneficiaries were named. Its events say that the user was updated, and which benefit begins; they name nobody. */
function afterNaming(user: User, benefit: string, now: Instant, terms: Terms): Changed {
  const named: User = { ...user, updatedAt: now }
  const events: Raised[] = [raise(named, 'user_update_successful', now)]
  const held = heldEnrolment(named, benefit)
  if (!held) return { user: named, events }
  const completed = completeEnrolment(named, held, now, terms)
  return { user: completed.user, events: [...events, ...completed.events] }
}
