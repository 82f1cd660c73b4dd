import type { CsvForm } from './feed.ts'

/** Letters that a plainer encoding writes with others; accents are taken off by themselves. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  Æ: 'AE',
  ø: 'o',
  Ø: 'O',
  œ: 'oe',
  Œ: 'OE',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ı: 'i',
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '…': '...',
}

/**
 * A text in the letters of an encoding. What it lacks gets its plain letters instead, such as `Jose` for `José`, and `?` for a
 * script that it cannot write.
 */
export function textIn(text: string, encoding: CsvForm['encoding']): string {
  return encoding === 'utf-8' ? text : plainText(text, encoding === 'ascii' ? 0x7e : 0xff)
}

/** How Node.js calls an encoding; ASCII is the same bytes in all of them. */
export function bytesOf(encoding: CsvForm['encoding']): 'utf8' | 'latin1' {
  return encoding === 'iso-8859-1' ? 'latin1' : 'utf8'
}

/** The text in characters up to a code, which is at least that of `~`. */
export function plainText(text: string, most: number): string {
  let plain = ''
  for (const character of text.normalize('NFC'))
    plain += fits(character, most) ? character : inPlainLetters(character, most)
  return plain
}

function inPlainLetters(character: string, most: number): string {
  const bare = character.normalize('NFD').replace(/\p{M}/gu, '')
  return [...bare].map(one => (fits(one, most) ? one : (PLAIN[one] ?? '?'))).join('')
}

function fits(character: string, most: number): boolean {
  return (character.codePointAt(0) ?? 0) <= most
}
