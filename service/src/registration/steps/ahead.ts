import { cancelAccount } from '../../accounts/lifecycle.ts'
import { reinstateAccount } from '../../accounts/reinstate.ts'
import { type Instant, lockedFrom } from '../../calendar/calendar.ts'
import { type Benefit, textIn } from '../../catalogue/model.ts'
import { afterChange } from '../../membership/rules/apply-due.ts'
import { waitsUntil } from '../../membership/rules/enrolments.ts'
import { offerOpenAt } from '../../membership/rules/intents.ts'
import { isRefusal, type Refusal } from '../../membership/rules/refusal.ts'
import { isLive, type SwapPair, type User } from '../../membership/rules/state.ts'
import { offerOf } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { BenefitLine } from '../views/parts.ts'
import { enrolmentLine, isByAge, lastDayOf, lineOf, listedFamily, liveEnrolment, localDay } from './cards.ts'

/**
 * The visit as it would be if a change were made, with the effect of everything that is pending then; the same visit when
 * the rules refuse the change.
 */
export function visitAfter(visit: Visit, tried: { readonly user: User } | Refusal): Visit {
  return isRefusal(tried) ? visit : { ...visit, user: afterChange(tried, visit) }
}

/**
 * `lineOf` plus the last day of cover in `after`. Before agreeing, a person must see that cover ends, by age or by their own
 * pending change; the same end may shorten the time to name a beneficiary.
 */
export function foreseenLine(
  visit: Visit,
  after: Visit,
  benefit: Benefit,
  ...when: [startsAt: number, pickedAt?: number]
): BenefitLine {
  const line = lineOf(visit, benefit, ...when)
  const row = liveEnrolment(after.user, benefit.name)
  const at = row?.endsAt ?? row?.ownEnd?.at
  const until = row && waitsUntil(row)
  const waits = line.waits && until !== undefined ? { ...line.waits, by: localDay(after, until) } : line.waits
  if (row === undefined) return { ...line, waits }
  const known = { ...line, waits, ...listedFamily(after, row) }
  if (at === undefined) return known
  const endsatage = isByAge(row, at) ? benefit.endsatage : undefined
  return { ...known, endson: lastDayOf(after, at), endsatage }
}

/**
 * Whether the pending change of plan will be called off on its day, because the plan is closed by then or no longer admits
 * the person; until that day it stays planned, because their details can change back.
 */
export function isMoveCalledOff({ user, terms }: Pick<Visit, 'user' | 'terms'>): boolean {
  const { pendingOffer: pending } = user
  return pending !== undefined && offerOpenAt(terms, pending.name, pending.at) === undefined
}

/** Whether this pair of the pending swap will fail on its day; both benefits then stay as they are. */
export function isPairCalledOff({ user }: Pick<Visit, 'user'>, { add }: SwapPair): boolean {
  const comes = (one: User['enrolments'][number]) =>
    one.benefit === add && one.pendingBy === 'swap' && isLive(one)
  return add !== undefined && !user.enrolments.some(comes)
}

/** The benefits that a pending swap will bring. */
export function comingBySwap(visit: Visit): BenefitLine[] {
  return visit.user.enrolments
    .filter(one => one.pendingBy === 'swap' && isLive(one))
    .map(one => enrolmentLine(visit, one))
}

/**
 * Until when a change meant for a boundary can be undone; empty once it is locked. A membership that has not started is
 * not locked (`isBoundaryLocked`).
 */
export function undoUntil(visit: Visit, at: Instant): { undountil?: Instant } {
  const { offer } = visit.user
  if (offer && !offer.inForce && at <= offer.since) return { undountil: at }
  const lockedAt = lockedFrom(at, offerOf(visit.terms, visit.user)?.cutoffhours ?? 24)
  return lockedAt > visit.now ? { undountil: lockedAt } : {}
}

/** The name of a plan, or of the member's own, in the page's language. */
export function planName(visit: Visit, name = visit.user.offer?.name ?? ''): string {
  const offer = visit.terms.today.catalogue.offers.get(name)
  return offer ? textIn(offer.displayname, visit.locale) : name
}

/** Whether the person can have their benefits back after a cancel, made or not, as the rules and the catalogue stand now. */
export function mayComeBack(visit: Visit): boolean {
  const { now, terms } = visit
  const { user } = cancelAccount(visit.user, { effective: 'immediate', reason: 'voluntary' }, now, terms)
  return !isRefusal(reinstateAccount(user, now, terms))
}
