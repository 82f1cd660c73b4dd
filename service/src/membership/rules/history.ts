import type { CancelReason, EnrolmentState } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { AppliedChange } from './apply-due.ts'
import { coveredNow, daysOf } from './family.ts'
import {
  type CloseReason,
  type Consent,
  type CoverEndReason,
  type Covered,
  type Enrolment,
  hasCover,
  hasLength,
  isInForce,
  type OwnEndReason,
  type SwapPair,
  type User,
  type UserStatus,
} from './state.ts'

/** Who made a change; `operatorlink`: somebody on the page, by a link that an operator made. */
export type Who = 'partner' | 'user' | 'operator' | 'operatorlink' | 'schedule'

/** What moved, from where to where: without `from` it is new, without `to` it is gone. No personal data. */
export type Move =
  | Moved<'user', UserStatus>
  | Moved<'dependants', string>
  | Moved<'prefill', 'stored'>
  | Moved<'offer' | 'offer to start' | 'pending offer', string>
  | Moved<'swap', readonly SwapPair[]>
  | Moved<'pending cancel', Instant>
  | (OfBenefit & Moved<'benefit', EnrolmentState>)
  | (OfBenefit & Moved<'planned end' | 'start' | 'end', Instant>)
  | (OfBenefit & Moved<'dependant', 'covered' | 'scheduled'> & { readonly dependant: string })
  | (OfBenefit & Moved<'dependant start' | 'dependant end', Instant> & { readonly dependant: string })
  | (OfBenefit & Moved<'pending cover', string>)
  | (OfBenefit & Moved<'beneficiaries', 'confirmed'> & { readonly version: number })
  | (Moved<'consent', string> & Pick<Consent, 'name' | 'channel'>)

type Moved<What extends string, Value> = {
  readonly what: What
  readonly from?: Value | undefined
  readonly to?: Value | undefined
}
type OfBenefit = { readonly benefit: string }

/** What a command was made for, as the history keeps it; it names no person. Of a cancel, the reason that the API gives. */
export type Why =
  | (
      | 'prefill'
      | 'create'
      | 'update'
      | 'enrol'
      | 'imported'
      | 'link opened'
      | 'answers kept'
      | 'details corrected'
      | 'dependants'
      | 'cover'
    )
  | ('swap' | 'offer change' | 'offer change undone' | 'declined' | 'declined, with a reason')
  | (
      | 'cancel'
      | `cancel: ${CancelReason}`
      | 'reinstate'
      | 'erase'
      | 'due'
      | 'insurer answered'
      | 'beneficiaries named'
    )
  | ('correction: void' | 'correction: dates' | `consent by ${ConsentOnRecord}`)
type ConsentOnRecord = NonNullable<Consent['channel']>

/**
 * Why a line is there: what its command was made for; of what falls due, what that is; the reason of a cancel; or why an enrolment, or
 * the cover of a dependant, is over.
 */
export type WhyOfLine =
  | Why
  | ('prefill expires' | 'prefill expired' | 'start' | 'pending change')
  | NonNullable<Enrolment['pendingBy']>
  | (CancelReason | CloseReason | OwnEndReason | CoverEndReason)

/** A move as the history stores it. */
export type StoredLine = Move & { readonly why: WhyOfLine }

/** One line of a user's history: what changed, when, by whom and why. */
export type HistoryLine = StoredLine & {
  readonly at: Instant
  readonly who: Who
  /** The reference of the change in which the line was made, if its caller gave one. */
  readonly reference?: string | undefined
}

/** The lines of changes that are due and not stored yet. */
export function linesOfDue(changes: readonly AppliedChange[]): HistoryLine[] {
  return changes.flatMap(change =>
    linesOf(change, 'schedule', 'due').map(line => ({ ...line, at: change.at, who: 'schedule' as const })),
  )
}

/**
 * The lines for the difference that a change made. Throws when a state moved in a way that its table does not allow: that
 * is a fault of the service and must not be stored.
 */
