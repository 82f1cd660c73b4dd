import type { Locale } from './surroundings.ts'
import { toldEn } from './texts-told.en.ts'
import { toldEs } from './texts-told.es.ts'

/** The words of confirmations: every language has exactly the keys that English has, or it does not compile. */
export type ToldTexts = typeof toldEn

/** The words of confirmations in a language. */
export function toldTexts(locale: Locale): ToldTexts {
  return locale === 'es' ? toldEs : toldEn
}
