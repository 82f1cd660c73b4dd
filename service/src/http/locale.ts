import type { Locale } from '@benefit-enrolment/contract'

/** The language of this name; `undefined` for any other text. */
export function localeNamed(name: unknown): Locale | undefined {
  return name === 'en' || name === 'es' ? name : undefined
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
  return localeAsked(header) ?? 'en'
}

/** The same; `undefined` when it names neither. */
export function localeAsked(header = ''): Locale | undefined {
  let best: { locale: Locale | undefined; weight: number } = { locale: undefined, weight: 0 }
  for (const [tag, weight] of weighed(header)) {
    const language = tag.split('-')[0]
    const locale: Locale | undefined = language === 'es' ? 'es' : language === 'en' ? 'en' : undefined
    if (locale && weight > best.weight) best = { locale, weight }
  }
  return best.locale
}
