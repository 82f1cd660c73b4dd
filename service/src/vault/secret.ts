import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * What a secret opens: `at` access token, `cs` client secret, `ak` API key, `lt` link token, `rt` result token,
 * `sh` handle of a page session, `ol` sign-in link of an operator, `os` session of an operator.
 */
export type SecretKind = 'at' | 'cs' | 'ak' | 'lt' | 'rt' | 'sh' | 'ol' | 'os'

/** Whether a secret was issued by a sandbox or by a service with real users. */
export type SecretMode = 'sandbox' | 'live'

/** The parts of a secret that can be read without any key. */
type SecretName = { kind: SecretKind; mode: SecretMode; id: string }

/**
 * Makes a new secret in a form that secret scanners recognize (contract §3):
 * `enr_<kind>_<mode>_<id>_<random><crc>`, with 256 random bits. Throws RangeError unless `id` is 1 to 44 base62
 * characters.
 */
export function makeSecret(kind: SecretKind, mode: SecretMode, id: string): { text: string } {
  return { text: secretFrom({ kind, mode, id }, randomBytes(32)) }
}

/**
 * A secret of the same form from 32 bytes that are already secret and random, such as a keyed hash. Throws as
 * `makeSecret` does.
 */
export function secretFrom({ kind, mode, id }: SecretName, bytes: Buffer): string {
  if (!/^[\dA-Za-z]{1,44}$/.test(id)) throw new RangeError('The id of a secret is 1 to 44 base62 characters')
  const random = encodeBase62(BigInt(`0x${bytes.toString('hex')}`), RANDOM_CHARS)
  const text = `enr_${kind}_${mode}_${id}_${random}`
  return text + checksum(text)
}

/**
 * The readable parts of `text` when it has the form of a secret and a correct checksum, else `undefined`. The
 * result proves nothing; only a comparison with the stored hash of the whole text does.
 */
export function parseSecret(text: string): SecretName | undefined {
  const match = FORM.exec(text)
  if (!match || checksum(text.slice(0, -CRC_CHARS)) !== text.slice(-CRC_CHARS)) return undefined
  const [, kind, mode, id = ''] = match
  return { kind: kind as SecretKind, mode: mode as SecretMode, id }
}

const RANDOM_CHARS = 43
const CRC_CHARS = 6
const FORM = /^enr_(at|cs|ak|lt|rt|sh|ol|os)_(sandbox|live)_([\dA-Za-z]{1,44})_[\dA-Za-z]{49}$/

function checksum(text: string): string {
  return encodeBase62(BigInt(crc32(text)), CRC_CHARS)
}

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
