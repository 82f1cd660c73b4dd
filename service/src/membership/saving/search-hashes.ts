import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import type { Person } from '../rules/person.ts'

/** The data by which a person can be found, other than names. */
export type SearchKind = 'email' | 'phone'

/** The hashes of a person's data; without a hash, the person has no such value. */
export type SearchHashes = Readonly<Partial<Record<SearchKind, Buffer>>>

/**
 * The hashes by which a person is found: keyed with the partner's key, so that nobody without it can test a guess.
 */
export function searchHashesOf(partner: Partner, { email, phone }: Person): SearchHashes {
  const hashes: { -readonly [Kind in SearchKind]?: Buffer } = {}
  if (email) hashes.email = searchHash(partner, 'email', email)
  if (phone) hashes.phone = searchHash(partner, 'phone', phone)
  return hashes
}

/**
 * The hash of an email or phone as people write it: letter case, and the spaces and punctuation of a phone, make no
 * difference.
 */
export function searchHash({ hashKey }: Pick<Partner, 'hashKey'>, kind: SearchKind, text: string): Buffer {
  const written = kind === 'email' ? text.trim().normalize('NFC').toLowerCase() : digitsOf(text)
  return keyedHash(hashKey, 'search_hashes.hash', kind, written)
}

/** Without the country code of the United States, which people may or may not write. */
function digitsOf(text: string): string {
  return text.replace(/\D/g, '').replace(/^1(?=\d{10}$)/, '')
}
