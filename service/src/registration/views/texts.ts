import type { FieldError } from './faults.ts'
import type { Localized } from './surroundings.ts'
import { en } from './texts.en.ts'
import { es } from './texts.es.ts'

/** The page's words. A language that lacks a key of the English texts does not compile. */
export type Texts = typeof en
/** The words about coverage. */
export type CoverageTexts = Texts['coverage']
/** The words of confirmations. */
export type DoneTexts = Texts['donewords']

/** The words of a language. */
export function textsOf(page: Localized): Texts {
  return page.locale === 'es' ? es : en
}

/** The sentence that says what is wrong with an input. */
export function errorText(texts: Texts, error: FieldError): string {
  const found = texts.errors[error.code]
  const words = typeof found === 'string' ? found : found(error.count ?? 0)
  const said = error.wayout === undefined ? words : texts.check.wayout[error.wayout](words)
  return error.about === undefined ? said : `${said}: ${error.about}`
}
