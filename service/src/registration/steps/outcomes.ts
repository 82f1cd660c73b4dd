import { randomBytes } from 'node:crypto'
import type { ErrorCode } from '@benefit-enrolment/contract'
import { type Confirmation, newestReference } from '../../membership/records/confirmations.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import type { User } from '../../membership/rules/state.ts'
import { personShown, standingText } from '../session/shown.ts'
import { completeSession, type PageOutcome } from '../session/store.ts'
import type { Visit } from '../session/visit.ts'
import type { ConsentText } from '../views/parts.ts'
import { changeOwn, type OwnChange } from './change-own.ts'
import { sealedCopy } from './copies.ts'
import { type ConfirmationContent, madeBy } from './made.ts'
import { namingAhead } from './naming.ts'
import type { Posted, Redirect } from './step.ts'

/** A change that ends with a confirmation. */
export type ConfirmedChange = Omit<OwnChange, 'reference'> & {
  /** What the person agrees to by it; a copy in these words is stored with the change. */
  readonly agreements?: readonly ConsentText[]
  /** The name of the plan on the copy, if it is not the one that the person then has or starts with. */
  readonly offername?: string
}

/**
 * Makes a change that ends with a confirmation, stores the confirmation with it, and leads there. If the rules refuse it by
 * now, the result is `otherwise`; if there was nothing left to change, see {@link confirmMade}.
 */
export async function changeAndConfirm(
  visit: Visit,
  outcome: PageOutcome,
  { agreements, offername, decide, ...change }: ConfirmedChange,
  otherwise: Posted | ((code: ErrorCode) => Posted | Promise<Posted>),
): Promise<Posted> {
  const reference = newReference()
  const past = outcome === 'undone' ? await visit.context.reader.history({ ...visit, dueChanges: [] }) : []
  let isChanged = false
  let made: User | undefined
  const result = await changeOwn(visit, {
    ...change,
    reference,
    decide: own => {
      const decided = decide(own)
      isChanged = typeof decided !== 'string'
      if (typeof decided === 'string' || isRefusal(decided)) return decided
      const confirmation = (after: User): Confirmation => {
        made = after
        const person = personShown(own.user, own.person)
        const left = { ...visit, now: own.now, user: after }
        const agreed = agreements && { person, agreements, reference, offername }
        const copy = agreed && sealedCopy(left, agreed)
        const told = madeBy(left, outcome, own.user, past)
        const content: ConfirmationContent = { at: own.now, made: told, left: standingText(after), copy }
        return {
          reference,
          sessionId: visit.session.session_id,
          outcome,
          hasCopy: copy !== undefined,
          content,
        }
      }
      return { ...decided, confirmation }
    },
  })
  if (result === 'done' && isChanged)
    return noteDone({ ...visit, user: made ?? visit.user }, outcome, reference)
  if (result === 'done') return confirmMade(visit, outcome)
  if (result === 'gone' || result === 'conflict') return result
  return typeof otherwise === 'function' ? otherwise(result) : otherwise
}

/**
 * Leads to the confirmation of what this session has made before, also when a button is pressed twice; to the overview when
 * it was made in another way.
 */
export async function confirmMade(visit: Visit, outcome: PageOutcome): Promise<Redirect> {
  const reference = await newestReference(visit.context.database, visit, {
    sessionId: visit.session.session_id,
    outcome,
  })
  return reference === undefined ? { to: 'overview' } : noteDone(visit, outcome, reference)
}

/**
 * Records the session's outcome, which the partner can get by the result token, and leads to the confirmation; first to the
 * beneficiaries of a benefit that waits for them.
 */
async function noteDone(visit: Visit, outcome: PageOutcome, reference: string): Promise<Redirect> {
  const at = visit.context.clock.real()
  await completeSession(visit.context.database, visit.session, { outcome, reference, at })
  return { to: namingAhead(visit) ?? 'done' }
}

/** Letters and digits that cannot be confused, even when read aloud. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A new reference such as `BE-7K3M-92QD`, by which a person and the operator speak of one confirmation. */
function newReference(): string {
  const signs = Array.from(randomBytes(8), byte => alphabet[byte % alphabet.length])
  return `BE-${signs.slice(0, 4).join('')}-${signs.slice(4).join('')}`
}
