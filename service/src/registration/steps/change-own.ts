import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ErrorCode } from '@benefit-enrolment/contract'
import { reinstateAccount } from '../../accounts/reinstate.ts'
import type { Instant } from '../../calendar/calendar.ts'
import type { Change, CommandContext, Member } from '../../membership/command.ts'
import { type Confirmation, newestReference } from '../../membership/records/confirmations.ts'
import type { Why } from '../../membership/rules/history.ts'
import type { Person } from '../../membership/rules/person.ts'
import { isRefusal, type Refusal, refuse } from '../../membership/rules/refusal.ts'
import { isActive, type User } from '../../membership/rules/state.ts'
import { type Draft, draftOf, personShown, shownTag, standingText, tagNow } from '../session/person.ts'
import { authorOf } from '../session/session.ts'
import { completeSession, type PageOutcome } from '../session/store.ts'
import { registering, type Visit } from '../session/visit.ts'
import type { ConsentText } from '../views/parts.ts'
import { type ConfirmationContent, sealedCopy } from './copies.ts'
import { madeBy } from './made.ts'
import { namingAhead } from './member-choices.ts'
import { type Posted, type Redirect, type Step, showedOther } from './step.ts'

/** A visitor's own user at the moment of the decision, with due changes applied. */
type OwnUser = Member & { readonly now: Instant; readonly terms: CommandContext['terms'] }

/** A change that a visitor asks for. */
export type OwnChange = {
  readonly why: Why
  /** The reference of the confirmation that the person gets; stored with the change. */
  readonly reference?: string
  /**
   * The posted form. If its view is out of date, nothing is changed. Leave it out for changes that do not depend on what was
   * shown.
   */
  readonly form?: URLSearchParams
  /** Which users may make this change; absent: members. */
  readonly of?: (user: User) => boolean
  /**
   * Decides by the rules. `unchanged`: nothing is left to change; `conflict`: the answers changed since the form was
   * made.
   */
  readonly decide: (own: OwnUser) => Change | Refusal | 'unchanged' | 'conflict'
}

/**
 * Changes the visitor's own user, and reports the result: `done`, also when nothing was left to change; `conflict` as
 * decided, or when `form` showed something else; `gone` when the session's user no longer exists or may not make this change; otherwise the code of the rule
 * that refused.
 */
export async function changeOwn(
  visit: Visit,
  { why, reference, form, of = isActive, decide }: OwnChange,
): Promise<'done' | 'conflict' | 'gone' | ErrorCode> {
  const result = await visit.context.executor.submit<'done' | 'conflict'>({
    ...authorship(visit),
    why,
    reference,
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || !of(member.user)) return refuse('user_not_found')
      const decided = decide({ ...member, now, terms })
      if (decided === 'unchanged') return { answer: () => 'done' }
      if (decided === 'conflict') return { answer: () => 'conflict' }
      if (isRefusal(decided)) return decided
      const isOutdated = form && showedOther(form, tagNow(visit.partner, { ...member, now, terms }))
      return isOutdated ? { answer: () => 'conflict' } : { change: decided, answer: () => 'done' }
    },
  })
  if (!isRefusal(result)) return result.reply
  return result.refused === 'user_not_found' ? 'gone' : result.refused
}

/** Every user whose data still exists: members, and people who are registering or have canceled. */
export function isAnybody({ status }: User): boolean {
  return status !== 'erased'
}

/** The author of a change, as the history records it: who opened the page, in this session and by this request. */
function authorship({ partner, user, session, requestId }: Visit) {
  const actor = session.session_id
  return { partner, userid: user.userid, who: authorOf(session), actor, requestId }
}

/**
 * Adds the person's answers to the draft, a sealed document, and leads on to `to`. The last answer counts, whatever its form was
 * made from: all are shown once more before the person agrees. `gone`: the user no longer exists.
 */
export async function saveAnswers(
  visit: Visit,
  { to }: Redirect,
  change: (draft: Draft, sent: Person) => Draft,
): Promise<Posted> {
  const reply = await changeOwn(visit, {
    why: 'answers kept',
    of: isAnybody,
    decide: ({ user, person, now }) => {
      const stored = draftOf(person('draft'))
      const next = change(stored, person('prefill') ?? {})
      if (isDeepStrictEqual(stored, next)) return 'unchanged'
      return { user: registering(user, now), events: [], documents: { draft: next } }
    },
  })
  return reply === 'done' ? { to } : 'gone'
}

/**
 * Whether a form was made from older answers, or from anything else on its view that has changed since (`shownTag`): such a
 * form must not confirm anything.
 */
export function confirmsOlder(visit: Visit, form: URLSearchParams): boolean {
  return showedOther(form, shownTag(visit, visit))
}

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

/** Takes a cancel back. Refused by the rules: shows `from` again. `as shown`: also refuses a form that is out of date. */
export function takingBack(from: string, isToDo: (user: User) => boolean, how?: 'as shown'): Step {
  const decide: OwnChange['decide'] = ({ user, now, terms }) => {
    if (!isToDo(user)) return 'unchanged'
    const change = reinstateAccount(user, now, terms())
    // A former member who has begun a new registration gives it up by coming back.
    return isRefusal(change) || isActive(user) ? change : { ...change, documents: { draft: null } }
  }
  return {
    show: () => ({ to: from }),
    post: (visit, form) => {
      const change: OwnChange = { why: 'reinstate', of: isAnybody, decide, ...(how ? { form } : {}) }
      return changeAndConfirm(visit, 'undone', change, 'conflict')
    },
  }
}
