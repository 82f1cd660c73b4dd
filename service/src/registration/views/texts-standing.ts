import type { Locale } from './surroundings.ts'
import { standingEn } from './texts-standing.en.ts'
import { standingEs } from './texts-standing.es.ts'

/** The words about where a member stands: every language has exactly the keys that English has, or it does not compile. */
export type StandingTexts = typeof standingEn

/** The words about where a member stands, in a language. */
export function standingTexts(locale: Locale): StandingTexts {
  return locale === 'es' ? standingEs : standingEn
}
