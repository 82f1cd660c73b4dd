import { type Instant, reinstatableUntil } from '../../../calendar/calendar.ts'
import { type Enrolment, hasPendingCancel, isInForce, lastClosed } from '../../../membership/rules/state.ts'
import { displayNameOf } from '../../../membership/rules/terms.ts'
import type { Visit } from '../../session/visit.ts'
import { isMoveCalledOff, isPairCalledOff, planName, undoUntil } from '../../steps/ahead.ts'
import { enrolmentLine, lastDayOf, liveEnrolment, liveLines, localDay } from '../../steps/cards.ts'
import type { Made } from '../../steps/made.ts'
import { mayComeBack } from '../../steps/taking-back.ts'
import type { BenefitLine, IsoDate } from '../../views/parts.ts'
import type { DoneChange } from './words.ts'

/** What a confirmation says of what was done; it depends on the user's present state. */
export type DoneDescription = {
  readonly change: DoneChange
  readonly benefits: readonly BenefitLine[]
  /** Until when it can be undone. */
  readonly undountil?: Instant
}

/** A description, which lists all benefits unless it names others. */
type Described = Pick<DoneDescription, 'change'> & Partial<DoneDescription>

/**
 * Describes what a session did, as of today: as planned until it takes effect, then as done. `undefined`: it no longer
 * holds, because somebody has changed it since.
 */
export function describeDone(visit: Visit, made: Made): DoneDescription | undefined {
  const found = visit.isMember || made.what === 'cancelled' ? describe(visit, made) : undefined
  return found && { benefits: liveLines(visit), ...found }
}

function describe(visit: Visit, made: Made): Described | undefined {
  switch (made.what) {
    case 'joined':
      return { change: { what: 'enrolled', ...startAhead(visit) } }
    case 'added':
      return { change: { what: 'added', count: made.count, ...startAhead(visit) } }
    case 'swapped':
      return describeSwap(visit, made.benefits)
    case 'changed':
      return describeOfferChange(visit, made)
    case 'cancelled':
      return describeCancel(visit, made)
    case 'reinstated': {
      const missing = missingSince(visit, made.cancelledAt)
      return { change: { what: 'reinstated', ...startAhead(visit), missing } }
    }
    case 'kept':
      return { change: { what: 'kept', staysDropped: made.staysDropped } }
    case 'undone': {
      const { of, staysDropped } = made
      return { change: { what: 'undone', of, plan: planName(visit), ...startAhead(visit), staysDropped } }
    }
  }
}

/** A swap that is pending, or was applied at its boundary with at least one of its new benefits in force. */
function describeSwap(visit: Visit, added: readonly string[]): Described | undefined {
  const { swap } = visit.user
  if (swap?.pairs.every(pair => isPairCalledOff(visit, pair))) return undefined
  if (swap)
    return { change: { what: 'swapped', from: localDay(visit, swap.at) }, ...undoUntil(visit, swap.at) }
  const hasCome = visit.user.enrolments.some(
    enrolment => isInForce(enrolment) && added.includes(enrolment.benefit),
  )
  return hasCome ? { change: { what: 'swapped' } } : undefined
}

function describeOfferChange(
  visit: Visit,
  { from, to, dropsSwap }: Extract<Made, { what: 'changed' }>,
): Described | undefined {
  const { offer, pendingOffer } = visit.user
  if (isMoveCalledOff(visit)) return undefined
  const change = (before: string | undefined, after: string) => ({
    what:
      rankOf(visit, after) > rankOf(visit, before ?? '') ? ('upgraded' as const) : ('downgraded' as const),
    plan: planName(visit, after),
    dropsSwap,
  })
  if (pendingOffer) {
    const { name, at } = pendingOffer
    return { change: { ...change(offer?.name, name), from: localDay(visit, at) }, ...undoUntil(visit, at) }
  }
  return offer?.name === to ? { change: change(from, to) } : undefined
}

function describeCancel(
  visit: Visit,
  { hasDropped }: Extract<Made, { what: 'cancelled' }>,
): Described | undefined {
  const { user, now, partner } = visit
  const { cancel } = user
  if (!cancel || (user.status !== 'cancelled' && !hasPendingCancel(user))) return undefined
  const isAhead = user.status !== 'cancelled'
  const ended = user.enrolments.filter(one => one.closeReason === 'cancelled' && one.endsAt === cancel.at)
  const lastday = lastDayOf(visit, cancel.at)
  const back = reinstatableUntil(cancel.at, partner.timezone)
  const isClosed = !mayComeBack(visit)
  const hadBegun = isAhead || ended.some(({ state }) => state === 'ended')
  const timing = isAhead ? 'ahead' : !hadBegun ? 'neverbegun' : lastday === visit.today ? 'today' : 'past'
  return {
    change: {
      what: 'cancelled',
      lastday,
      timing,
      hasDropped,
      withdrawn: hadBegun ? withdrawnBy(visit, cancel) : undefined,
      backuntil: isAhead || isClosed || now >= back ? undefined : back,
      noreturn: isClosed && now < back,
    },
    benefits: isAhead
      ? liveLines(visit, isInForce)
      : ended.filter(({ state }) => state === 'ended').map(endedLine(visit)),
  }
}

/** The names of benefits that a cancel withdrew because they had not started. */
function withdrawnBy(
  { user, terms, locale }: Visit,
  { at, requestedAt }: { readonly at: Instant; readonly requestedAt: Instant },
): readonly string[] {
  return user.enrolments
    .filter(one => one.state === 'withdrawn' && one.closeReason === 'cancelled')
    .filter(({ endsAt }) => endsAt === at || endsAt === requestedAt)
    .map(({ benefit }) => displayNameOf(terms, user, benefit, locale))
}

function endedLine(visit: Visit) {
  return (enrolment: Enrolment): BenefitLine => {
    // Nobody pays for what has ended.
    const { startson: _, endson: __, cost: ___, ...line } = enrolmentLine(visit, enrolment)
    return { ...line, endedon: lastDayOf(visit, enrolment.endsAt ?? visit.now) }
  }
}

/** The names of benefits that the cancel ended and that have not come back. */
function missingSince(visit: Visit, cancelledAt: Instant | undefined): string[] {
  const { user, terms, locale } = visit
  const names = new Set(
    user.enrolments.filter(({ endsAt }) => endsAt === cancelledAt).map(({ benefit }) => benefit),
  )
  return [...names]
    .filter(name => !liveEnrolment(user, name))
    .filter(name => lastClosed(user, name)?.closeReason === 'cancelled')
    .map(name => displayNameOf(terms, user, name, locale))
}

/** The day on which the membership starts, if that is still to come. */
function startAhead(visit: Visit): { from?: IsoDate } {
  const { offer } = visit.user
  return offer && !offer.inForce ? { from: localDay(visit, offer.since) } : {}
}

function rankOf(visit: Visit, name: string): number {
  return visit.terms.today.catalogue.offers.get(name)?.rank ?? 0
}
