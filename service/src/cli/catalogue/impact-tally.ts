import type { Catalogue } from '../../catalogue/model.ts'
import type { Consequence, Consequences, UserImpact } from './impact.ts'

/** Users counted by what publishing would do to them, for one benefit or offer. */
export type NameCounts = Record<Consequence, number>

/** What publishing would do to the users of one partner, or of all. */
export type ImpactCounts = {
  users: number
  members: number
  applicants: number
  /** Applicants whose birth date, state or ZIP code is not known. */
  unknown: number
  /** Applicants who would see fewer benefits, or more; one who loses one and gains another counts in both. */
  applicantsless: number
  applicantsmore: number
  membersless: number
  membersmore: number
  /** Users with a pending pick or change that would be canceled, or that would end a benefit which it keeps today. */
  calledoff: number
  /** Users who would be marked `offerineligible`. */
  offerineligible: number
  readonly benefits: Map<string, NameCounts>
  readonly offers: Map<string, NameCounts>
}

/** Counts of nobody. */
export function noCounts(): ImpactCounts {
  return {
    users: 0,
    members: 0,
    applicants: 0,
    unknown: 0,
    applicantsless: 0,
    applicantsmore: 0,
    membersless: 0,
    membersmore: 0,
    calledoff: 0,
    offerineligible: 0,
    benefits: new Map(),
    offers: new Map(),
  }
}

/** Adds one user to the counts. */
export function addUser(
  counts: ImpactCounts,
  { is, isUnknown, isMarked, benefits, offers }: UserImpact,
): void {
  const any = (names: readonly string[] = []) => names.length > 0
  const kind = is === 'member' ? 'members' : 'applicants'
  counts.users += 1
  counts[kind] += 1
  if (isUnknown) counts.unknown += 1
  if (any(benefits.seeless)) counts[`${kind}less` as const] += 1
  if (any(benefits.seemore)) counts[`${kind}more` as const] += 1
  if (any(offers.calledoff) || any(benefits.calledoff) || any(benefits.endwithchange)) counts.calledoff += 1
  if (isMarked) counts.offerineligible += 1
  raise(counts.benefits, benefits)
  raise(counts.offers, offers)
}

function raise(all: Map<string, NameCounts>, consequences: Consequences): void {
  for (const [consequence, names] of Object.entries(consequences) as [Consequence, readonly string[]][])
    for (const name of names) {
      const counts = all.get(name) ?? noNameCounts()
      counts[consequence] += 1
      all.set(name, counts)
    }
}

function noNameCounts(): NameCounts {
  return { keep: 0, seeless: 0, seemore: 0, calledoff: 0, endwithchange: 0, askmore: 0, couldnotjoin: 0 }
}

/** The sum of several partners' counts. */
export function sumOf(all: Iterable<ImpactCounts>): ImpactCounts {
  const sum = noCounts()
  for (const counts of all) {
    for (const key of Object.keys(sum) as (keyof ImpactCounts)[])
      if (key !== 'benefits' && key !== 'offers') sum[key] += counts[key]
    for (const list of ['benefits', 'offers'] as const)
      for (const [name, one] of counts[list]) {
        const known = sum[list].get(name) ?? noNameCounts()
        for (const key of Object.keys(known) as (keyof NameCounts)[]) known[key] += one[key]
        sum[list].set(name, known)
      }
  }
  return sum
}

/** The held benefits and offers that the new catalogue closes to newcomers by leaving them out. */
export function closedNames(
  counts: ImpactCounts,
  { today, next }: { today: Catalogue; next: Catalogue },
): { name: string; keep: number }[] {
  const closed = (list: Map<string, NameCounts>, kind: 'benefits' | 'offers') =>
    [...list].flatMap(([name, { keep }]) =>
      keep > 0 && today[kind].has(name) && !next[kind].has(name) ? [{ name, keep }] : [],
    )
  return [...closed(counts.benefits, 'benefits'), ...closed(counts.offers, 'offers')]
}
