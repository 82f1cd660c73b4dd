import type { Instant } from '../calendar/calendar.ts'
import { type Benefit, bySortOrder, type Naming } from '../catalogue/model.ts'
import { refuseUnknown } from '../membership/requests/known-benefits.ts'
import {
  type DesignationFault,
  faultsOfDesignation,
  type NamedBeneficiary,
} from '../membership/rules/beneficiaries.ts'
import { completeEnrolment } from '../membership/rules/complete.ts'
import { decided, proposedDesignation, withDesignation } from '../membership/rules/designations.ts'
import { type Raised, raise } from '../membership/rules/events.ts'
import type { Changed } from '../membership/rules/intents.ts'
import { because, type Refusal, refuse, refuseField } from '../membership/rules/refusal.ts'
import { type Designation, heldEnrolment, isLive, type User } from '../membership/rules/state.ts'
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

/**
 * Gives the member a proposal to answer; it replaces one that still waits. Refuses an unknown benefit, one that takes no
 * beneficiaries, one that is neither part of the offer nor held, and shares that do not add up.
 */
export function proposeBeneficiariesOf(
  user: User,
  input: { readonly name: string; readonly beneficiaries: readonly NamedBeneficiary[] },
  now: Instant,
  terms: Terms,
): (NewlyNamed & NamingBenefit) | Refusal {
  const { name, beneficiaries } = input
  const unknown = refuseUnknown([{ field: 'name', name }], { user, terms })
  if (unknown) return unknown
  if (knownBenefit(terms, user, name)?.beneficiaries === undefined)
    return refuseField('name', 'no_beneficiaries', 'must be a benefit that takes beneficiaries')
  const found = namingBenefits(user, terms).find(one => one.benefit.name === name)
  if (!found)
    return refuse('ineligible', [because('name', 'not_selectable', 'name must be a benefit of the offer')])
  const faults = faultsOfDesignation(beneficiaries)
  if (faults.length > 0)
    return refuse(
      'bad_request',
      faults.map(code => because('beneficiaries', code, `beneficiaries ${shareRules[code]}`)),
    )
  const added = withDesignation(user, { benefit: name, who: 'partner', status: 'proposed', at: now })
  return { ...found, user: { ...added.user, updatedAt: now }, designation: added.designation, events: [] }
}

/** Stores the beneficiaries that the person names; a benefit that waited for them begins, now or from its start. */
export function nameBeneficiariesOf(
  user: User,
  { benefit, who }: Pick<Designation, 'benefit' | 'who'>,
  now: Instant,
  terms: Terms,
): NewlyNamed {
  const added = withDesignation(user, { benefit, who, status: 'confirmed', at: now })
  return { ...afterNaming(added.user, benefit, now, terms), designation: added.designation }
}

/** Stores the person's answer to the proposal of this version; `undefined` when that proposal no longer waits. */
export function decideProposalOf(
  user: User,
  decision: { readonly benefit: string; readonly version: number; readonly status: 'confirmed' | 'dropped' },
  now: Instant,
  terms: Terms,
): Changed | undefined {
  const { benefit, version, status } = decision
  const proposal = proposedDesignation(user, benefit)
  if (proposal?.version !== version) return undefined
  const after = decided(user, proposal, { status, at: now })
  if (status === 'dropped') return { user: { ...after, updatedAt: now }, events: [] }
  return afterNaming(after, benefit, now, terms)
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

const shareRules: Readonly<Record<DesignationFault, string>> = {
  primary_missing: 'must name at least one primary beneficiary',
  primary_shares: 'must give the primary beneficiaries shares that sum to 100',
  contingent_shares: 'must give the contingent beneficiaries shares that sum to 100',
}
