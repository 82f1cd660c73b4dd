import type { CancelReason, EnrolmentState, EventName } from '@benefit-enrolment/contract'
import { type Instant, prefillExpiresAt } from '../../calendar/calendar.ts'
import type { Language, Relationship } from '../../catalogue/model.ts'

/** The states of a user (contract §9); `none`: only the serviceid is known, because the prefill has lapsed. */
export type UserStatus = 'none' | 'prefilled' | 'registering' | 'active' | 'cancelled' | 'erased'

/** One user's enrolment in one benefit, with its dates. */
export type Enrolment = {
  readonly id: string
  readonly benefit: string
  readonly offer: string
  readonly isFixed: boolean
  readonly state: EnrolmentState
  /**
   * The pending change that would bring this enrolment; the row is kept or dropped with that change. A declined row keeps
   * `offer`, so that the change, once it takes effect at the row's start, leaves the benefit out.
   */
  readonly pendingBy: 'offer' | 'swap' | undefined
  /** The catalogue version whose terms apply to it. */
  readonly version: number
  readonly pickedAt: Instant
  readonly startsAt: Instant
  /** Its dated end, whatever the cause. */
  readonly endsAt: Instant | undefined
  /** An end that is the enrolment's own, and not the effect of a pending change. */
  readonly ownEnd: { readonly at: Instant; readonly reason: OwnEndReason } | undefined
  /** The end that an operator gave, kept while the benefit ends earlier because it no longer admits the person. */
  readonly correctedEnd?: Instant | undefined
  /** The instant by which what is missing must be given; see `lapsesAt`. */
  readonly actionDueAt: Instant | undefined
  /** The user asked for this benefit alone and not with an offer, so an event of its own reports its start. */
  readonly isSingle: boolean
  readonly closeReason: CloseReason | undefined
  /** The voided enrolment that this one replaces, after an operator's correction. */
  readonly corrects?: string | undefined
  /** Who else is or was covered, in the order in which they came; absent where nobody was. */
  readonly covered?: readonly Covered[] | undefined
  /** Who will be covered from a boundary on; absent without such a change. */
  readonly pendingCover?: PendingCover | undefined
  /** A later version whose prices hold since an instant, because that of the enrolment has no tiers. */
  readonly tiersFrom?: { readonly version: number; readonly at: Instant } | undefined
}

/**
 * A dependant in an enrolment. Its days are those of the enrolment but for an own start and an own end, so that they move when
 * the enrolment moves; `daysOf` reads them.
 */
export type Covered = {
  readonly dependantId: string
  readonly relationship: Relationship
  /** Absent: from the start of the enrolment. */
  readonly startsAt?: Instant | undefined
  readonly end?: { readonly at: Instant; readonly reason: CoverEndReason } | undefined
  /** The own end has taken effect. */
  readonly isOver: boolean
}

/** Why the cover of a dependant ends before the benefit does. */
export type CoverEndReason = 'endsatage' | 'coverchanged' | 'corrected'

/** Who will be covered beside the member, from an instant on, or from the start of what begins later. */
export type PendingCover = {
  readonly at: Instant
  readonly people: readonly Pick<Covered, 'dependantId' | 'relationship'>[]
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

/** One element of a swap: a benefit to add, a benefit to remove, or an exchange of the two. */
export type SwapPair = {
  readonly add?: string | undefined
  readonly remove?: string | undefined
  /** The dependants whom the benefit to add will cover; absent: nobody. */
  readonly covered?: readonly string[] | undefined
}

/** How a consent reached us: on the page, from the partner, through an operator by phone, paper or email, or by an import. */
export type ConsentChannel = 'page' | 'partner' | 'phone' | 'paper' | 'email' | 'import'

/** A consent that the user gave. */
export type Consent = {
  readonly name: string
  readonly version: string
  readonly agreedAt: Instant
  /** Of the text that was shown. */
  readonly locale: Language
  /** How it was given to the operator who put it on record; absent when the person or the partner gave it directly. */
  readonly channel?: Exclude<ConsentChannel, 'page' | 'partner'> | undefined
}

/** One version of a person's beneficiary designation for a benefit, without the names. Memory keeps the newest. */
export type Designation = {
  readonly benefit: string
  readonly version: number
  readonly who: 'user' | 'operatorlink'
  readonly writtenAt: Instant
}

/** Everything that the service knows of one user, except personal data. */
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
  /**
   * The offer that is in force, is still to start, or was held last; `since` is when it came or will come into force.
   */
  readonly offer:
    | {
        readonly name: string
        readonly since: Instant
        readonly version: number
        readonly inForce: boolean
        /** Whether its rules still admit the user; a user whom they no longer admit keeps the offer. */
        readonly admits: boolean
      }
    | undefined
  readonly pendingOffer: { readonly name: string; readonly at: Instant } | undefined
  readonly swap: { readonly pairs: readonly SwapPair[]; readonly at: Instant } | undefined
  readonly cancel:
    | { readonly at: Instant; readonly requestedAt: Instant; readonly reason: CancelReason }
    | undefined
  readonly enrolments: readonly Enrolment[]
  readonly consents: readonly Consent[]
  readonly designations: readonly Designation[]
  /** The newest version of the list of dependants, who stand in the data of the account; `undefined`: there never was one. */
  readonly dependantsVersion: number | undefined
  readonly erasedAt: Instant | undefined
}

