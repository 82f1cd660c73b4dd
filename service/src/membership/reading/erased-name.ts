import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'

/**
 * The text that replaces the userid of an erased user: a keyed hash of the userid behind a control character, which no
 * userid of a partner may contain. It lets a repeated erase get its answer, and nobody without the partner's key can
 * tell whose userid it was.
 */
export function erasedName({ hashKey }: Pick<Partner, 'hashKey'>, userid: string): string {
  return `\u0001${keyedHash(hashKey, 'users.erased', userid).toString('base64url')}`
}
