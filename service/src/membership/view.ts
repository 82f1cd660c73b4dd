import type {
  Condition,
  EnrolmentState,
  HeldBenefit,
  Locale,
  TimelineEntry,
  User as WireUser,
} from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import { currentOffer } from './events.ts'
import type { HistoryLine } from './history.ts'
import { type Enrolment, hasPendingCancel, isInForce, isLive, lastClosed, type User } from './state.ts'
import { knownBenefit, type Terms } from './terms.ts'

const optional = (instant: Instant | undefined): string | null =>
  instant === undefined ? null : formatTimestamp(instant)

/** The current offer as the wire has it. */
export const offerDetailsOf = (user: User): WireUser['currentofferdetails'] => {
  const { offer, updatedAt } = currentOffer(user, user.updatedAt)
  return { offer, updatedat: formatTimestamp(updatedAt), serviceid: user.serviceId }
}

/** A pending offer change as the wire has it. */
export const pendingOfferOf = (user: User): WireUser['pendingoffer'] =>
  user.pendingOffer
    ? { offer: user.pendingOffer.name, effectiveattimestamp: formatTimestamp(user.pendingOffer.at) }
    : null

/** The user as the wire has it (contract §7). */
export const viewUser = (user: User, terms: Terms, locale: Locale): WireUser => ({
  userid: user.userid,
  serviceid: user.serviceId,
  status: user.status as WireUser['status'],
  conditions: conditionsOf(user),
  currentofferdetails: offerDetailsOf(user),
  pendingoffer: pendingOfferOf(user),
  benefits: shownEnrolments(user, terms).map(enrolment => viewEnrolment(enrolment, { user, terms, locale })),
  requiredactions: user.enrolments
    .filter(enrolment => enrolment.state === 'actionrequired')
    .map(enrolment => ({
      code: 'consent_required',
      name: enrolment.benefit,
      dueattimestamp: optional(enrolment.actionDueAt),
    })),
  consents: user.consents.map(consent => ({
    name: consent.name,
    version: consent.version,
    agreedattimestamp: formatTimestamp(consent.agreedAt),
    locale: consent.locale,
  })),
  createdat: formatTimestamp(user.createdAt),
  updatedat: formatTimestamp(user.updatedAt),
})

const conditionsOf = (user: User): Condition[] => {
  const conditions: Condition[] = []
  if (user.pendingOffer) conditions.push('offerchangepending')
  if (user.swap) conditions.push('swappending')
  if (hasPendingCancel(user)) conditions.push('cancelpending')
  if (user.enrolments.some(enrolment => enrolment.state === 'actionrequired'))
    conditions.push('actionrequired')
  return conditions
}

/** One enrolment as the wire has it. */
export const viewEnrolment = (
  enrolment: Enrolment,
  context: { user: User; terms: Terms; locale: Locale },
): HeldBenefit => ({
  name: enrolment.benefit,
  displayname:
    knownBenefit(context.terms, context.user, enrolment.benefit)?.displayname[context.locale] ??
    enrolment.benefit,
  state: enrolment.state satisfies EnrolmentState,
  startsattimestamp: hasStart(enrolment) ? formatTimestamp(enrolment.startsAt) : null,
  endsattimestamp: hasStart(enrolment) ? optional(enrolment.endsAt) : null,
})

// What waits for an action or was stopped before it began has no start.
const hasStart = (enrolment: Enrolment): boolean =>
  isInForce(enrolment) || enrolment.state === 'ended' || enrolment.state === 'scheduled'

/** All live enrolments, and of each other benefit the last one; in the order of the catalogue. */
const shownEnrolments = (user: User, terms: Terms): Enrolment[] => {
  const shown = user.enrolments.filter(isLive)
  const live = new Set(shown.map(enrolment => enrolment.benefit))
  const over = new Set(user.enrolments.map(enrolment => enrolment.benefit).filter(name => !live.has(name)))
  const last = [...over].flatMap(name => lastClosed(user, name) ?? [])
  const order = (enrolment: Enrolment) =>
    knownBenefit(terms, user, enrolment.benefit)?.sortorder ?? Number.MAX_SAFE_INTEGER
  return [...shown, ...last].sort(
    (a, b) =>
      order(a) - order(b) ||
      (a.benefit < b.benefit ? -1 : a.benefit > b.benefit ? 1 : 0) ||
      a.startsAt - b.startsAt,
  )
}

/** Everything that happened and, after `now`, everything that is going to happen. */
export const viewTimeline = (user: User, past: readonly HistoryLine[]): TimelineEntry[] => [
  ...past.map(line => ({
    attimestamp: formatTimestamp(line.at),
    what: line.what,
    from: line.from,
    to: line.to,
    who: line.who,
    why: line.why,
  })),
  ...ahead(user)
    .sort((a, b) => a.at - b.at)
    .map(line => ({
      attimestamp: formatTimestamp(line.at),
      what: line.what,
      from: line.from,
      to: line.to,
      who: 'schedule',
      why: line.why,
    })),
]

type Ahead = { at: Instant; what: string; from: string; to: string; why: string }

const ahead = (user: User): Ahead[] => {
  const lines: Ahead[] = []
  if (user.entryExpiresAt !== undefined) {
    lines.push({ at: user.entryExpiresAt, what: 'prefill', from: 'stored', to: '', why: 'prefill expires' })
  }
  if (user.status !== 'active') return lines
  if (user.cancel)
    lines.push({ at: user.cancel.at, what: 'user', from: 'active', to: 'cancelled', why: user.cancel.reason })
  if (user.offer && !user.offer.inForce) {
    lines.push({ at: user.offer.since, what: 'offer', from: '', to: user.offer.name, why: 'start' })
  }
  if (user.pendingOffer) {
    lines.push({
      at: user.pendingOffer.at,
      what: 'offer',
      from: user.offer?.name ?? '',
      to: user.pendingOffer.name,
      why: 'offer change',
    })
  }
  for (const enrolment of user.enrolments) {
    const what = `benefit ${enrolment.benefit}`
    if (enrolment.state === 'scheduled') {
      lines.push({
        at: enrolment.startsAt,
        what,
        from: 'scheduled',
        to: 'enrolled',
        why: enrolment.plannedBy ?? 'start',
      })
    }
    if (enrolment.state === 'endscheduled' && enrolment.endsAt !== undefined) {
      lines.push({
        at: enrolment.endsAt,
        what,
        from: 'endscheduled',
        to: 'ended',
        why: enrolment.endsAt === enrolment.ownEnd?.at ? (enrolment.ownEnd?.reason ?? '') : 'pending change',
      })
    }
  }
  return lines
}
