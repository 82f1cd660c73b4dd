/** The languages of the page. Each but English is a file of `service/assets/page`, which says whether it is a draft. */
export const LANGUAGES = ['en', 'es', 'fr'] as const
export type Language = (typeof LANGUAGES)[number]

/** The languages that each text has; the contract promises them. */
export const WHOLE_LANGUAGES = ['en', 'es'] as const
type WholeLanguage = (typeof WHOLE_LANGUAGES)[number]

/** A text in English and Spanish, and in further languages where they are given. */
export type Bilingual = Readonly<Record<WholeLanguage, string>> & {
  readonly [further in Exclude<Language, WholeLanguage>]?: string
}

/** The language in which a person of this one reads a text: their own where it is given, else English. */
export function languageOfText(text: Bilingual, language: Language): Language {
  return text[language] === undefined ? 'en' : language
}

/** A text for a person of this language: in their own where it is given, else in English. */
export function textIn(text: Bilingual, language: Language): string {
  return text[language] ?? text.en
}
