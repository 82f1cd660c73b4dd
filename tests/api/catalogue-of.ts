/** The parts of a benefit that a test sets; the rest is filled in. */
type Benefit = {
  name: string
  sortorder?: number
  displayname?: string
  benefittype?: string
  rules?: object[]
  endsatage?: number
  consent?: object
  beneficiaries?: 'required' | 'optional'
  covers?: object
  /** Instead of a cost. */
  tiers?: object[]
}
/** The parts of an offer that a test sets. */
type Offer = {
  offer: string
  rank: number
  fixed?: string[]
  selectable?: string[]
  slots?: number
  availability?: object
  rules?: object[]
}

function both(text: string) {
  return { en: text, es: `${text} ES` }
}

/** A catalogue document, as text that can be published (JSON is YAML). */
export function catalogueOf(benefits: readonly Benefit[], offers: readonly Offer[]): string {
  return JSON.stringify({
    schema: 1,
    benefits: benefits.map(({ displayname, ...benefit }) => ({
      displayname: both(displayname ?? benefit.name),
      description: both(`About ${benefit.name}`),
      icon: 'legal.svg',
      benefittype: 'service',
      sortorder: 10,
      ...(benefit.tiers ? {} : { cost: { cents: 0, per: 'month' } }),
      pays: both('Something'),
      notcovered: both('Nothing'),
      rules: [],
      ...benefit,
    })),
    offers: offers.map(offer => ({
      displayname: both(offer.offer),
      description: both(`About ${offer.offer}`),
      fixed: [],
      selectable: [],
      slots: 0,
      period: 'calendarmonth',
      cutoffhours: 24,
      rules: [],
      ...offer,
    })),
  })
}

/** A rule by age, with a text in both languages. */
export function ageRule(code: string, age: { min?: number; max?: number }) {
  return {
    code,
    age,
    text: { en: `Refused by ${code}.`, es: `Rechazado por ${code}.` },
  }
}

/** A rule by states. */
export function stateRule(code: string, states: { in?: string[]; notin?: string[] }) {
  return {
    code,
    states,
    text: { en: `Refused by ${code}.`, es: `Rechazado por ${code}.` },
  }
}
