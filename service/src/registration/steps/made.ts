import { isDeepStrictEqual } from 'node:util'
import { type Instant, reinstatableUntil } from '../../calendar/calendar.ts'
import type { HistoryLine } from '../../membership/rules/history.ts'
import {
  type Enrolment,
  hasPendingCancel,
  isActive,
  lastClosed,
  type User,
} from '../../membership/rules/state.ts'
import type { PageOutcome } from '../session/store.ts'
import type { Visit } from '../session/visit.ts'
import type { IsoDate } from '../views/parts.ts'
import { mayComeBack } from './ahead.ts'
import { lastDayOf, liveEnrolment, localDay } from './cards.ts'

/** What a change of the page did; `from` is a day in the future, without it the change holds at once. Plans and benefits by their names. */
export type Made =
  | { readonly what: 'enrolled'; readonly from?: IsoDate }
  /** How many benefits a member added, or gave what they waited for. */
  | { readonly what: 'added'; readonly count: number; readonly from?: IsoDate }
  | {
      readonly what: 'upgraded' | 'downgraded'
      readonly plan: string
      readonly from?: IsoDate
      readonly dropsSwap?: boolean
    }
  | { readonly what: 'swapped'; readonly from: IsoDate }
  /** Whom a benefit covers. */
  | { readonly what: 'covers'; readonly benefit: string; readonly from: IsoDate }
  | {
      readonly what: 'cancelled'
      readonly lastday: IsoDate
      readonly timing: 'ahead' | 'today' | 'neverbegun'
      readonly hasDropped: boolean
      /** Benefits that had not started and were withdrawn with it, beside others that had. */
      readonly withdrawn?: readonly string[] | undefined
      readonly backuntil?: Instant | undefined
      /** True when the benefits cannot be brought back, because their plan is closed to the person. */
      readonly noreturn?: boolean
    }
  /** `staysDropped`: the change that is undone had itself canceled something planned, which does not come back. */
  | {
      readonly what: 'undone'
      readonly of: 'swap' | 'offer' | 'cover'
      readonly plan: string
      readonly from?: IsoDate
      readonly staysDropped?: boolean
    }
  | { readonly what: 'kept'; readonly staysDropped?: boolean }
  | { readonly what: 'reinstated'; readonly from?: IsoDate; readonly missing: readonly string[] }

/** What a change did: `visit` has the user after it. `past`: the history before it, which only undoing needs. */
export function madeBy(visit: Visit, outcome: PageOutcome, before: User, past: readonly HistoryLine[]): Made {
  const { user: after, terms } = visit
  const { offer } = after
  const plan = offer?.name ?? ''
  const start = offer && !offer.inForce ? { from: localDay(visit, offer.since) } : {}
  const isGone = (pending: 'swap' | 'pendingOffer') => before[pending] && !after[pending]
  switch (outcome) {
    case 'enrolled':
      if (before.status !== after.status) return { what: 'enrolled', ...start }
      return { what: 'added', count: addedBy(before, after), ...start }
    case 'swapped':
      return { what: 'swapped', from: localDay(visit, after.swap?.at ?? visit.now) }
    case 'changed': {
      const changed = after.enrolments.find(one => one.pendingCover && isNewCover(before, one))
      if (changed?.pendingCover) {
        const at = Math.max(changed.pendingCover.at, changed.startsAt)
        return { what: 'covers', benefit: changed.benefit, from: localDay(visit, at) }
      }
      const { pendingOffer } = after
      const rankOf = (name = '') => terms.today.catalogue.offers.get(name)?.rank ?? 0
      const to = pendingOffer?.name ?? plan
      const what = rankOf(to) > rankOf(before.offer?.name) ? 'upgraded' : 'downgraded'
      const from = pendingOffer && { from: localDay(visit, pendingOffer.at) }
      return { what, plan: to, ...from, dropsSwap: Boolean(isGone('swap')) }
    }
    case 'cancelled':
      return cancelledBy(visit, Boolean(isGone('swap') || isGone('pendingOffer')))
    case 'undone':
      if (before.status === 'cancelled' && isActive(after))
        return { what: 'reinstated', ...start, missing: missingAfter(after, before.cancel?.at) }
      if (hasPendingCancel(before))
        return { what: 'kept', staysDropped: hasDropped(past, 'pending cancel', ['swap', 'pending offer']) }
      if (after.enrolments.some(one => !one.pendingCover && isNewCover(before, one)))
        return { what: 'undone', of: 'cover', plan, staysDropped: false }
      if (!before.pendingOffer) return { what: 'undone', of: 'swap', plan, ...start, staysDropped: false }
      return {
        what: 'undone',
        of: 'offer',
        plan,
        ...start,
        staysDropped: hasDropped(past, 'pending offer', ['swap']),
      }
  }
}

/** Whether an enrolment has another pending change of cover than before. */
function isNewCover(before: User, { id, pendingCover }: Enrolment): boolean {
  const earlier = before.enrolments.find(one => one.id === id)
  return earlier !== undefined && !isDeepStrictEqual(earlier.pendingCover, pendingCover)
}

function cancelledBy(visit: Visit, hasDropped: boolean): Made {
  const { user, now, partner } = visit
  const at = user.cancel?.at ?? now
  const isAhead = user.status !== 'cancelled'
  const isOpen = mayComeBack(visit)
  const closed = user.enrolments.filter(
    one => one.closeReason === 'cancelled' && (one.endsAt === at || one.endsAt === user.cancel?.requestedAt),
  )
  const hadBegun = isAhead || closed.some(({ state }) => state === 'ended')
  return {
    what: 'cancelled',
    lastday: lastDayOf(visit, at),
    timing: isAhead ? 'ahead' : hadBegun ? 'today' : 'neverbegun',
    hasDropped,
    withdrawn: hadBegun
      ? closed.filter(({ state }) => state === 'withdrawn').map(({ benefit }) => benefit)
      : undefined,
    backuntil: isAhead || !isOpen ? undefined : reinstatableUntil(at, partner.timezone),
    noreturn: !isOpen,
  }
}

/** How many benefits are new, or got the consent or beneficiary that they waited for. */
function addedBy(before: User, after: User): number {
  const added = after.enrolments.filter(({ id, state }) => {
    const earlier = before.enrolments.find(one => one.id === id)
    return (
      heldStates.has(state) && (!earlier || (earlier.state === 'actionrequired' && earlier.state !== state))
    )
  })
  return new Set(added.map(({ benefit }) => benefit)).size
}

const heldStates = new Set(['actionrequired', 'scheduled', 'enrolled', 'endscheduled'])

/** The names of benefits that the cancel ended and that have not come back. */
function missingAfter(after: User, cancelledAt: Instant | undefined): string[] {
  const names = after.enrolments.filter(({ endsAt }) => endsAt === cancelledAt).map(({ benefit }) => benefit)
  return [...new Set(names)]
    .filter(name => !liveEnrolment(after, name))
    .filter(name => lastClosed(after, name)?.closeReason === 'cancelled')
}

/** Whether the last change of that kind canceled something planned. */
function hasDropped(
  past: readonly HistoryLine[],
  undone: HistoryLine['what'],
  pending: readonly HistoryLine['what'][],
): boolean {
  const asked = past.findLast(({ what, to }) => what === undone && to !== undefined)
  return past.some(({ what, to, at }) => at === asked?.at && to === undefined && pending.includes(what))
}
