import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'

/**
 * What stands for the userid of an erased user: a keyed hash of it behind a control character, which no userid of a partner
 * may hold. By it the erase is answered once more, and nobody without the partner's key can tell whose it was.
 */
export function erasedName({ hashKey }: Pick<Partner, 'hashKey'>, userid: string): string {
  return `\u0001${keyedHash(hashKey, 'users.erased', userid).toString('base64url')}`
}
