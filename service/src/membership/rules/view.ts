import type {
  Condition,
  EnrolmentState,
  HeldBenefit,
  ListedUser,
  Locale,
  TimelineEntry,
  User as WireUser,
} from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import { worthOf } from '../../catalogue/tiers.ts'
import { openCover, pendingPeople } from './cover.ts'
import { coveredNow, pricedTerms } from './family.ts'
import { type HistoryLine, type Move, type StoredLine, swapText } from './history.ts'
import {
  type Consent,
  type Covered,
  currentOffer,
  type Enrolment,
  hasPendingCancel,
  isActive,
  isInForce,
  isLive,
  lastClosed,
  type User,
} from './state.ts'
import { displayNameOf, knownBenefit, missingFor, type Terms } from './terms.ts'

function optional(instant: Instant | undefined): string | null {
  return instant === undefined ? null : formatTimestamp(instant)
}

/** The current offer in the form of the API. */
export function offerDetailsOf(user: User): WireUser['currentofferdetails'] {
  const { offer, updatedAt } = currentOffer(user, user.updatedAt)
  return { offer, updatedat: formatTimestamp(updatedAt), serviceid: user.serviceId }
}

/** The pending offer change in the form of the API; without one, a first offer that is still to start. */
export function pendingOfferOf(user: User): WireUser['pendingoffer'] {
  const toStart = isActive(user) && user.offer?.inForce === false ? user.offer : undefined
  const next = user.pendingOffer ?? (toStart && { name: toStart.name, at: toStart.since })
  return next ? { offer: next.name, effectiveattimestamp: formatTimestamp(next.at) } : null
}

/** The user in the form of the API (contract §7), without `moredetails`, which are sealed. */
export function viewUser(user: User, terms: Terms, locale: Locale): Omit<WireUser, 'moredetails'> {
  return {
    userid: user.userid,
    serviceid: user.serviceId,
    status: user.status as WireUser['status'],
    conditions: conditionsOf(user),
    currentofferdetails: offerDetailsOf(user),
    pendingoffer: pendingOfferOf(user),
    benefits: viewEnrolments(user, terms, locale),
    requiredactions: user.enrolments
      .filter(enrolment => enrolment.state === 'actionrequired')
      .flatMap(enrolment =>
        missingOf(user, enrolment, terms).map(code => ({
          code,
          name: enrolment.benefit,
          dueattimestamp: optional(enrolment.actionDueAt),
        })),
      ),
    // In an order of their own, so that the answer to the request that gave them has the order of every later one.
    consents: [...user.consents].sort(byNameAndVersion).map(consent => ({
      name: consent.name,
      version: consent.version,
      agreedattimestamp: formatTimestamp(consent.agreedAt),
      locale: consent.locale,
    })),
    createdat: formatTimestamp(user.createdAt),
    updatedat: formatTimestamp(user.updatedAt),
  }
}

/** The user as the list of users shows it: without what only `get` tells (contract §16). */
export function viewListedUser(user: User, terms: Terms, locale: Locale): ListedUser {
  return {
    userid: user.userid,
    serviceid: user.serviceId,
    status: user.status as ListedUser['status'],
    conditions: conditionsOf(user),
    currentofferdetails: offerDetailsOf(user),
    pendingoffer: pendingOfferOf(user),
    benefits: viewEnrolments(user, terms, locale),
    updatedat: formatTimestamp(user.updatedAt),
  }
}

function viewEnrolments(user: User, terms: Terms, locale: Locale): HeldBenefit[] {
  return shownEnrolments(user, terms).map(enrolment => viewEnrolment(enrolment, { user, terms, locale }))
}

function byNameAndVersion(a: Consent, b: Consent): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.version < b.version ? -1 : 1
}

/** What an enrolment waits for: at least a consent, even when the catalogue no longer requires anything. */
export function missingOf(user: User, enrolment: Enrolment, terms: Terms): readonly string[] {
  const benefit = knownBenefit(terms, user, enrolment.benefit)
  const missing = benefit ? missingFor(user, benefit) : []
  return missing.length > 0 ? missing : ['consent_required']
}

function conditionsOf(user: User): Condition[] {
  const conditions: Condition[] = []
  if (user.pendingOffer) conditions.push('offerchangepending')
  if (user.swap) conditions.push('swappending')
  if (hasPendingCancel(user)) conditions.push('cancelpending')
  if (user.enrolments.some(enrolment => enrolment.state === 'actionrequired'))
    conditions.push('actionrequired')
  if (isActive(user) && user.offer?.admits === false) conditions.push('offerineligible')
  return conditions
}