export function linesOf(applied: AppliedChange, who: Who, why: Why): StoredLine[] {
  const lines: StoredLine[] = []
  const note = (move: Move, because: WhyOfLine = why) => {
    if (move.from !== move.to) lines.push(Object.assign(move, { why: because }))
  }
  const { before, after } = applied
  if (!userMayMove(before.status, after.status))
    throw new Error(`user moved ${before.status} to ${after.status}`)
  const wider = who === 'schedule' ? whyOfDue(applied, why) : why
  note({ what: 'user', from: before.status, to: after.status }, wider)
  if (after.prefillCount > before.prefillCount) note({ what: 'prefill', to: 'stored' })
  else if (after.entryExpiresAt === undefined && before.entryExpiresAt !== undefined)
    note({ what: 'prefill', from: 'stored' }, who === 'schedule' ? 'prefill expired' : why)
  note({ what: 'offer', from: offerInForce(before), to: offerInForce(after) }, wider)
  note({ what: 'offer to start', from: offerToStart(before), to: offerToStart(after) })
  note({ what: 'pending offer', from: before.pendingOffer?.name, to: after.pendingOffer?.name })
  if (swapText(before.swap?.pairs) !== swapText(after.swap?.pairs))
    note({ what: 'swap', from: before.swap?.pairs, to: after.swap?.pairs })
  note(
    { what: 'pending cancel', from: pendingCancel(before), to: pendingCancel(after) },
    after.cancel?.reason ?? why,
  )
  note({ what: 'dependants', from: listVersion(before), to: listVersion(after) })
  for (const designation of after.designations) {
    const { benefit, version } = designation
    if (!before.designations.includes(designation))
      note({ what: 'beneficiaries', benefit, version, to: 'confirmed' })
  }
  for (const consent of after.consents) {
    const { name, version, channel } = consent
    // Only consents that an operator put on record have a line of their own; the others came with a change that already
    // has one.
    if (channel !== undefined && !before.consents.includes(consent))
      note({ what: 'consent', name, channel, to: version })
  }
  if (after.enrolments.length === 0) return lines
  const known = new Map(before.enrolments.map(enrolment => [enrolment.id, enrolment]))
  // New rows come last, so that a row that takes the place of another one of its benefit follows the end of that one.
  const isNew = ({ id }: Enrolment) => Number(!known.has(id))
  for (const enrolment of [...after.enrolments].sort((a, b) => isNew(a) - isNew(b))) {
    const earlier = known.get(enrolment.id)
    if (earlier === enrolment) continue
    const { benefit, state } = enrolment
    if (!enrolmentMayMove(earlier?.state ?? 'new', state) || isEndedFromNothing(enrolment, earlier)) {
      throw new Error(`enrolment moved ${earlier?.state ?? 'new'} to ${state}`)
    }
    note({ what: 'benefit', benefit, from: earlier?.state, to: state }, whyOf(enrolment, why))
    if (earlier?.state === 'endscheduled' && state === 'endscheduled')
      note(
        { what: 'planned end', benefit, from: earlier.endsAt, to: enrolment.endsAt },
        whyOf(enrolment, why),
      )
    const right = state === 'void' ? after.enrolments.find(one => one.corrects === enrolment.id) : undefined
    // The row that replaces a wrong one has its people.
    const people = right ? [] : coverMoves(earlier ?? known.get(enrolment.corrects ?? ''), enrolment)
    for (const { why: reason = why, ...move } of people) note(move, reason)
    if (earlier && state === 'void') {
      note({ what: 'start', benefit, from: startOf(earlier), to: right && startOf(right) })
      note({ what: 'end', benefit, from: ownEndOf(earlier), to: right && ownEndOf(right) })
    }
  }
  return lines
}

function listVersion({ dependantsVersion }: User): string | undefined {
  return dependantsVersion?.toString()
}

type CoverMove = Move & { readonly why?: WhyOfLine | undefined }

/** Who came, who went, and what is pending of it. Nobody goes with the enrolment itself, whose own line says that it ended. */
function coverMoves(earlier: Enrolment | undefined, enrolment: Enrolment): readonly CoverMove[] {
  const { benefit, covered, pendingCover } = enrolment
  if (!covered && !pendingCover && !earlier?.covered && !earlier?.pendingCover) return []
  const ids = (one: Enrolment | undefined) =>
    one ? coveredNow(one).map(({ dependantId }) => dependantId) : []
  const [before, after] = [ids(earlier), ids(enrolment)]
  const to = isInForce(enrolment) || enrolment.state === 'ended' ? 'covered' : 'scheduled'
  return [
    ...before
      .filter(id => !after.includes(id))
      .map(dependant => {
        const row = covered?.findLast(({ dependantId }) => dependantId === dependant)
        return { what: 'dependant', benefit, dependant, from: 'covered', why: row?.end?.reason } as const
      }),
    ...after
      .filter(id => !before.includes(id))
      .map(dependant => ({ what: 'dependant', benefit, dependant, to }) as const),
    ...(earlier?.id === enrolment.id ? dayMoves(earlier, enrolment) : []),
    {
      what: 'pending cover',
      benefit,
      from: pendingText(earlier?.pendingCover),
      to: pendingText(pendingCover),
    },
  ]
}

