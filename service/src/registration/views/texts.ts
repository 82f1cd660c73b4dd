import type { FieldError } from './faults.ts'
import type { Locale } from './surroundings.ts'
import { en } from './texts.en.ts'
import { es } from './texts.es.ts'
import { beneficiariesEn } from './texts-beneficiaries.en.ts'
import { beneficiariesEs } from './texts-beneficiaries.es.ts'
import { coverageEn } from './texts-coverage.en.ts'
import { coverageEs } from './texts-coverage.es.ts'
import { standingEn } from './texts-standing.en.ts'
import { standingEs } from './texts-standing.es.ts'
import { toldEn } from './texts-told.en.ts'
import { toldEs } from './texts-told.es.ts'

/** The page's words. A language that lacks a key of the English texts does not compile. */
export type Texts = typeof en
/** The words about coverage. */
export type CoverageTexts = typeof coverageEn
/** The words of confirmations. */
export type ToldTexts = typeof toldEn

/** The words of a language. */
export function textsOf(locale: Locale): Texts {
  return locale === 'es' ? es : en
}

/** The words about beneficiaries. */
export function beneficiaryTexts(locale: Locale): typeof beneficiariesEn {
  return locale === 'es' ? beneficiariesEs : beneficiariesEn
}

/** The words about coverage, price, documents and the copy. */
export function coverageTexts(locale: Locale): CoverageTexts {
  return locale === 'es' ? coverageEs : coverageEn
}

/** The words about a member's situation. */
export function standingTexts(locale: Locale): typeof standingEn {
  return locale === 'es' ? standingEs : standingEn
}

/** The words of confirmations. */
export function toldTexts(locale: Locale): ToldTexts {
  return locale === 'es' ? toldEs : toldEn
}

/** The sentence that says what is wrong with an input. */
export function errorText(texts: Texts, error: FieldError): string {
  const words = texts.errors[error.code](error.count ?? 0)
  return error.about === undefined ? words : `${words}: ${error.about}`
}