/** One enrolment in the form of the API. */
export function viewEnrolment(
  enrolment: Enrolment,
  { user, terms, locale }: { user: User; terms: Terms; locale: Locale },
): HeldBenefit {
  return {
    name: enrolment.benefit,
    displayname: displayNameOf(terms, user, enrolment.benefit, locale),
    state: enrolment.state satisfies EnrolmentState,
    startsattimestamp: hasStart(enrolment) ? formatTimestamp(enrolment.startsAt) : null,
    endsattimestamp: hasStart(enrolment) ? optional(enrolment.endsAt) : null,
    ...viewCover(enrolment, terms),
  }
}

/** Who is covered and will be, for a benefit that is held under terms with tiers, or will be. */
function viewCover(
  enrolment: Enrolment,
  terms: Terms,
): Pick<HeldBenefit, 'tier' | 'dependants' | 'pendingcover'> {
  const { pendingCover } = enrolment
  const held = pricedTerms(terms, enrolment)
  if (!held?.tiers && !pendingCover) return {}
  const people = coveredNow(enrolment)
  const coming = openCover(enrolment, terms)
  return {
    ...(held?.tiers && {
      tier: worthOf(held, people.map(relationshipOf)).tier,
      dependants: people.map(idOf),
    }),
    ...(pendingCover &&
      coming && {
        pendingcover: {
          tier: worthOf(coming, pendingPeople(enrolment).map(relationshipOf)).tier,
          dependants: pendingPeople(enrolment).map(idOf),
          effectiveattimestamp: formatTimestamp(Math.max(pendingCover.at, enrolment.startsAt)),
        },
      }),
  }
}

const relationshipOf = ({ relationship }: Pick<Covered, 'relationship'>) => relationship
const idOf = ({ dependantId }: Pick<Covered, 'dependantId'>) => dependantId

// An enrolment that waits for an action, or was stopped before it began, has no start.
function hasStart(enrolment: Enrolment): boolean {
  return isInForce(enrolment) || enrolment.state === 'ended' || enrolment.state === 'scheduled'
}