/**
 * Days of a dependant that an operator or a corrected birth date moved; a change of cover has its own lines. Cover that was taken back
 * has no day left: here it is told of somebody whose cover was over; others are told as removed.
 */
function dayMoves(earlier: Enrolment, enrolment: Enrolment): readonly CoverMove[] {
  const { benefit, covered = [] } = enrolment
  return covered.flatMap((one, place): readonly CoverMove[] => {
    const was = earlier.covered?.[place]
    const isSame = was?.dependantId === one.dependantId && one.end?.reason !== 'coverchanged'
    if (!was || !isSame) return []
    const of = { benefit, dependant: one.dependantId }
    if (!hasLength(daysOf(enrolment, one)))
      return was.isOver && hasLength(daysOf(earlier, was))
        ? [{ what: 'dependant', ...of, from: 'covered', why: one.end?.reason }]
        : []
    const start = (row: Covered) => row.startsAt ?? earlier.startsAt
    return [
      { what: 'dependant start', ...of, from: start(was), to: start(one) },
      { what: 'dependant end', ...of, from: was.end?.at, to: one.end?.at },
    ]
  })
}

/** Who will be covered, as the timeline writes it: the member, and the ids of the others. */
export function pendingText(pending: Enrolment['pendingCover']): string | undefined {
  return pending && ['member', ...pending.people.map(({ dependantId }) => dependantId)].join(' ')
}

/** A swap as the timeline writes it: each pair as `removed>added`, of which one side may be missing. */
export function swapText(pairs: readonly SwapPair[] | undefined): string {
  return pairs?.map(pair => `${pair.remove ?? ''}>${pair.add ?? ''}`).join(' ') ?? ''
}

/** The reason for a due change of the user as a whole. */
function whyOfDue({ before, after }: AppliedChange, why: Why): WhyOfLine {
  if (after.status === 'cancelled') return after.cancel ? `cancel: ${after.cancel.reason}` : why
  if (after.status === 'none') return 'prefill expired'
  if (before.pendingOffer && !after.pendingOffer) return 'offer change'
  return before.offer && !before.offer.inForce ? 'start' : why
}

function whyOf(enrolment: Enrolment, why: Why): WhyOfLine {
  return (
    enrolment.closeReason ??
    (enrolment.state === 'endscheduled' && enrolment.endsAt === enrolment.ownEnd?.at
      ? (enrolment.ownEnd?.reason ?? why)
      : why)
  )
}

/** Only an operator's correction may create a row that is already over. */
function isEndedFromNothing({ state, corrects }: Enrolment, earlier: Enrolment | undefined): boolean {
  return state === 'ended' && earlier === undefined && corrects === undefined
}

/** The dates of a row that had or will have cover; a row that waits for something has none yet. */
function startOf({ state, startsAt }: Enrolment): Instant | undefined {
  return datedStates.has(state) ? startsAt : undefined
}
function ownEndOf({ state, endsAt, ownEnd }: Enrolment): Instant | undefined {
  return datedStates.has(state) ? (endsAt ?? ownEnd?.at) : undefined
}
const datedStates = new Set(['scheduled', 'enrolled', 'endscheduled', 'ended'])

function offerInForce(user: User): string | undefined {
  return user.offer?.inForce ? user.offer.name : undefined
}
function offerToStart(user: User): string | undefined {
  return user.offer && !user.offer.inForce && user.status === 'active' ? user.offer.name : undefined
}
function pendingCancel(user: User): Instant | undefined {
  return user.status === 'active' ? user.cancel?.at : undefined
}

/** The states to which a user may move from each state (contract §9); docs/states.md draws them. */
export const userTransitions: Readonly<Record<UserStatus, readonly UserStatus[]>> = {
  none: ['prefilled', 'registering', 'active'],
  prefilled: ['none', 'registering', 'active', 'erased'],
  registering: ['none', 'prefilled', 'active', 'erased'],
  active: ['cancelled', 'erased'],
  cancelled: ['active', 'erased'],
  erased: [],
}

