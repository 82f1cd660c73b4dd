import { readFileSync } from 'node:fs'
import { type Bilingual, LANGUAGES, type Language, languageOfText, textIn } from '../../catalogue/model.ts'
import { html } from '../../http/html.ts'
import type { Passage } from './parts.ts'
import type { Localized } from './surroundings.ts'

/** A language of the page: its own name, the words of the button that leads to it, and each sentence by the English one. */
type Sentences = {
  readonly name: string
  /** What the button is called: to see this page in this language. */
  readonly see: string
  /** Written by a machine and read by nobody yet: offered only where an operator switched it on. */
  readonly draft?: boolean
  readonly sentences: Readonly<Record<string, string>>
}

/** Says a sentence, with facts in the places of `{1}`, `{2}` …, in one language. */
export type Say = (sentence: TemplateStringsArray | string, ...facts: readonly (string | number)[]) => string

function read(locale: Language): Sentences {
  return JSON.parse(
    readFileSync(new URL(`../../../assets/page/${locale}.json`, import.meta.url), 'utf8'),
  ) as Sentences
}

const english: Sentences = { name: 'English', see: 'View this page in English', sentences: {} }

/** The languages that the page is written in, by their codes: each of `LANGUAGES` but English has a file. */
export const languages: ReadonlyMap<Language, Sentences> = new Map(
  LANGUAGES.map(code => [code, code === 'en' ? english : read(code)]),
)

/** The languages that people may choose: all but drafts, and these drafts. */
export function offeredLanguages(drafts: readonly Language[] = []): readonly Language[] {
  return LANGUAGES.filter(code => !languages.get(code)?.draft || drafts.includes(code))
}

/** Says sentences in the language of the page. Each stands in English where it is said; in others it is looked up by that. */
export function sayIn({ locale }: Localized): Say {
  return (sentence, ...facts) => {
    const english =
      typeof sentence === 'string' ? sentence : sentence.reduce((all, part, at) => `${all}{${at}}${part}`)
    const text = languages.get(locale)?.sentences[english] ?? english
    return text.replace(/\{(\d)\}/g, (_, at) => String(facts[at - 1]))
  }
}

/** A text for reading, such as one of the catalogue: marked as English where it is not given in the page's language. */
export function passageIn(text: Bilingual, locale: Language): Passage {
  return inLanguageOf(text, locale, textIn(text, locale))
}

/** Marks a part of a text as English where the text is not given in the page's language. */
export function inLanguageOf(text: Bilingual, locale: Language, part: string): Passage {
  const language = languageOfText(text, locale)
  return language === locale ? part : html`<span lang="${language}">${part}</span>`
}

/** A sentence of a table, which `say` says when its code is known. */
export function later(sentence: TemplateStringsArray): string {
  return sentence.join('')
}
