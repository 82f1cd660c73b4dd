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
 * The bytes of a text. An encoding that lacks a character gets its plain letters instead, such as `Jose` for `José`, and `?`
 * for a script that it cannot write.
 */
export function encodeText(text: string, encoding: CsvForm['encoding']): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8')
  return Buffer.from(plainText(text, encoding === 'ascii' ? 0x7e : 0xff), 'latin1')
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
