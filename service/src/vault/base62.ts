const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const UUID_CHARS = 22

/** `value` in base62 (digits, capitals, small letters), padded with zeros to `width`. Throws RangeError when it does not fit. */
export function encodeBase62(value: bigint, width: number): string {
  let text = ''
  let rest = value
  while (rest > 0n) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  if (text.length > width) throw new RangeError(`A value that does not fit into ${width} base62 characters`)
  return text.padStart(width, '0')
}

/** A UUID as 22 base62 characters. Throws RangeError unless it is written in lower case with its hyphens. */
export function encodeUuid(uuid: string): string {
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(uuid))
    throw new RangeError('Not a UUID in lower case')
  return encodeBase62(BigInt(`0x${uuid.replaceAll('-', '')}`), UUID_CHARS)
}

/** The UUID that `encodeUuid` wrote as `text`; `undefined` for any other text. */
export function decodeUuid(text: string): string | undefined {
  if (!/^[\dA-Za-z]{22}$/.test(text)) return undefined
  let value = 0n
  for (const char of text) value = value * 62n + BigInt(ALPHABET.indexOf(char))
  const hex = value.toString(16).padStart(32, '0')
  if (hex.length > 32) return undefined
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
