import type { FieldError } from './faults.ts'
import { inBoth, type Localized } from './surroundings.ts'
import { benefitWords } from './words-benefits.ts'
import { coverageWords } from './words-coverage.ts'
import { memberWords } from './words-member.ts'
import { shellWords } from './words-shell.ts'

const texts = inBoth({
  en: { ...shellWords.en, ...benefitWords.en, ...memberWords.en, coverage: coverageWords.en },
  es: { ...shellWords.es, ...benefitWords.es, ...memberWords.es, coverage: coverageWords.es },
})

/** The words that several views share. */
export type Texts = (typeof texts)['en']
/** The words about coverage. */
export type CoverageTexts = Texts['coverage']

/** The words of a language. */
export function textsOf(page: Localized): Texts {
  return texts[page.locale]
}

/** The sentence that says what is wrong with an input. */
export function errorText(texts: Texts, error: FieldError): string {
  const found = texts.errors[error.code]
  const words = typeof found === 'string' ? found : found(error.count ?? 0)
  const said = error.wayout === undefined ? words : texts.wayout[error.wayout](words)
  return error.about === undefined ? said : `${said}: ${error.about}`
}
