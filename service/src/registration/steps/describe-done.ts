import { type Instant, lockedFrom, reinstatableUntil } from '../../calendar/calendar.ts'
import type { HistoryLine } from '../../membership/rules/history.ts'
import { type Enrolment, hasPendingCancel, isInForce, lastClosed } from '../../membership/rules/state.ts'
import { displayNameOf, offerOf } from '../../membership/rules/terms.ts'
import type { PageOutcome } from '../session/store.ts'
import type { Visit } from '../session/visit.ts'
import type { DoneChange } from '../views/done-words.ts'
import type { BenefitLine, Day } from '../views/parts.ts'
import { isMoveCalledOff, isPairCalledOff } from './ahead.ts'
import { dayOf, enrolmentLine, lastDayOf, liveEnrolment, liveLines } from './cards.ts'
import { mayComeBack } from './may-come-back.ts'

/** What a confirmation says; it depends on the user's present state and history. */
export type DoneDescription = {
  readonly change: DoneChange
  readonly benefits: readonly BenefitLine[]
  /** When it was done on the partner's clock; absent when history has no line of it. */
  readonly at?: Instant | undefined
  /** Until when it can be undone. */
  readonly undountil?: Instant
}

/** A description, which lists all benefits unless it names others. */
type Found = Pick<DoneDescription, 'change'> & Partial<DoneDescription>

/**
 * Describes what a session did, as of today: as planned until it takes effect, then as done. `undefined`: it no longer
 * holds, because somebody has changed it since.
 */
export async function describeDone(
  visit: Visit,
  outcome: PageOutcome,
  reference: string,
): Promise<DoneDescription | undefined> {
  const lines = await visit.context.reader.history({ ...visit, dueChanges: [] })
  const own = lines.filter(line => line.reference === reference)
  const found =
    visit.isMember || outcome === 'cancelled' ? describers[outcome](visit, { lines, own }) : undefined
  return found && { at: own.at(-1)?.at, benefits: liveLines(visit), ...found }
}

type Past = { readonly lines: readonly HistoryLine[]; readonly own: readonly HistoryLine[] }

const describers: Readonly<Record<PageOutcome, (visit: Visit, past: Past) => Found | undefined>> = {
  enrolled: (visit, { own }) => {
    const hasJoined = own.some(({ what }) => what === 'user')
    const added = new Set(own.flatMap(addedBy))
    const what = hasJoined ? ({ what: 'enrolled' } as const) : ({ what: 'added', count: added.size } as const)
    return { change: { ...what, ...startAhead(visit) } }
  },
  swapped: describeSwap,
  changed: describeOfferChange,
  cancelled: describeCancel,
  undone: (visit, { own, lines }) => {
    const last = own.findLast(({ why }) => undoings.has(why))
    if (!last) return undefined
    if (last.why === 'reinstate') {
      const cancelledAt = lines.findLast(({ what, to }) => what === 'user' && to === 'cancelled')?.at
      const isBack = own.some(
        ({ what, from, at }) => what === 'user' && from === 'cancelled' && at === last.at,
      )
      if (isBack)
        return {
          change: { what: 'reinstated', ...startAhead(visit), missing: missingSince(visit, cancelledAt) },
        }
      return { change: { what: 'kept', ...staysDropped(lines, 'pending cancel', ['swap', 'pending offer']) } }
    }
    const of = last.why === 'offer change undone' ? 'offer' : 'swap'
    const dropped = of === 'offer' ? staysDropped(lines, 'pending offer', ['swap']) : {}
    return { change: { what: 'undone', of, plan: planName(visit), ...startAhead(visit), ...dropped } }
  },
}

/** The benefit that a change added, or gave what it waited for. */
function addedBy(line: HistoryLine): string | readonly [] {
  if (line.what !== 'benefit') return []
  const isNew = line.from === undefined || line.from === 'actionrequired'
  return isNew && heldStates.has(line.to ?? '') ? line.benefit : []
}

/**
 * The states that a benefit enters, as history records them, when a person adds it or gives it the consent or beneficiary
 * that it waited for.
 */
