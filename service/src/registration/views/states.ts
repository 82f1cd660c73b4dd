import type { Localized } from './surroundings.ts'

/** The USPS codes a person can choose, with their names, sorted by name: states, DC, territories and military. */
export function stateNames(page: Localized): readonly (readonly [code: string, name: string])[] {
  return listIn(page)
}

/** The name of a state, or the code itself when it is unknown. */
export function stateName(page: Localized, code: string): string {
  return listIn(page).find(([known]) => known === code)?.[1] ?? code
}

/** True for a USPS code. */
export function isState(code: string): boolean {
  return english.has(code)
}

const english: ReadonlyMap<string, string> = new Map(
  `AL Alabama|AK Alaska|AS American Samoa|AZ Arizona|AR Arkansas|AA Armed Forces Americas|AE Armed Forces Europe|AP Armed Forces Pacific|CA California|CO Colorado|CT Connecticut|DE Delaware|DC District of Columbia|FM Federated States of Micronesia|FL Florida|GA Georgia|GU Guam|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MH Marshall Islands|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|MP Northern Mariana Islands|OH Ohio|OK Oklahoma|OR Oregon|PW Palau|PA Pennsylvania|PR Puerto Rico|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VI Virgin Islands|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming`
    .split('|')
    .map(entry => [entry.slice(0, 2), entry.slice(3)] as const),
)

/** States that have a Spanish name of their own. */
const spanish: Readonly<Record<string, string>> = {
  AS: 'Samoa Americana',
  AA: 'Fuerzas Armadas, América',
  AE: 'Fuerzas Armadas, Europa',
  AP: 'Fuerzas Armadas, Pacífico',
  DC: 'Distrito de Columbia',
  FM: 'Estados Federados de Micronesia',
  HI: 'Hawái',
  LA: 'Luisiana',
  MH: 'Islas Marshall',
  MI: 'Míchigan',
  MP: 'Islas Marianas del Norte',
  MS: 'Misisipi',
  MO: 'Misuri',
  NH: 'Nuevo Hampshire',
  NJ: 'Nueva Jersey',
  NM: 'Nuevo México',
  NY: 'Nueva York',
  NC: 'Carolina del Norte',
  ND: 'Dakota del Norte',
  OR: 'Oregón',
  PW: 'Palaos',
  PA: 'Pensilvania',
  SC: 'Carolina del Sur',
  SD: 'Dakota del Sur',
  VI: 'Islas Vírgenes',
  WV: 'Virginia Occidental',
}

/** Other languages have the English names. */
function listIn({ locale }: Localized): readonly (readonly [string, string])[] {
  return locale === 'es' ? lists.es : lists.en
}

const lists = {
  en: [...english] as const,
  es: [...english]
    .map(([code, name]) => [code, spanish[code] ?? name] as const)
    .sort((a, b) => a[1].localeCompare(b[1], 'es')),
}
