import type { Locale } from './surroundings.ts'
import { beneficiariesEn } from './texts-beneficiaries.en.ts'
import { beneficiariesEs } from './texts-beneficiaries.es.ts'

/** The words about beneficiaries: every language has exactly the keys that English has, or it does not compile. */
type BeneficiaryTexts = typeof beneficiariesEn

/** The words about beneficiaries in a language. */
export function beneficiaryTexts(locale: Locale): BeneficiaryTexts {
  return locale === 'es' ? beneficiariesEs : beneficiariesEn
}
