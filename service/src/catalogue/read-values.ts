import type { Cursor } from './cursor.ts'
import type { Bilingual } from './model.ts'

/** A name that the file gives to one thing and uses elsewhere for it. */
export type Mention = { readonly at: Cursor; readonly name: string }

/** The short code of a benefit or an offer; '' and a refusal for anything else. */
export function readName(at: Cursor): string {
  return at.textThat(isName, 'is not a name; use 2 to 32 lower-case letters and digits, such as accident')
}

/** The short codes of a list of at most `max`, each with its place; one that stands there twice is refused. */
export function readNames(at: Cursor | undefined, max: number): Mention[] {
  const mentions = (at?.items(max) ?? []).map(item => ({ at: item, name: readName(item) }))
  refuseRepeated(mentions)
  return mentions.filter(mention => mention.name !== '')
}

/** A text of at most `max` characters in English and Spanish; a missing language is refused. */
export function readBilingual(at: Cursor, max: number): Bilingual {
  const { en, es } = at.fields({ en: 'the English text', es: 'the Spanish text' })
  return { en: en.text(max), es: es.text(max) }
}

/** Refuses every mention of what was mentioned before in the same list. */
export function refuseRepeated(mentions: readonly Mention[]): void {
  const seen = new Set<string>()
  for (const { at, name } of mentions) {
    if (name !== '' && seen.has(name)) at.refuse(`"${name}" stands in this list twice; delete one of the two`)
    seen.add(name)
  }
}

function isName(text: string): boolean {
  return /^[a-z0-9]{2,32}$/.test(text)
}
