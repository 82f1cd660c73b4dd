import type { Locale } from './surroundings.ts'
import { coverageEn } from './texts-coverage.en.ts'
import { coverageEs } from './texts-coverage.es.ts'

/** The words about coverage: every language has exactly the keys that English has, or it does not compile. */
export type CoverageTexts = typeof coverageEn

/** The words about coverage in a language. */
export function coverageTexts(locale: Locale): CoverageTexts {
  return locale === 'es' ? coverageEs : coverageEn
}
