import { readFileSync } from 'node:fs'
import type { Localized } from './surroundings.ts'

/** A language of the page: its own name, the words of the button that leads to it, and each sentence by the English one. */
type Language = {
  readonly name: string
  /** What the button is called: to see this page in this language. */
  readonly see: string
  readonly sentences: Readonly<Record<string, string>>
}

/** Says a sentence, with facts in the places of `{1}`, `{2}` …, in one language. */
export type Say = (sentence: TemplateStringsArray | string, ...facts: readonly (string | number)[]) => string

function read(locale: string): Language {
  return JSON.parse(
    readFileSync(new URL(`../../../assets/page/${locale}.json`, import.meta.url), 'utf8'),
  ) as Language
}

/** The languages that the page is written in, by their codes; a further one is one more file, named here. */
export const languages: ReadonlyMap<string, Language> = new Map([
  ['en', { name: 'English', see: 'View this page in English', sentences: {} }],
  ['es', read('es')],
])

/** Says sentences in the language of the page. Each stands in English where it is said; in others it is looked up by that. */
export function sayIn({ locale }: Localized): Say {
  return (sentence, ...facts) => {
    const english =
      typeof sentence === 'string' ? sentence : sentence.reduce((all, part, at) => `${all}{${at}}${part}`)
    const text = languages.get(locale)?.sentences[english] ?? english
    return text.replace(/\{(\d)\}/g, (_, at) => String(facts[at - 1]))
  }
}

/** A sentence of a table, which `say` says when its code is known. */
export function later(sentence: TemplateStringsArray): string {
  return sentence.join('')
}
