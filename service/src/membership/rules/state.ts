import type { EnrolmentState } from '@benefit-enrolment/contract'
import { type Instant, prefillExpiresAt } from '../../calendar/calendar.ts'

/** The states of a user (contract §9); `none`: known by its serviceid only, its prefill has lapsed. */
export type UserStatus = 'none' | 'prefilled' | 'registering' | 'active' | 'cancelled' | 'erased'

/** One user holding one benefit over one window of time. */
export type Enrolment = {
  readonly id: string
  readonly benefit: string
  readonly offer: string
  readonly isFixed: boolean
  readonly state: EnrolmentState
  /** The pending change that would bring it; the row follows that change. */
  readonly plannedBy: 'offer' | 'swap' | undefined
  /** The catalogue version whose terms hold for it. */
  readonly version: number
  readonly pickedAt: Instant
  readonly startsAt: Instant
  /** Dated end, whatever brings it. */
  readonly endsAt: Instant | undefined
  /** An end that the enrolment has by itself, not by a pending change. */
  readonly ownEnd: { readonly at: Instant; readonly reason: OwnEndReason } | undefined
  /** By when what is missing must come; see `lapsesAt`. */
  readonly actionDueAt: Instant | undefined
  /** Asked for by itself and not with an offer: its start is told by an event of its own. */
  readonly isSingle: boolean
  readonly closeReason: CloseReason | undefined
  /** The enrolment that this one takes the place of, which an operator voided. */
  readonly corrects?: string
}

/** Why an enrolment ends by itself. */
export type OwnEndReason = 'ineligible' | 'endsatage' | 'corrected'
/** Why an enrolment is over. */
export type CloseReason =
  | 'cancelled'
  | 'offer changed'
  | 'swapped out'
  | 'undone'
  | 'swap failed'
  | 'ineligible'
  | 'endsatage'
  | 'declined'
  | 'expired'
  | 'erased'
  | 'corrected'

/** One element of a swap: in, out, or one against the other. */
export type SwapPair = { readonly add: string | undefined; readonly remove: string | undefined }

/** How a consent came to us: on the page, from the partner, or to an operator in one of three ways. */
export type ConsentChannel = 'page' | 'partner' | 'phone' | 'paper' | 'email'

/** A consent that the user gave. */
export type Consent = {
  readonly name: string
  readonly version: string
  readonly agreedAt: Instant
  readonly locale: 'en' | 'es'
  /** How it was given to the operator who put it on record; absent where the person or the partner gave it to us. */
  readonly channel?: Exclude<ConsentChannel, 'page' | 'partner'> | undefined
}

/**
 * One version of whom a person names as beneficiaries of a benefit, without the names. Of the versions of one benefit the
 * newest of each status is kept in memory.
 */
export type Designation = {
  readonly benefit: string
  readonly version: number
  readonly status: 'proposed' | 'confirmed' | 'dropped'
  readonly who: 'partner' | 'user' | 'operator'
  readonly writtenAt: Instant
  /** When it was confirmed or dropped. */
  readonly decidedAt: Instant | undefined
}

/** Everything but personal data that the service knows of one user. */
export type User = {
  readonly partnerId: string
  readonly serviceId: string
  readonly userid: string
  readonly status: UserStatus
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly prefillCount: number
  readonly prefillWrittenAt: Instant | undefined
  /** When the prefill entry or the registration lapses. */
  readonly entryExpiresAt: Instant | undefined
  /** The offer in force, to start, or last held; `since` is when it came or comes into force. */
  readonly offer:
    | {
        readonly name: string
        readonly since: Instant
        readonly version: number
        readonly inForce: boolean
        /** Whether its rules still admit the user; who is not admitted any more keeps it. */
        readonly admits: boolean
      }
    | undefined
  readonly pendingOffer: { readonly name: string; readonly at: Instant } | undefined
  readonly swap: { readonly pairs: readonly SwapPair[]; readonly at: Instant } | undefined
  readonly cancel:
    | { readonly at: Instant; readonly requestedAt: Instant; readonly reason: string }
    | undefined
  readonly enrolments: readonly Enrolment[]
  readonly consents: readonly Consent[]
  readonly designations: readonly Designation[]
  readonly erasedAt: Instant | undefined
}

