import type { Locale } from './surroundings.ts'
import { standingEn } from './texts-standing.en.ts'
import { standingEs } from './texts-standing.es.ts'

/** The words about a member's situation. A language that lacks a key of the English texts does not compile. */
type StandingTexts = typeof standingEn

/** The words about a member's situation, in a language. */
export function standingTexts(locale: Locale): StandingTexts {
  return locale === 'es' ? standingEs : standingEn
}