const heldStates = new Set(['actionrequired', 'scheduled', 'enrolled', 'endscheduled'])

/** The reasons, as history records them, of changes that undo something. */
const undoings = new Set(['reinstate', 'offer change undone', 'swap'])

/** Whether the change that is undone had itself canceled something planned: that does not come back. */
function staysDropped(
  lines: readonly HistoryLine[],
  undone: HistoryLine['what'],
  planned: readonly HistoryLine['what'][],
): { staysDropped?: true } {
  const asked = lines.findLast(({ what, to }) => what === undone && to !== undefined)
  const isDropped = lines.some(
    ({ what, to, at }) => at === asked?.at && to === undefined && planned.includes(what),
  )
  return isDropped ? { staysDropped: true } : {}
}

/** A swap that is pending, or was applied at its boundary with at least one new benefit in force. */
function describeSwap(visit: Visit, { own }: Past): Found | undefined {
  const { swap } = visit.user
  if (swap?.pairs.every(pair => isPairCalledOff(visit, pair))) return undefined
  if (swap) return { change: { what: 'swapped', from: dayOf(visit, swap.at) }, ...undoUntil(visit, swap.at) }
  const asked = own.findLast(line => line.what === 'swap')
  const added = new Set(asked?.to?.map(({ add }) => add))
  const hasCome = visit.user.enrolments.some(
    enrolment => isInForce(enrolment) && added.has(enrolment.benefit),
  )
  return hasCome ? { change: { what: 'swapped' } } : undefined
}

function describeOfferChange(visit: Visit, { lines, own }: Past): Found | undefined {
  const { offer, pendingOffer } = visit.user
  if (isMoveCalledOff(visit)) return undefined
  const change = (from: string | undefined, to: string) => ({
    what: rankOf(visit, to) > rankOf(visit, from ?? '') ? ('upgraded' as const) : ('downgraded' as const),
    plan: planName(visit, to),
    dropsSwap: own.some(({ what, to }) => what === 'swap' && to === undefined),
  })
  if (pendingOffer) {
    const { name, at } = pendingOffer
    return { change: { ...change(offer?.name, name), from: dayOf(visit, at) }, ...undoUntil(visit, at) }
  }
  const wanted = own.flatMap(wantedBy).at(-1)
  if (wanted === undefined || offer?.name !== wanted) return undefined
  const before = lines.flatMap(line =>
    line.what === 'offer' && line.from !== undefined && line.to === wanted ? line.from : [],
  )
  return { change: change(before.at(-1), wanted) }
}

/** The offer that a change wanted, for now or for later. */
function wantedBy(line: HistoryLine): string | readonly [] {
  const isOffer = line.what === 'offer' || line.what === 'pending offer' || line.what === 'offer to start'
  return isOffer ? (line.to ?? []) : []
}

function describeCancel(visit: Visit, { lines, own }: Past): Found | undefined {
  const { user, now, partner } = visit
  const { cancel } = user
  if (!cancel || (user.status !== 'cancelled' && !hasPendingCancel(user))) return undefined
  const isAhead = user.status !== 'cancelled'
  const ended = user.enrolments.filter(one => one.closeReason === 'cancelled' && one.endsAt === cancel.at)
  const lastday = lastDayOf(visit, cancel.at)
  const asked = own.at(-1)?.at ?? cancel.requestedAt
  const back = reinstatableUntil(cancel.at, partner.timezone)
  const isClosed = !mayComeBack(visit)
  const hasDropped = lines.some(
    ({ what, to, at }) => (what === 'swap' || what === 'pending offer') && to === undefined && at === asked,
  )
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
    at: asked,
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
function startAhead(visit: Visit): { from?: Day } {
  const { offer } = visit.user
  return offer && !offer.inForce ? { from: dayOf(visit, offer.since) } : {}
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
  return visit.terms.today.catalogue.offers.get(name)?.displayname[visit.locale] ?? name
}

function rankOf(visit: Visit, name: string): number {
  return visit.terms.today.catalogue.offers.get(name)?.rank ?? 0
}
