import { spanish } from './spanish.ts'
import type { Localized } from './surroundings.ts'

/** Says a sentence in the language of the page. It stands in English where it is said, and in Spanish in `spanish.ts` under the English. */
export function sayIn({ locale }: Localized) {
  return (parts: TemplateStringsArray, ...facts: readonly (string | number)[]): string => {
    const english = parts.reduce((all, part, at) => `${all}{${at}}${part}`)
    const text = locale === 'en' ? english : (spanish[english] ?? english)
    return text.replace(/\{(\d)\}/g, (_, at) => String(facts[at - 1]))
  }
}
