import { isDeepStrictEqual } from 'node:util'
import type { Covers, Relationship, Tier } from './model.ts'
import { repeatsIn } from './repeats.ts'
import { tierFor } from './tiers.ts'
import type { DeepPartial, WrittenCatalogue } from './written.ts'

/** Refuses the value at a JSON pointer. */
export type Refuse = (pointer: string, message: string) => void
/** A benefit of a file, without the values that are wrong by themselves. */
export type CheckedBenefit = NonNullable<NonNullable<DeepPartial<WrittenCatalogue>['benefits']>[number]>

const PRICES = ['cost', 'premium', 'amount'] as const

/**
 * Mistakes of a benefit for families (contract §19): every combination of those whom it covers needs a tier, and every tier a
 * combination; prices stand in the tiers alone, in one kind. Tiers that are wrong by themselves are not compared.
 */
export function checkTiers(benefit: CheckedBenefit, at: string, refuse: Refuse): void {
  const { covers, tiers } = benefit
  if (!('tiers' in benefit)) refuse(`${at}/covers`, 'needs tiers with prices; add them, or delete covers')
  if (!('covers' in benefit))
    refuse(`${at}/tiers`, 'needs covers, which says who may be covered; add it, or delete tiers')
  for (const price of PRICES)
    if (price in benefit) refuse(`${at}/${price}`, 'stands in each tier; delete it here')
  if (!covers || !tiers || tiers.some(tier => !tier?.who || tier.who.includes(undefined))) return
  const whole = tiers as readonly Tier[]
  if (whole[0]?.who.length !== 0)
    refuse(`${at}/tiers/0/who`, 'the first tier is that of the holder alone; write who: []')
  checkWho(covers as Covers, whole, at, refuse)
  for (const { value, index } of repeatsIn(whole.map(({ tier }) => tier)))
    refuse(`${at}/tiers/${index}/tier`, `"${value}" stands in this list twice; choose another code`)
  checkPrices(benefit, whole, at, refuse)
}

function checkWho(covers: Covers, tiers: readonly Tier[], at: string, refuse: Refuse): void {
  const reached = new Set<Tier>()
  for (const who of combinationsOf(covers)) {
    const tier = tierFor(tiers, who)
    if (tier) reached.add(tier)
    else
      refuse(
        `${at}/tiers`,
        `no tier covers ${['the holder', ...who].join(' and ')}; add one with who: [${who}]`,
      )
  }
  for (const [index, tier] of tiers.entries())
    if (index > 0 && !reached.has(tier))
      refuse(
        `${at}/tiers/${index}`,
        'nobody reaches this tier: an earlier one or covers takes all; delete it',
      )
}

/** Everybody who may be covered together, as tiers count them. */
function combinationsOf({ spouse, domesticpartner, child }: Covers): Relationship[][] {
  const spouses: Relationship[][] = spouse || domesticpartner ? [[], ['spouse']] : [[]]
  return spouses.flatMap((who): Relationship[][] => (child ? [who, [...who, 'child']] : [who]))
}

function checkPrices(
  { benefittype }: CheckedBenefit,
  tiers: readonly Tier[],
  at: string,
  refuse: Refuse,
): void {
  const [first] = tiers
  if (!first) return
  for (const [index, tier] of tiers.entries()) {
    const here = `${at}/tiers/${index}`
    if ('premium' in tier !== 'premium' in first)
      refuse(here, 'premium stands in all tiers or in none; the first tier says otherwise')
    for (const price of ['cost', 'premium'] as const) {
      const [is, was] = [tier[price]?.per, first[price]?.per]
      if (is && was && is !== was)
        refuse(`${here}/${price}/per`, `the tiers of a benefit have one per; the first has ${was}`)
    }
    if (!isDeepStrictEqual(tier.cost?.taken, first.cost?.taken))
      refuse(`${here}/cost`, 'the tiers of a benefit have one taken; write that of the first')
    if (benefittype && (benefittype === 'dollar') !== 'amount' in tier)
      refuse(
        here,
        benefittype === 'dollar'
          ? 'amount is missing; a benefit of type dollar needs what it pays in each tier'
          : `amount belongs to benefits of type dollar only; delete it, as this one is of type ${benefittype}`,
      )
  }
}
