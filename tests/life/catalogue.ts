import type { Benefit, Offer } from '../../service/src/catalogue/model.ts'

/** The data of a benefit and of an offer that tests need. */
export type TestBenefit = {
  readonly name: string
  readonly notin?: readonly string[]
  readonly maxAge?: number
  readonly endsatage?: number
  readonly offers?: readonly string[]
  readonly consent?: string
  readonly beneficiaries?: 'optional' | 'required'
  readonly cost?: Benefit['cost']
  readonly premium?: Benefit['premium']
  readonly covers?: Benefit['covers']
  readonly tiers?: Benefit['tiers']
}
export type TestOffer = {
  readonly offer: string
  readonly rank: number
  readonly fixed: readonly string[]
  readonly selectable: readonly string[]
  readonly slots: number
  readonly cutoffhours?: number
  readonly notin?: readonly string[]
  readonly availability?: { readonly from?: string; readonly until?: string }
  readonly prices?: Pick<Offer, 'fee' | 'firstmonth' | 'lastmonth'>
}
export type TestCatalogue = {
  readonly benefits: readonly TestBenefit[]
  readonly offers: readonly TestOffer[]
}

function pair(text: string) {
  return { en: text, es: `${text} (es)` }
}
function rule(code: string, condition: object) {
  return { code, ...condition, text: pair(`Refused by ${code}.`) }
}

/** The catalogue file of the description; JSON is YAML. */
export function fileOf(catalogue: TestCatalogue): string {
  return JSON.stringify({
    schema: 1,
    benefits: catalogue.benefits.map((benefit, index) => ({
      name: benefit.name,
      displayname: pair(benefit.name),
      description: pair(`All about ${benefit.name}.`),
      icon: 'vision.svg',
      benefittype: 'service',
      sortorder: index,
      pays: pair('Much.'),
      notcovered: pair('Little.'),
      ...(benefit.tiers
        ? { covers: benefit.covers, tiers: benefit.tiers }
        : { cost: benefit.cost ?? { cents: 0, per: 'month' } }),
      ...(benefit.premium
        ? {
            ...(!benefit.tiers && { premium: benefit.premium }),
            insurer: { name: 'Insurer', licence: pair('NAIC 1.') },
          }
        : {}),
      ...(benefit.consent ? { consent: { version: benefit.consent, text: pair('I agree.') } } : {}),
      ...(benefit.beneficiaries ? { beneficiaries: benefit.beneficiaries } : {}),
      ...(benefit.endsatage ? { endsatage: benefit.endsatage } : {}),
      rules: [
        ...(benefit.notin ? [rule('state_left_out', { states: { notin: benefit.notin } })] : []),
        ...(benefit.maxAge ? [rule('too_old', { age: { max: benefit.maxAge } })] : []),
        ...(benefit.offers ? [rule('other_offers', { offers: { in: benefit.offers } })] : []),
      ],
    })),
    offers: catalogue.offers.map(offer => ({
      offer: offer.offer,
      displayname: pair(offer.offer),
      description: pair(`The offer ${offer.offer}.`),
      rank: offer.rank,
      fixed: offer.fixed,
      selectable: offer.selectable,
      slots: offer.slots,
      cutoffhours: offer.cutoffhours ?? 24,
      ...offer.prices,
      ...(offer.availability ? { availability: offer.availability } : {}),
      rules: offer.notin ? [rule('offer_state', { states: { notin: offer.notin } })] : [],
    })),
  })
}

/** Three offers, and benefits with every kind of rule that a life can meet. */
export const lifeCatalogue: TestCatalogue = {
  benefits: [
    { name: 'base' },
    { name: 'extra', notin: ['NY'] },
    { name: 'gold', consent: 'v1' },
    { name: 'art' },
    { name: 'books' },
    { name: 'care' },
    { name: 'dental', notin: ['NY'] },
    { name: 'eyes', consent: 'v1' },
    { name: 'fit', offers: ['mid', 'top'] },
    { name: 'grow', maxAge: 39, endsatage: 40 },
    { name: 'home' },
  ],
  offers: [
    {
      offer: 'low',
      rank: 10,
      fixed: ['base'],
      selectable: ['art', 'books', 'care', 'dental', 'eyes', 'fit', 'grow', 'home'],
      slots: 2,
    },
    {
      offer: 'mid',
      rank: 20,
      fixed: ['base', 'extra'],
      selectable: ['art', 'books', 'care', 'dental', 'eyes', 'fit', 'grow', 'home'],
      slots: 3,
    },
    {
      offer: 'top',
      rank: 30,
      fixed: ['base', 'extra', 'gold', 'home'],
      selectable: ['art', 'books', 'care', 'dental', 'eyes', 'fit'],
      slots: 4,
      notin: ['NY'],
    },
  ],
}
