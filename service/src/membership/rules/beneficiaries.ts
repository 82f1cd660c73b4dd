import type { Beneficiary } from '@benefit-enrolment/contract'

/** One beneficiary, as it is sealed; unknown values are left out. */
export type NamedBeneficiary = Pick<Beneficiary, 'kind' | 'name' | 'relationship' | 'share'> & {
  readonly dob?: string
  readonly contact?: string
}

/** What is wrong with a designation as a whole. */
export type DesignationFault = 'primary_missing' | 'primary_shares' | 'contingent_shares'

/**
 * Why these beneficiaries are no valid designation: there is no primary one, or the shares of one kind do not sum to
 * 100.
 */
export function faultsOfDesignation(
  people: readonly Pick<NamedBeneficiary, 'kind' | 'share'>[],
): readonly DesignationFault[] {
  const sharesOf = (kind: NamedBeneficiary['kind']) =>
    people.filter(one => one.kind === kind).map(({ share }) => share)
  const [primary, contingent] = [sharesOf('primary'), sharesOf('contingent')]
  return [
    ...(primary.length === 0 ? (['primary_missing'] as const) : []),
    ...(primary.length > 0 && sumOf(primary) !== 100 ? (['primary_shares'] as const) : []),
    ...(contingent.length > 0 && sumOf(contingent) !== 100 ? (['contingent_shares'] as const) : []),
  ]
}

function sumOf(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + share, 0)
}