/** All live enrolments, and the last enrolment of each other benefit, in the order of the catalogue. */
function shownEnrolments(user: User, terms: Terms): Enrolment[] {
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

/** Everything that happened and, after `now`, everything that is going to happen, in the words of the API. */
export function viewTimeline(user: User, past: readonly HistoryLine[]): TimelineEntry[] {
  return [...past, ...comingLines(user)].map(line => ({
    attimestamp: formatTimestamp(line.at),
    ...viewMove(line),
    who: line.who,
    why: line.why,
  }))
}

/** A move in the words of the API. */
export function viewMove(move: Move): Pick<TimelineEntry, 'what' | 'from' | 'to'> {
  const text = <Value>({ from, to }: FromTo<Value>, textOf: (value: Value) => string) => ({
    from: from === undefined ? '' : textOf(from),
    to: to === undefined ? '' : textOf(to),
  })
  switch (move.what) {
    case 'swap':
      return { what: 'swap', from: swapText(move.from), to: swapText(move.to) }
    case 'pending cancel':
      return { what: move.what, ...text(move, formatTimestamp) }
    case 'planned end':
    case 'start':
    case 'end':
      return { what: `${move.what} of ${move.benefit}`, ...text(move, formatTimestamp) }
    case 'benefit':
      return { what: `benefit ${move.benefit}`, ...text(move, String) }
    case 'dependant':
      return { what: `${move.what} ${move.benefit} ${move.dependant}`, ...text(move, String) }
    case 'dependant start':
    case 'dependant end':
      return { what: `${move.what} ${move.benefit} ${move.dependant}`, ...text(move, formatTimestamp) }
    case 'pending cover':
      return { what: `${move.what} of ${move.benefit}`, ...text(move, String) }
    case 'beneficiaries':
      return { what: `beneficiaries ${move.benefit} ${move.version}`, ...text(move, String) }
    case 'consent':
      return { what: `consent ${move.name}`, ...text(move, version => `${version} by ${move.channel}`) }
    default:
      return { what: move.what, ...text<string>(move, String) }
  }
}

type FromTo<Value> = { readonly from?: Value | undefined; readonly to?: Value | undefined }

/** Everything that is going to happen to a user, as far as it is decided, in the order of time. */
export function comingLines(user: User): HistoryLine[] {
  return movesAhead(user)
    .sort((a, b) => a.at - b.at)
    .map(line => ({ ...line, who: 'schedule' }))
}

type LineAhead = StoredLine & { readonly at: Instant }

function movesAhead(user: User): LineAhead[] {
  const lines: LineAhead[] = []
  if (user.entryExpiresAt !== undefined) {
    lines.push({ at: user.entryExpiresAt, what: 'prefill', from: 'stored', why: 'prefill expires' })
  }
  if (user.status !== 'active') return lines
  const { cancel, offer, pendingOffer } = user
  if (cancel) {
    lines.push({ at: cancel.at, what: 'user', from: 'active', to: 'cancelled', why: cancel.reason })
    if (offer) lines.push({ at: cancel.at, what: 'offer', from: offer.name, why: cancel.reason })
  }
  // A change that takes effect at the very start replaces the first offer.
  const isReplaced = offer?.inForce === false && pendingOffer !== undefined && pendingOffer.at <= offer.since
  if (offer && !offer.inForce && !isReplaced) {
    lines.push({ at: offer.since, what: 'offer', to: offer.name, why: 'start' })
  }
  if (pendingOffer) {
    const from = isReplaced ? undefined : offer?.name
    lines.push({ at: pendingOffer.at, what: 'offer', from, to: pendingOffer.name, why: 'offer change' })
  }
  for (const enrolment of user.enrolments)
    lines.push(...movesAheadOf(enrolment), ...coverMovesAhead(enrolment))
  return lines
}

/** Who will come and go while an enrolment lasts: by a pending change, or by age. */
function coverMovesAhead(enrolment: Enrolment): LineAhead[] {
  const { benefit, covered, pendingCover, endsAt } = enrolment
  if ((!covered && !pendingCover) || !isLive(enrolment)) return []
  const what = 'dependant'
  const people = coveredNow(enrolment)
  const coming = pendingCover && pendingPeople(enrolment)
  const changesAt = Math.max(pendingCover?.at ?? 0, enrolment.startsAt)
  const stays = (id: string) => !coming || coming.some(({ dependantId }) => dependantId === id)
  return [
    ...people.flatMap((one): LineAhead[] => {
      const { dependantId: dependant, end } = one
      const from = 'covered'
      const isBefore = end !== undefined && (endsAt === undefined || end.at < endsAt)
      if (isBefore && (stays(dependant) || end.at <= changesAt))
        return [{ at: end.at, what, benefit, dependant, from, why: end.reason }]
      return stays(dependant) ? [] : [{ at: changesAt, what, benefit, dependant, from, why: 'coverchanged' }]
    }),
    ...(coming ?? [])
      .filter(one => !people.some(({ dependantId }) => dependantId === one.dependantId))
      .map(
        ({ dependantId: dependant }): LineAhead => ({
          ...{ at: changesAt, what, benefit, dependant },
          to: 'covered',
          why: 'coverchanged',
        }),
      ),
  ]
}

/** The coming start and end of one enrolment, by pending changes, its own end, and a missing action. */
function movesAheadOf(enrolment: Enrolment): LineAhead[] {
  const { benefit, state, startsAt, endsAt, ownEnd, actionDueAt, pendingBy } = enrolment
  const what = 'benefit'
  const waits = state === 'actionrequired'
  const ends = [endsAt, ownEnd?.at, waits ? actionDueAt : undefined].filter(at => at !== undefined)
  const end = ends.length === 0 ? undefined : Math.min(...ends)
  const byItself = waits && end === actionDueAt ? 'expired' : 'pending change'
  const why = ownEnd && end === ownEnd.at ? ownEnd.reason : byItself
  if (waits) {
    const to = pendingBy === 'swap' ? 'rejected' : 'withdrawn'
    return end === undefined ? [] : [{ at: end, what, benefit, from: state, to, why }]
  }
  if (state !== 'scheduled' && state !== 'endscheduled') return []
  const isScheduled = state === 'scheduled'
  if (isScheduled && end !== undefined && end <= startsAt)
    return [{ at: end, what, benefit, from: state, to: 'withdrawn', why }]
  // It begins with its end, as far as that is known by now.
  const begun = end === undefined ? 'enrolled' : 'endscheduled'
  const lines: LineAhead[] = []
  if (isScheduled)
    lines.push({ at: startsAt, what, benefit, from: state, to: begun, why: pendingBy ?? 'start' })
  if (end !== undefined) lines.push({ at: end, what, benefit, from: 'endscheduled', to: 'ended', why })
  return lines
}
