import type { Catalogue } from '../../catalogue/model.ts'
import type { UserImpact } from './impact.ts'

/** Users counted by what publishing would do to them, for one benefit or offer. */
export type NameCounts = {
  /** Held, and kept by the terms under which it began. */
  keep: number
  /** Applicants and members who would no longer see it listed, and those who newly would. */
  seeless: number
  seemore: number
  /** Pending picks that would be canceled; for an offer, pending changes to it. */
  calledoff: number
  /** Held today, and would end with a pending change. */
  endwithchange: number
  /** Picks that wait and would need one thing more. */
  askmore: number
  /** Holders whom the new rules would refuse as newcomers. */
  couldnotjoin: number
}

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
export function addUser(counts: ImpactCounts, user: UserImpact): void {
  const benefit = (names: readonly string[], key: keyof NameCounts) => raise(counts.benefits, names, key)
  const offer = (name: string | undefined, key: keyof NameCounts) =>
    raise(counts.offers, name === undefined ? [] : [name], key)
  counts.users += 1
  counts[user.is === 'member' ? 'members' : 'applicants'] += 1
  if (user.isUnknown) counts.unknown += 1
  if (user.seesLess.length > 0) counts[user.is === 'member' ? 'membersless' : 'applicantsless'] += 1
  if (user.seesMore.length > 0) counts[user.is === 'member' ? 'membersmore' : 'applicantsmore'] += 1
  const isTouched = user.offerChangeOff !== undefined || user.picksOff.length + user.endsWithChange.length > 0
  if (isTouched) counts.calledoff += 1
  if (user.isMarked) counts.offerineligible += 1
  benefit(user.keeps, 'keep')
  benefit(user.seesLess, 'seeless')
  benefit(user.seesMore, 'seemore')
  benefit(user.picksOff, 'calledoff')
  benefit(user.endsWithChange, 'endwithchange')
  benefit(user.asksMore, 'askmore')
  offer(user.keepsOffer, 'keep')
  offer(user.offerChangeOff, 'calledoff')
  offer(user.couldNotJoin, 'couldnotjoin')
}

function raise(all: Map<string, NameCounts>, names: readonly string[], key: keyof NameCounts): void {
  for (const name of names) {
    const counts = all.get(name) ?? noNameCounts()
    counts[key] += 1
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
