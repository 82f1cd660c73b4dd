import { createHash } from 'node:crypto'
import type { PageOutcome } from '../session/store.ts'
import type { Visit } from '../session/visit.ts'

/** Letters and digits that cannot be confused, even when read aloud. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * For one outcome, the reference such as `BE-7K3M-92QD` on the newest confirmation of this session (`given`; `undefined`
 * when there is none yet), and the one for its `next`. A reference is derived from the session, the outcome and the number
 * of confirmations before it, so that a button pressed twice, which changes nothing the second time, gives the same one
 * again. The number is counted in history, where each reference is stored with its change.
 */
export async function referencesOf(
  visit: Visit,
  outcome: PageOutcome,
): Promise<{ readonly given: string | undefined; readonly next: string }> {
  const lines = await visit.context.reader.history({ ...visit, dueChanges: [] })
  const stored = new Set(lines.flatMap(({ reference }) => reference ?? []))
  const possible = Array.from({ length: stored.size + 1 }, (_, at) => referenceOf(visit, outcome, at))
  const count = possible.findLastIndex(reference => stored.has(reference)) + 1
  return { given: possible[count - 1], next: referenceOf(visit, outcome, count) }
}

/** The reference of the session's newest confirmation of this outcome; before there is one, that of its first. */
export async function newestReference(visit: Visit, outcome: PageOutcome): Promise<string> {
  const { given, next } = await referencesOf(visit, outcome)
  return given ?? next
}

function referenceOf({ session }: Visit, outcome: PageOutcome, before: number): string {
  const count = before === 0 ? '' : ` ${before}`
  const bytes = createHash('sha256').update(`${session.session_id} ${outcome}${count}`).digest()
  const signs = Array.from({ length: 8 }, (_, at) => alphabet[(bytes[at] ?? 0) % alphabet.length])
  return `BE-${signs.slice(0, 4).join('')}-${signs.slice(4).join('')}`
}
