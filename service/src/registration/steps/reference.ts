import { createHash } from 'node:crypto'
import type { PageOutcome } from '../session/store.ts'
import type { Visit } from '../session/visit.ts'

/** Letters and digits that cannot be confused, even when read aloud. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * The reference that a person keeps, such as `BE-7K3M-92QD`. It is derived from the session and its outcome, so that a
 * button pressed twice gives the same one, and it is stored with the change in the user's history.
 */
export function referenceOf({ session }: Pick<Visit, 'session'>, outcome: PageOutcome): string {
  const bytes = createHash('sha256').update(`${session.session_id} ${outcome}`).digest()
  const signs = Array.from({ length: 8 }, (_, at) => alphabet[(bytes[at] ?? 0) % alphabet.length])
  return `BE-${signs.slice(0, 4).join('')}-${signs.slice(4).join('')}`
}
