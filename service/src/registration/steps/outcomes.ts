import { judgeOwnOffer, offerOf } from '../../membership/rules/terms.ts'
import { newerThanConfirmed } from '../session/answers.ts'
import { sessionNameOf } from '../session/session.ts'
import { completeSession, type PageOutcome } from '../session/store.ts'
import { pageOf, type Visit, wayBack } from '../session/visit.ts'
import type { PlannedChanges, StillToDo } from '../views/parts.ts'
import { dayOf, leavingOn, liveLines } from './cards.ts'
import { changeOwn, type OwnChange } from './change-own.ts'
import { copiesOf, copyAddress } from './copies.ts'
import { describeDone, planName } from './describe-done.ts'
import { memberPaths } from './member-choices.ts'
import { newestReference, referencesOf } from './reference.ts'
import type { Posted, Redirect, Step } from './step.ts'
import { stillToDo } from './still-to-do.ts'

/** A change that ends with a confirmation; its rule also gets the reference that the confirmation will have. */
export type ConfirmedChange = Omit<OwnChange, 'reference' | 'decide'> & {
  readonly decide: (
    own: Parameters<OwnChange['decide']>[0] & { readonly reference: string },
  ) => ReturnType<OwnChange['decide']>
}

/**
 * Makes a change that ends with a confirmation, and leads there. If the rules refuse it by now, the result is `otherwise`;
 * if there was nothing left to undo, it leads to the overview.
 */
export async function changeAndConfirm(
  visit: Visit,
  outcome: PageOutcome,
  change: ConfirmedChange,
  otherwise: Posted,
): Promise<Posted> {
  const { next: reference } = await referencesOf(visit, outcome)
  const decide: OwnChange['decide'] = own => change.decide({ ...own, reference })
  const made = await changeOwn(visit, { ...change, reference, decide })
  if (made === 'done') return confirmed(visit, outcome)
  return made === 'gone' || made === 'conflict' ? made : otherwise
}

/**
 * Leads to the confirmation of a change, or to the overview when this session undid nothing because another had done so
 * before.
 */
export async function confirmed(visit: Visit, outcome: PageOutcome): Promise<Redirect> {
  const isMade = outcome !== 'undone' || (await hasMade(visit, outcome))
  return isMade ? noteDone(visit, outcome) : { to: 'overview' }
}

/** Records the session's outcome, which the partner can get by the result token, and leads to the confirmation. */
export async function noteDone(visit: Visit, outcome: PageOutcome): Promise<Redirect> {
  await completeSession(visit.context.database, sessionNameOf(visit.session), {
    outcome,
    reference: await newestReference(visit, outcome),
    at: visit.context.clock.real(),
  })
  return { to: 'done' }
}

/** Whether the user's history shows that this session has made a change with this outcome. */
export async function hasMade(visit: Visit, outcome: PageOutcome): Promise<boolean> {
  return (await referencesOf(visit, outcome)).given !== undefined
}

/**
 * What the session did last, with its reference and dates; a member for whom it no longer holds sees their benefits
 * instead.
 */
export const done: Step = {
  show: async visit => {
    const { outcome, reference, completed_at: completedAt } = visit.session
    if (outcome === null || outcome === 'challengefailed' || reference === null || completedAt === null)
      return { to: '' }
    const found = await describeDone(visit, outcome, reference)
    if (!found && visit.session.revoked_at !== null)
      return { view: 'LINK_ENDED', page: pageOf(visit), kind: 'closed' }
    if (!found) return { to: visit.isMember ? 'overview' : 'start' }
    const copies = await copiesOf(visit)
    return {
      view: 'DONE',
      page: pageOf(visit),
      outcome,
      reference,
      completedat: found.at ?? completedAt,
      change: found.change,
      benefits: found.benefits,
      undountil: found.undountil,
      todo: todoIn(visit),
      copyurl: copies.some(copy => copy.reference === reference) ? copyAddress(visit, reference) : undefined,
      redirecturl: wayBack(visit),
    }
  },
}

/** What a member has, and what they can do with it. */
export const overview: Step = {
  show: async visit => {
    const offer = offerOf(visit.terms, visit.user)
    if (!visit.isMember || !offer) return { to: '' }
    const leaving = leavingOn(visit)
    return {
      view: 'ALREADY_ENROLLED',
      page: pageOf(visit),
      offername: offer.displayname[visit.locale],
      benefits: liveLines(visit),
      suggested: newerThanConfirmed(visit.sent, visit.person),
      paths: memberPaths(visit),
      ineligible: ineligibleIn(visit),
      leaving,
      planned: plannedIn(visit),
      copies: await copiesOf(visit),
      todo: todoIn(visit),
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
    },
    swapon: swap && dayOf(visit, swap.at),
  }
}

/** Why the rules of the member's plan would not admit them today, if so. */
function ineligibleIn({ user, terms, locale }: Visit): { reasons: readonly string[] } | undefined {
  if (user.offer?.admits !== false) return undefined
  const reasons = judgeOwnOffer(terms, user)?.reasons ?? []
  return { reasons: reasons.map(reason => reason.text[locale]) }
}

function todoIn(visit: Visit): StillToDo | undefined {
  return visit.isMember ? stillToDo(visit) : undefined
}
