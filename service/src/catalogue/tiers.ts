/** What a benefit costs, and pays, by who is covered: the one place that reads prices and amounts (contract §19). */
import type { Benefit, Relationship, Tier, TierMember, Worth } from './model.ts'

/** The prices and the amount for those who are covered, and their tier; `''`: the benefit has no tiers. */
export type TierWorth = Worth & { readonly tier: string }

/** A tier holds for everybody whom it names, and for some of them alone: the first that has all is taken. */
export function tierFor(tiers: readonly Tier[], who: Iterable<Relationship>): Tier | undefined {
  const covered = new Set([...who].map(tierMemberOf))
  return tiers.find(tier => [...covered].every(one => tier.who.includes(one)))
}

/**
 * What a benefit costs and pays while its holder and these others are covered; nobody else: the first tier. `check` lets no
 * combination without a tier through.
 */
export function worthOf(benefit: Benefit, who: Iterable<Relationship> = []): TierWorth {
  const { tiers, cost = NOTHING, premium, amount } = benefit
  const tier = tiers && (tierFor(tiers, who) ?? tiers.at(-1))
  return tier ?? { tier: '', cost, ...(premium && { premium }), ...(amount && { amount }) }
}

/** As what a tier counts somebody. */
export function tierMemberOf(relationship: Relationship): TierMember {
  return relationship === 'child' ? 'child' : 'spouse'
}

const NOTHING = { cents: 0, per: 'month' } as const