/** A user of whom nothing is known yet but the names. */
export function newUser(identity: {
  partnerId: string
  serviceId: string
  userid: string
  at: Instant
}): User {
  return {
    partnerId: identity.partnerId,
    serviceId: identity.serviceId,
    userid: identity.userid,
    status: 'none',
    createdAt: identity.at,
    updatedAt: identity.at,
    prefillCount: 0,
    prefillWrittenAt: undefined,
    entryExpiresAt: undefined,
    offer: undefined,
    pendingOffer: undefined,
    swap: undefined,
    cancel: undefined,
    enrolments: [],
    consents: [],
    designations: [],
    erasedAt: undefined,
  }
}

const liveStates = new Set<EnrolmentState>([
  'selected',
  'actionrequired',
  'scheduled',
  'enrolled',
  'endscheduled',
])

/** Whether cover is in force: the wire status `enrolled`. */
export function isInForce(enrolment: Enrolment): boolean {
  return enrolment.state === 'enrolled' || enrolment.state === 'endscheduled'
}

/** Whether the enrolment is or may come into force: from selected to endscheduled. */
export function isLive(enrolment: Enrolment): boolean {
  return liveStates.has(enrolment.state)
}

/** Whether the user holds it for itself, not as the outlook of a pending change. */
export function isHeld(enrolment: Enrolment): boolean {
  return isLive(enrolment) && enrolment.plannedBy === undefined
}

/** When an enrolment that waits for an action is withdrawn; what a pending change plans falls with that change. */
export function lapsesAt(enrolment: Enrolment): Instant | undefined {
  return enrolment.state === 'actionrequired' && enrolment.plannedBy === undefined
    ? enrolment.actionDueAt
    : undefined
}

/** Whether an enrolment is over at an instant by its own end, or because what it waits for has not come. */
export function endsByItself(enrolment: Enrolment, at: Instant): boolean {
  return [enrolment.ownEnd?.at, lapsesAt(enrolment)].some(end => end !== undefined && end <= at)
}

/** The held enrolment of one benefit. */
export function heldEnrolment(user: User, benefit: string): Enrolment | undefined {
  return user.enrolments.find(enrolment => enrolment.benefit === benefit && isHeld(enrolment))
}

/**
 * The order in which picks stay when there is no room for all: cover in force first, then what began earliest, then
 * what was picked earliest.
 */
export function byEnrolledFirst(a: Enrolment, b: Enrolment): number {
  return (
    Number(hasBegun(b)) - Number(hasBegun(a)) ||
    a.startsAt - b.startsAt ||
    a.pickedAt - b.pickedAt ||
    (a.id < b.id ? -1 : 1)
  )
}

function hasBegun(enrolment: Enrolment): boolean {
  return isInForce(enrolment) || enrolment.state === 'ended'
}

/** What became of a benefit last: of the rows that are over, the one that closed latest. */
export function lastClosed(user: User, benefit: string): Enrolment | undefined {
  return user.enrolments
    .filter(enrolment => enrolment.benefit === benefit && !isLive(enrolment) && enrolment.state !== 'void')
    .sort((a, b) => (a.endsAt ?? 0) - (b.endsAt ?? 0) || (a.id < b.id ? -1 : 1))
    .at(-1)
}

/** Whether an account exists and no cancel is in effect. */
export function isActive(user: User): boolean {
  return user.status === 'active'
}

/** Whether a cancel is dated but not in effect. */
export function hasPendingCancel(user: User): boolean {
  return user.status === 'active' && user.cancel !== undefined
}

/** Whether a prefill entry or an account of the user can be seen by the partner. */
export function isKnown(user: User | undefined): user is User {
  return user !== undefined && user.status !== 'none' && user.status !== 'erased'
}

/**
 * Whether the partner has a prefill entry or an account of the user: who opened a link of whom nothing was known has
 * neither before the registration ends.
 */
export function hasEntry(user: User, now: Instant): boolean {
  if (user.status !== 'registering') return isKnown(user)
  return user.prefillWrittenAt !== undefined && prefillExpiresAt(user.prefillWrittenAt) > now
}

/** The catalogue versions by which a user's offer and benefits are judged. */
export function versionsOf(user: User): number[] {
  return [user.offer?.version ?? 0, ...user.enrolments.map(enrolment => enrolment.version)]
}
