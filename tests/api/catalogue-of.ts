/** What a test says of a benefit; the rest is filled in. */
type Benefit = { name: string; sortorder?: number; displayname?: string; rules?: object[]; consent?: object }
/** What a test says of an offer. */
type Offer = {
  offer: string
  rank: number
  fixed?: string[]
  selectable?: string[]
  slots?: number
  availability?: object
  rules?: object[]
}

const both = (text: string) => ({ en: text, es: `${text} ES` })

/** A catalogue document, as text that can be published (JSON is YAML). */
export const catalogueOf = (benefits: readonly Benefit[], offers: readonly Offer[]): string =>
  JSON.stringify({
    schema: 1,
    benefits: benefits.map(({ displayname, ...benefit }) => ({
      displayname: both(displayname ?? benefit.name),
      description: both(`About ${benefit.name}`),
      icon: 'legal.svg',
      benefittype: 'service',
      sortorder: 10,
      cost: { cents: 0, per: 'month' },
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

/** A rule by age, with a text in both languages. */
export const ageRule = (code: string, age: { min?: number; max?: number }) => ({
  code,
  age,
  text: { en: `Refused by ${code}.`, es: `Rechazado por ${code}.` },
})

/** A rule by states. */
export const stateRule = (code: string, states: { in?: string[]; notin?: string[] }) => ({
  code,
  states,
  text: { en: `Refused by ${code}.`, es: `Rechazado por ${code}.` },
})