/**
 * The states to which an enrolment may move from each state (contract §9); `new` means that the row does not exist yet.
 */
export const enrolmentTransitions: Readonly<Record<EnrolmentState | 'new', readonly EnrolmentState[]>> = {
  new: [
    'selected',
    'actionrequired',
    'scheduled',
    'enrolled',
    'endscheduled',
    'ended',
    'declined',
    'rejected',
  ],
  selected: ['actionrequired', 'scheduled', 'enrolled', 'withdrawn', 'declined', 'rejected', 'void'],
  actionrequired: ['scheduled', 'enrolled', 'endscheduled', 'withdrawn', 'declined', 'rejected', 'void'],
  scheduled: ['actionrequired', 'enrolled', 'endscheduled', 'withdrawn', 'declined', 'rejected', 'void'],
  enrolled: ['endscheduled', 'ended', 'void'],
  endscheduled: ['enrolled', 'ended', 'void'],
  ended: ['void'],
  withdrawn: ['void'],
  declined: ['void'],
  rejected: ['void'],
  void: [],
}

/** Whether a user may move from one state to the other; staying is always allowed. */
export function userMayMove(from: UserStatus, to: UserStatus): boolean {
  return from === to || userTransitions[from].includes(to)
}

/** Whether an enrolment may move from one state to the other; staying is always allowed. */
export function enrolmentMayMove(from: EnrolmentState | 'new', to: EnrolmentState): boolean {
  return from === to || enrolmentTransitions[from].includes(to)
}

/** A time for which a user has an offer, and the catalogue version under which it began. */
export type OfferPeriod = {
  readonly name: string
  readonly version: number
  readonly startsAt: Instant
  /** Its end, which may lie ahead; one at its start: it never came into force. */
  readonly endsAt: Instant | undefined
}

/**
 * The periods that a change begins, ends or dates anew. A user knows only the newest offer, but a month is charged for each
 * one that was in force.
 */
export function offerPeriodsOf({ before, after, at }: AppliedChange): OfferPeriod[] {
  const was = presentPeriod(before)
  const is = presentPeriod(after)
  const isSame = was?.name === is?.name && was?.startsAt === is?.startsAt
  const changed: OfferPeriod[] = []
  if (was && !isSame && was.endsAt !== at) changed.push({ ...was, endsAt: Math.max(at, was.startsAt) })
  if (is && !(isSame && was?.version === is.version && was.endsAt === is.endsAt)) changed.push(is)
  return changed
}

function presentPeriod({ status, offer, cancel, pendingOffer }: User): OfferPeriod | undefined {
  if (status !== 'active' || !offer) return undefined
  const ends = [cancel?.at, pendingOffer?.at].filter(at => at !== undefined)
  const endsAt = ends.length === 0 ? undefined : Math.max(offer.since, Math.min(...ends))
  return { name: offer.name, version: offer.version, startsAt: offer.since, endsAt }
}

/**
 * Whether a change made something else of what was in force before it: a correction, or a membership that began earlier. Such a
 * change may concern months whose statements are final.
 */
export function changesThePast(applied: AppliedChange): boolean {
  const { before, after, at } = applied
  if (
    offerPeriodsOf(applied).some(
      period => isNew(before, period.startsAt) && period.startsAt < at && hasLength(period),
    )
  )
    return true
  const known = new Map(before.enrolments.map(enrolment => [enrolment.id, enrolment]))
  return after.enrolments.some(enrolment => {
    const earlier = known.get(enrolment.id)
    return earlier !== enrolment && coverUntil(enrolment, at) !== (earlier ? coverUntil(earlier, at) : '')
  })
}

function isNew({ offer }: User, startsAt: Instant): boolean {
  return offer?.since !== startsAt
}

/** The part of its cover that lies before an instant, as a text to compare; `""`: none. */
function coverUntil(enrolment: Enrolment, at: Instant): string {
  const { startsAt, endsAt, version, covered } = enrolment
  if (!hasCover(enrolment) || startsAt >= at) return ''
  const others = (covered ?? []).flatMap(one => {
    const days = daysOf(enrolment, one)
    return days.startsAt < at && hasLength(days)
      ? [`${one.dependantId} ${one.relationship} ${days.startsAt} ${Math.min(days.endsAt ?? at, at)}`]
      : []
  })
  return [`${startsAt} ${Math.min(endsAt ?? at, at)} ${version}`, ...others].join()
}