/** A user of whom only the userid and the serviceid are known. */
export function newUser({ partnerId, serviceId, userid, at }: NewUser): User {
  return {
    partnerId,
    serviceId,
    userid,
    status: 'none',
    createdAt: at,
    updatedAt: at,
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
    dependantsVersion: undefined,
    erasedAt: undefined,
  }
}

type NewUser = Pick<User, 'partnerId' | 'serviceId' | 'userid'> & { readonly at: Instant }

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

/** Whether the enrolment is in force or may still come into force: every state from selected to endscheduled. */
export function isLive(enrolment: Enrolment): boolean {
  return liveStates.has(enrolment.state)
}

/** Whether the user holds it now, unlike a row that a pending change only plans. */
export function isHeld(enrolment: Enrolment): boolean {
  return isLive(enrolment) && enrolment.pendingBy === undefined
}

/** Whether a pending change would bring it, so that it is not held yet. */
export function isPending(enrolment: Enrolment): boolean {
  return isLive(enrolment) && enrolment.pendingBy !== undefined
}

/**
 * When an enrolment that waits for an action is withdrawn; a pending row is withdrawn with the change that planned it.
 */
export function lapsesAt(enrolment: Enrolment): Instant | undefined {
  return enrolment.state === 'actionrequired' && enrolment.pendingBy === undefined
    ? enrolment.actionDueAt
    : undefined
}

/** Whether an enrolment is over at an instant, by its own end or because a required action has not come in time. */
export function endsByItself(enrolment: Enrolment, at: Instant): boolean {
  return [enrolment.ownEnd?.at, lapsesAt(enrolment)].some(end => end !== undefined && end <= at)
}

/**
 * Whether a time was in force at all: a cancel in the millisecond of the start leaves none, which counts nowhere (contract
 * §16). The statements of SQL say `ends_at > starts_at`.
 */
export function hasLength({ startsAt, endsAt }: { startsAt: Instant; endsAt: Instant | undefined }): boolean {
  return endsAt === undefined || endsAt > startsAt
}

const coveringStates: ReadonlySet<Enrolment['state']> = new Set([
  'scheduled',
  'enrolled',
  'endscheduled',
  'ended',
])

/** Whether the enrolment covers somebody: it did, does or will, for some time. */
export function hasCover(enrolment: Enrolment): boolean {
  return coveringStates.has(enrolment.state) && hasLength(enrolment)
}

/** The held enrolment of one benefit. */
export function heldEnrolment(user: User, benefit: string): Enrolment | undefined {
  return user.enrolments.find(enrolment => enrolment.benefit === benefit && isHeld(enrolment))
}

/**
 * The order in which picks stay when there is not room for all: those in force first, then those that began earliest,
 * then those picked earliest.
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

/** The last closed enrolment of a benefit: of the rows that are over, the one that closed latest. */
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

/** Whether the partner can see a prefill entry or an account of the user. */
export function isKnown(user: User | undefined): user is User {
  return user !== undefined && user.status !== 'none' && user.status !== 'erased'
}

/**
 * Whether the partner has a prefill entry or an account of the user. A user who was made by opening a link has neither
 * before the registration ends.
 */
export function hasEntry(user: User, now: Instant): boolean {
  if (user.status !== 'registering') return isKnown(user)
  return user.prefillWrittenAt !== undefined && prefillExpiresAt(user.prefillWrittenAt) > now
}

/** The catalogue versions that apply to a user's offer and benefits. */
export function versionsOf(user: User): number[] {
  const versions = [user.offer?.version ?? 0]
  for (const { version, tiersFrom } of user.enrolments) {
    versions.push(version)
    if (tiersFrom) versions.push(tiersFrom.version)
  }
  return versions
}

/** A raised event: the state right after the change (contract §10). */
export type Raised = {
  readonly eventname: EventName
  readonly at: Instant
  readonly offer: string
  readonly updatedAt: Instant
  /** The benefit that the event is about, if it is about a single one. */
  readonly benefit: string | undefined
  /** The dependant whom it is about, of those whom the benefit covers. */
  readonly dependantId?: string | undefined
  /** The reason, when the event's name does not give it: something was missing and did not come in time. */
  readonly reason?: 'expired'
}

/** What the partner gets as the offer: its name, and since when that holds; `at` when the user never had an offer. */
export function currentOffer(user: User, at: Instant): { offer: string; updatedAt: Instant } {
  if (user.offer?.inForce) return { offer: user.offer.name, updatedAt: user.offer.since }
  const isOver = user.status === 'cancelled' || user.status === 'erased'
  if (isOver && user.cancel) return { offer: '', updatedAt: user.cancel.at }
  return { offer: '', updatedAt: at }
}

/** An event about the user as it is after the change. */
export function raise(user: User, eventname: EventName, at: Instant, benefit?: string): Raised {
  const { offer, updatedAt } = currentOffer(user, at)
  return { eventname, at, offer, updatedAt, benefit }
}
