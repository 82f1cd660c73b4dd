import { randomBytes } from 'node:crypto'

/** Letters and digits that cannot be confused, even when read aloud. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A new reference such as `BE-7K3M-92QD`, by which a person and the operator speak of one confirmation. */
export function newReference(): string {
  const signs = Array.from(randomBytes(8), byte => alphabet[byte % alphabet.length])
  return `BE-${signs.slice(0, 4).join('')}-${signs.slice(4).join('')}`
}
