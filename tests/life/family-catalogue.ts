import type { Benefit } from '../../service/src/catalogue/model.ts'
import type { TestCatalogue } from './catalogue.ts'

const cents = (cost: number, premium: number) => ({
  cost: { cents: cost, per: 'month' as const },
  premium: { cents: premium, per: 'month' as const },
})

/** The tiers of every benefit for families here. */
export const familyTiers: NonNullable<Benefit['tiers']> = [
  { tier: 'me', who: [], ...cents(1000, 800) },
  { tier: 'mespouse', who: ['spouse'], ...cents(1900, 1500) },
  { tier: 'mechildren', who: ['child'], ...cents(2100, 1700) },
  { tier: 'family', who: ['spouse', 'child'], ...cents(3000, 2400) },
]
const covers = { spouse: {}, domesticpartner: {}, child: { maxage: 26, most: 2 } }
const family = { covers, tiers: familyTiers, premium: { cents: 1, per: 'month' as const } }

/** Offers with benefits for families: `dental` is fixed, `eyes` asks for a consent, `gym` covers children only, `solo` nobody else. */
export const familyCatalogue: TestCatalogue = {
  benefits: [
    { name: 'dental', ...family },
    { name: 'hospital', ...family },
    { name: 'eyes', consent: 'v1', ...family },
    {
      name: 'gym',
      covers: { child: { maxage: 18 } },
      tiers: [familyTiers[0], familyTiers[2]].filter(tier => tier !== undefined),
      premium: family.premium,
    },
    { name: 'solo' },
  ],
  offers: [
    { offer: 'low', rank: 10, fixed: ['dental'], selectable: ['hospital', 'eyes', 'solo', 'gym'], slots: 2 },
    { offer: 'top', rank: 20, fixed: ['dental', 'hospital'], selectable: ['eyes', 'solo', 'gym'], slots: 2 },
    { offer: 'bare', rank: 5, fixed: ['solo'], selectable: ['hospital'], slots: 1 },
  ],
}
