import type { ErrorCode } from '@benefit-enrolment/contract'
import { isRefusal } from '../../membership/rules/refusal.ts'
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
import { confirmationOf, copiesOf, copyAddress } from './copies.ts'
import { type DoneDescription, describeDone, planName } from './describe-done.ts'
import { heldBenefitsOf } from './held-benefits.ts'
import { memberPaths } from './member-choices.ts'
import { newestReference, referencesOf } from './reference.ts'
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
 * Makes a change that ends with a confirmation, and leads there. If the rules refuse it by now, the result is
 * `otherwise`; if there was nothing left to undo or to add, it leads to what this session has made before, or to the overview.
 */
export async function changeAndConfirm(
  visit: Visit,
  outcome: PageOutcome,
  { agreements, offername, decide, ...change }: ConfirmedChange,
  otherwise: Posted | ((code: ErrorCode) => Posted | Promise<Posted>),
): Promise<Posted> {
  const { next: reference } = await referencesOf(visit, outcome)
  let isMade = outcome === 'undone'
  const made = await changeOwn(visit, {
    ...change,
    reference,
    decide: own => {
      const decided = decide(own)
      if (decided === 'unchanged' && outcome === 'enrolled') isMade = true
      if (!agreements || typeof decided === 'string' || isRefusal(decided)) return decided
      const person = personShown(own.user, own.person)
      const agreed = { person, agreements, reference, offername, named: decided.designations }
      return { ...decided, confirmation: confirmationOf({ ...visit, now: own.now }, agreed) }
    },
  })
  if (made === 'done') return isMade ? confirmMade(visit, outcome) : noteDone(visit, outcome)
  if (made === 'gone' || made === 'conflict') return made
  return typeof otherwise === 'function' ? otherwise(made) : otherwise
}

/**
 * Leads to the confirmation of what this session has made before, as its user's history shows; to the overview when it was
 * made in another way.
 */
export async function confirmMade(visit: Visit, outcome: PageOutcome): Promise<Redirect> {
  const { given } = await referencesOf(visit, outcome)
  return given === undefined ? { to: 'overview' } : noteDone(visit, outcome)
}

/** Records the session's outcome, which the partner can get by the result token, and leads to the confirmation. */
export async function noteDone(visit: Visit, outcome: PageOutcome): Promise<Redirect> {
  await completeSession(visit.context.database, visit.session, {
    outcome,
    reference: await newestReference(visit, outcome),
    at: visit.context.clock.real(),
  })
  return { to: 'done' }
}

/**
 * What the session did last, with its reference and dates; a member for whom it no longer holds sees their benefits
 * instead.
 */
export const done: Step = {
  show: async (visit, { form }) => {
    const { outcome, reference, completed_at: completedAt } = visit.session
    if (outcome === null || outcome === 'challengefailed' || reference === null || completedAt === null)
      return { to: '' }
    const found = await describeDone(visit, outcome, reference)
    if (!found && visit.session.revoked_at !== null)
      return { view: 'LINK_ENDED', page: pageOf(visit), kind: 'closed' }
    if (!found) return { to: visit.isMember ? 'overview' : 'details' }
    const { at = completedAt, ...description } = found
    const copies = await copiesOf(visit)
    return {
      view: 'DONE',
      page: pageOf(visit),
      outcome,
      reference,
      completedat: at,
      ...description,
      held: heldBenefitsOf(visit),
      todo: visit.isMember && !visit.isOver ? stillToDo(visit) : undefined,
      undo: undoingOf(found),
      goeson: visit.isMember && !visit.isOver,
      copyurl: copies.some(copy => copy.reference === reference) ? copyAddress(visit, reference) : undefined,
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
      held: heldBenefitsOf(visit),
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
