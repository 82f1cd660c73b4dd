import { formatTimestamp } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import type { Partner } from '../../partners/partner.ts'
import type { NamedBeneficiary } from '../rules/beneficiaries.ts'
import type { Designation } from '../rules/state.ts'
import { type OpenRecord, readRecords, type UserIds } from './sealed.ts'

/** The beneficiaries of a new version; the version itself is part of the user's state. */
export type NewDesignation = Pick<Designation, 'benefit' | 'version'> & {
  readonly beneficiaries: readonly NamedBeneficiary[]
}

/** A version with its beneficiaries. */
export type OpenDesignation = Designation & { readonly beneficiaries: readonly NamedBeneficiary[] }

const MOST_VERSIONS = 200

/**
 * A user's present and earlier beneficiaries, opened: the newest 200 versions of all benefits together, or all of them,
 * by benefit and version.
 */
export async function readDesignations(
  db: Executor,
  whose: { readonly partner: Partner; readonly user: UserIds },
  which: 'newest' | 'all' = 'newest',
): Promise<readonly OpenDesignation[]> {
  const most = which === 'newest' ? MOST_VERSIONS : null
  return (await readRecords(db, whose, 'beneficiaries', { most })).map(designationOf).sort(byBenefit)
}

/** The designation of a record. */
export function designationOf({ name, version, at, facts, content }: OpenRecord): OpenDesignation {
  const who = facts['who'] as Designation['who']
  const beneficiaries = content() as readonly NamedBeneficiary[]
  return { benefit: name, version: Number(version), who, writtenAt: at, beneficiaries }
}

/** Orders designations by benefit and version. */
export function byBenefit(a: OpenDesignation, b: OpenDesignation): number {
  return a.benefit === b.benefit ? a.version - b.version : a.benefit < b.benefit ? -1 : 1
}

/** A version in the form of exports and of the records that are kept after an erasure. */
export function designationRecord({ benefit, version, who, writtenAt, beneficiaries }: OpenDesignation) {
  return { benefit, version, who, writtenat: formatTimestamp(writtenAt), beneficiaries }
}
