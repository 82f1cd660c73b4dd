import type { Locale } from '@benefit-enrolment/contract'
import type { Bilingual } from '../../catalogue/model.ts'

/**
 * An abbreviation at the end, such as "Dr.", "U.S.", "Ph.D." or "EE. UU.": a capitalized word of up to four letters, letters
 * with points, or one of the small words that stand before a name or a number. A real end that looks like one is no harm,
 * because two sentences then share a line; half a sentence may say something that is not so.
 */
const ABBREVIATION_AT_END =
  /(?:^|[^\p{L}.])(?:\p{Lu}\p{L}{0,3}|(?:\p{L}{1,2}\.)+\p{L}{1,2}|ej|vs|no|núm|approx|aprox|max|máx|min|mín)\.[ \u00a0]*$/u

const split = new WeakMap<Bilingual, Readonly<Record<Locale, readonly string[]>>>()

/** The sentences of a text, found once, because the texts of a catalogue never change. */
export function sentencesOf(text: Bilingual, locale: Locale): readonly string[] {
  const known = split.get(text) ?? { en: sentencesIn(text, 'en'), es: sentencesIn(text, 'es') }
  split.set(text, known)
  return known[locale]
}

function sentencesIn(text: Bilingual, language: Locale): readonly string[] {
  const sentences: string[] = []
  let begun = ''
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(
    text[language],
  )) {
    begun += segment
    if (ABBREVIATION_AT_END.test(begun)) continue
    sentences.push(begun.trim())
    begun = ''
  }
  return [...sentences, begun.trim()].filter(sentence => sentence !== '')
}
