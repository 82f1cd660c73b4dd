import type { Locale } from '@benefit-enrolment/contract'

const LOCALES = ['en', 'es'] as const satisfies readonly Locale[]

/** The language of this name; `undefined` for any other text. */
export function localeNamed(name: unknown): Locale | undefined {
  return languageNamed(name, LOCALES)
}

/** The same among these languages, such as those that the page offers. */
export function languageNamed<L extends string>(name: unknown, languages: readonly L[]): L | undefined {
  return languages.find(language => language === name)
}

/**
 * The names in an `Accept-…` header in lower case, each with its weight, 1 unless `q` says otherwise (RFC 9110 §12.4.2).
 * Only the beginning of a long header is read.
 */
export function weighed(header: string): (readonly [name: string, weight: number])[] {
  return header
    .slice(0, 200)
    .split(',')
    .map(part => {
      const [name = '', ...parameters] = part.trim().toLowerCase().split(';')
      const quality = parameters.map(text => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(text)?.[1]).find(Boolean)
      return [name.trim(), quality === undefined ? 1 : Number(quality)]
    })
}

/** The language that `Accept-Language` asks for: es when it ranks above en, else en (contract §2). */
export function localeOf(header: string | undefined): Locale {
  return languageAsked(header, LOCALES) ?? 'en'
}

/** The language among these that `Accept-Language` asks for first; `undefined` when it names none of them. */
export function languageAsked<L extends string>(header = '', languages: readonly L[]): L | undefined {
  let best: { locale: L | undefined; weight: number } = { locale: undefined, weight: 0 }
  for (const [tag, weight] of weighed(header)) {
    const locale = languageNamed(tag.split('-')[0], languages)
    if (locale && weight > best.weight) best = { locale, weight }
  }
  return best.locale
}
