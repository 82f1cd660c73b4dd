import { isUtf8 } from 'node:buffer'
import { CSV_DEFAULTS, type CsvForm, type Feed } from './feed.ts'

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

/** The text of an insurer's file in the encoding of the feed's own; UTF-8, where it is that in spite of it. */
export function textOfFile(bytes: Buffer, { csv }: Pick<Feed, 'csv'>): string {
  const encoding = bytesOf(csv?.encoding ?? CSV_DEFAULTS.encoding)
  return bytes.toString(isUtf8(bytes) ? 'utf8' : encoding)
}

/** The text in characters up to a code, which is at least that of `~`; a character without plain letters becomes what `lacking` says. */
export function plainText(text: string, most: number, lacking = (_: string): string => '?'): string {
  let plain = ''
  for (const character of text.normalize('NFC'))
    plain += fits(character, most) ? character : inPlainLetters(character, most, lacking)
  return plain
}

function inPlainLetters(character: string, most: number, lacking: (character: string) => string): string {
  const bare = character.normalize('NFD').replace(/\p{M}/gu, '')
  return [...bare].map(one => (fits(one, most) ? one : (PLAIN[one] ?? lacking(one)))).join('')
}

function fits(character: string, most: number): boolean {
  return (character.codePointAt(0) ?? 0) <= most
}
