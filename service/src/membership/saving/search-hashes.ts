import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import type { Person } from '../rules/person.ts'

/** The data by which an account can be found, other than its names. */
const SEARCH_KINDS = ['email', 'phone'] as const
/** One kind of this data. */
type SearchKind = (typeof SEARCH_KINDS)[number]

/** One hash of an account; without a hash, the account no longer has that value. */
export type SearchHash = { readonly kind: SearchKind; readonly hash: Buffer | undefined }

/**
 * The hashes by which an account is found: keyed with the partner's key, so that nobody without it can test a guess.
 */
export function searchHashesOf(partner: Partner, person: Person): readonly SearchHash[] {
  return SEARCH_KINDS.map(kind => {
    const value = person[kind]
    return { kind, hash: value ? searchHash(partner, kind, value) : undefined }
  })
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
