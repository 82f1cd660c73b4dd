import type { ErrorCode } from '@benefit-enrolment/contract'
import {
  type Confirmation,
  newestReference,
  readConfirmation,
} from '../../membership/records/confirmations.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import type { User } from '../../membership/rules/state.ts'
import { judgeOwnOffer, offerOf } from '../../membership/rules/terms.ts'
import { newerThanConfirmed } from '../session/answers.ts'
import { wayBack } from '../session/session.ts'
import { personShown } from '../session/shown.ts'
import { completeSession, type PageOutcome } from '../session/store.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import type { DoneView } from '../views/model.ts'
import type { ConsentText, PlannedChanges } from '../views/parts.ts'
import { isMoveCalledOff, isPairCalledOff } from './ahead.ts'
import { dayOf, leavingOn, liveLines } from './cards.ts'
import { changeOwn, type OwnChange } from './change-own.ts'
import { copiesOf, copyAddress, copyOf } from './copies.ts'
import { type DoneDescription, describeDone, planName } from './describe-done.ts'
import { heldBenefitsOf } from './held-benefits.ts'
import { type ConfirmationContent, madeBy } from './made.ts'
import { memberPaths } from './member-choices.ts'
import { newReference } from './reference.ts'
import type { Posted, Redirect, Step } from './step.ts'
import { stillToDo } from './still-to-do.ts'

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
  const result = await changeOwn(visit, {
    ...change,
    reference,
    decide: own => {
      const decided = decide(own)
      isChanged = typeof decided !== 'string'
      if (typeof decided === 'string' || isRefusal(decided)) return decided
      const confirmation = (after: User): Confirmation => {
        const person = personShown(own.user, own.person)
        const made = madeBy(outcome, { before: own.user, after, at: own.now }, past)
        const agreed = agreements && { person, agreements, reference, offername, named: decided.designations }
        const copy = agreed && copyOf({ ...visit, now: own.now, user: after }, agreed)
        const content: ConfirmationContent = { made, copy }
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
  if (result === 'done') return isChanged ? noteDone(visit, outcome, reference) : confirmMade(visit, outcome)
  if (result === 'gone' || result === 'conflict') return result
  return typeof otherwise === 'function' ? otherwise(result) : otherwise
}

/**
 * Leads to the confirmation of what this session has made before, also when a button is pressed twice; to the overview when
 * it was made in another way.
 */
export async function confirmMade(visit: Visit, outcome: PageOutcome): Promise<Redirect> {
  const reference = await newestReference(visit.context.database, visit.user, {
    sessionId: visit.session.session_id,
    outcome,
  })
  return reference === undefined ? { to: 'overview' } : noteDone(visit, outcome, reference)
}

/** Records the session's outcome, which the partner can get by the result token, and leads to the confirmation. */
async function noteDone(visit: Visit, outcome: PageOutcome, reference: string): Promise<Redirect> {
  const at = visit.context.clock.real()
  await completeSession(visit.context.database, visit.session, { outcome, reference, at })
  return { to: 'done' }
}

/**
 * What the session did last, with its reference and dates; a member for whom it no longer holds sees their benefits
 * instead.
 */
export const done: Step = {
  show: async (visit, { form }) => {
    const { context, partner, user, session, isMember, isOver } = visit
    const { outcome, reference } = session
    if (outcome === null || outcome === 'challengefailed' || reference === null) return { to: '' }
    const content = await readConfirmation(context.database, { partner, user, reference })
    if (content === undefined) return { to: '' }
    const { made, copy } = content as ConfirmationContent
    const found = describeDone(visit, made)
    if (!found && session.revoked_at !== null)
      return { view: 'LINK_ENDED', page: pageOf(visit), kind: 'closed' }
    if (!found) return { to: isMember ? 'overview' : 'details' }
    return {
      view: 'DONE',
      page: pageOf(visit),
      outcome,
      reference,
      completedat: made.at,
      ...found,
      held: await heldBenefitsOf(visit),
      todo: isMember && !isOver ? stillToDo(visit) : undefined,
      undo: undoingOf(found),
      goeson: isMember && !isOver,
      copyurl: copy && copyAddress(visit, reference),
      redirecturl: wayBack(visit),
      istold: form.has('told'),
    }
  },
}

/** The view where a change that is still planned can be undone. */
function undoingOf({ change, undountil }: DoneDescription): DoneView['undo'] {
  if (change.what === 'cancelled') return change.timing === 'ahead' ? 'cancel' : undefined
  if (undountil === undefined) return undefined
  return change.what === 'swapped' ? 'swap' : 'offer'
}

/** What a member has, and what they can do with it. */
export const overview: Step = {
  show: async visit => {
    const offer = offerOf(visit.terms, visit.user)
    if (!visit.isMember || !offer) return { to: '' }
    return {
      view: 'ALREADY_ENROLLED',
      page: pageOf(visit),
      offername: offer.displayname[visit.locale],
      benefits: liveLines(visit),
      held: await heldBenefitsOf(visit),
      suggested: newerThanConfirmed(visit.sent, visit.person),
      paths: memberPaths(visit),
      ineligible: ineligibleIn(visit),
      leaving: leavingOn(visit),
      planned: plannedIn(visit),
      copies: await copiesOf(visit),
      todo: stillToDo(visit),
      redirecturl: wayBack(visit),
    }
  },
}

function plannedIn(visit: Visit): PlannedChanges {
  const { pendingOffer, swap } = visit.user
  return {
    plan: pendingOffer && {
      displayname: planName(visit, pendingOffer.name),
      on: dayOf(visit, pendingOffer.at),
      iscalledoff: isMoveCalledOff(visit),
    },
    swap: swap && {
      on: dayOf(visit, swap.at),
      iscalledoff: swap.pairs.every(pair => isPairCalledOff(visit, pair)),
    },
  }
}

/** Why the rules of the member's plan would not admit them today, if so. */
function ineligibleIn({ user, terms, locale }: Visit): { reasons: readonly string[] } | undefined {
  if (user.offer?.admits !== false) return undefined
  const reasons = judgeOwnOffer(terms, user)?.reasons ?? []
  return { reasons: reasons.map(reason => reason.text[locale]) }
}
