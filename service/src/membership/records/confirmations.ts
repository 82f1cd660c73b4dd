import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { type OpenRecord, readRecords, type UserIds } from './sealed.ts'

/** What a session of the page did, and what the person agreed to by it; `content` is JSON that is sealed and never changed. */
export type Confirmation = {
  readonly reference: string
  readonly sessionId: string
  /** The session's outcome, such as `swapped`. */
  readonly outcome: string
  /** Whether `content` has a copy of what the person agreed to. */
  readonly hasCopy: boolean
  readonly content: unknown
}

/** What is known of a stored confirmation without opening it. */
export function factsOf({ sessionId, outcome, hasCopy }: Confirmation): object {
  return { session: sessionId, outcome, copy: hasCopy }
}

/** A confirmation in the form of exports and of the records that are kept after an erasure. */
export function confirmationRecord({ name, at, content }: Pick<OpenRecord, 'name' | 'at' | 'content'>) {
  return { reference: name, at: formatTimestamp(at), content: content() }
}

type Whose = { readonly partner: Partner; readonly user: UserIds }

/** A user's confirmations with a copy, newest first. */
export async function listCopies(
  db: Executor,
  whose: Whose,
): Promise<readonly (Pick<Confirmation, 'reference' | 'outcome'> & { readonly at: Instant })[]> {
  const only = fragment`and s.facts @> '{"copy": true}'`
  const found = await readRecords(db, whose, 'confirmation', { only, most: MOST_COPIES })
  return found.map(({ name, facts, at }) => ({
    reference: name,
    outcome: String(facts['outcome']),
    at,
  }))
}

const MOST_COPIES = 100

/** The reference of a session's newest confirmation of this outcome; `undefined` when it has none. */
export async function newestReference(
  db: Executor,
  whose: Whose,
  { sessionId, outcome }: Pick<Confirmation, 'sessionId' | 'outcome'>,
): Promise<string | undefined> {
  const wanted = JSON.stringify({ session: sessionId, outcome })
  const only = fragment`and s.facts @> ${wanted}::jsonb`
  const [found] = await readRecords(db, whose, 'confirmation', { only, most: 1 })
  return found?.name
}

/** The opened confirmation with this reference; `undefined` when the user has none. */
export async function readConfirmation(
  db: Executor,
  { reference, ...whose }: Whose & { readonly reference: string },
): Promise<unknown> {
  const only = fragment`and s.name = ${reference}`
  const [found] = await readRecords(db, whose, 'confirmation', { only, most: 1 })
  return found?.content()
}
