import { addDays, dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
import { pendingPeople, withCover } from './cover.ts'
import { daysOf, enrolmentWorth } from './family.ts'
import type { CoverNow, WorthStep } from './insurer-lines.ts'
import { type CloseReason, type Covered, type Enrolment, hasCover, type User } from './state.ts'
import type { Terms } from './terms.ts'

/** The member, among the persons whom an enrolment covers; others are named by their dependantid. */
export const MEMBER = ''

/** One period of cover of a person as the user's enrolments give it. */
export type TrueCover = CoverNow & {
  /** The enrolment whose terms and offer hold at the end of the period. */
  readonly enrolment: Enrolment
  /** All enrolments of the period, earliest first. */
  readonly enrolments: readonly Enrolment[]
  readonly endsAt: Instant | undefined
  /** Why it ends; `''` while no end is set. */
  readonly reason: EndReason | ''
}

const closeReasons = {
  'offer changed': 'offerchanged',
  'swapped out': 'swapped',
  ineligible: 'ineligible',
  endsatage: 'endsatage',
  erased: 'erased',
  corrected: 'corrected',
} as const satisfies Partial<Record<CloseReason, string>>

/** The reasons of an end: what happened to the benefit, or the reason of the membership's cancel. */
export type EndReason = string

/**
 * The periods in which a person is or will be covered by a benefit, by day, earliest first: the member, or a dependant. Enrolments
 * that follow each other without a day between them are one period, because to an insurer they are one cover. What waits for the
 * member, was withdrawn, declined or voided covers nobody.
 */
export function coversOf(user: User, benefit: string, zone: Zone, person = MEMBER): TrueCover[] {
  const covers: TrueCover[] = []
  for (const period of coveringEnrolments(user)
    .filter(one => one.benefit === benefit)
    .flatMap(one => periodsOf(user, one, person))
    .sort(byStart)) {
    const { enrolment, startsAt, endsAt, reason, isMoved } = period
    const startsOn = dateAt(startsAt, zone)
    // `endsAt` is the first instant without cover, so the last day is that of the instant before it.
    const endsOn = endsAt === undefined ? undefined : dateAt(endsAt - 1, zone)
    const goneOn = endsAt === undefined ? undefined : dateAt(endsAt, zone)
    const before = covers.at(-1)
    if (before?.endsOn !== undefined && addDays(before.endsOn, 1) >= startsOn) {
      const enrolments = [...before.enrolments.filter(one => one !== enrolment), enrolment]
      covers[covers.length - 1] = {
        ...before,
        endsOn,
        goneOn,
        enrolment,
        enrolments,
        endsAt,
        reason,
        isMoved: before.isMoved || isMoved,
      }
    } else {
      const enrolments = [enrolment]
      covers.push({ startsOn, endsOn, goneOn, enrolment, enrolments, endsAt, reason, isMoved })
    }
  }
  return covers
}

/**
 * A user's enrolments that did, do or will cover somebody. What has not begun ends at its own end, which gives it a dated one only when
 * it begins.
 */
export function coveringEnrolments({ enrolments }: User): Enrolment[] {
  const dated = enrolments.map(one =>
    one.endsAt === undefined && one.ownEnd ? { ...one, endsAt: one.ownEnd.at } : one,
  )
  return dated.filter(hasCover)
}

/** The persons whom a user's enrolments in a benefit cover or covered, the member first; and those of whom was told before. */
export function personsOf(
  { enrolments }: User,
  benefit: string,
  told: readonly { readonly person: string }[] = [],
): string[] {
  const covered = enrolments.flatMap(one => (one.benefit === benefit ? (one.covered ?? []) : []))
  const known = told.map(({ person }) => person)
  return [...new Set([MEMBER, ...covered.map(({ dependantId }) => dependantId), ...known])]
}

/** A dependant as the newest enrolment that covered them has it; `undefined`: none did. */
export function coveredOf({ enrolments }: User, dependantId: string): Covered | undefined {
  return enrolments.flatMap(one => one.covered ?? []).findLast(one => one.dependantId === dependantId)
}

/** The user as if the pending changes of who is covered had been applied, each from its own day on. */
export function withPendingCovers(user: User, terms: Terms): User {
  if (!user.enrolments.some(({ pendingCover }) => pendingCover)) return user
  const enrolments = user.enrolments.map(one => {
    if (!one.pendingCover) return one
    const ids = pendingPeople(one).map(({ dependantId }) => dependantId)
    const at = Math.max(one.pendingCover.at, one.startsAt)
    // By then it has begun, also where a correction has moved its first day before that of the change.
    return { ...withCover({ ...one, state: 'enrolled' }, ids, at, terms), state: one.state }
  })
  return { ...user, enrolments }
}

/** What a period of the member's cover is worth, from its start and from each day on which another tier holds. */
export function worthSteps({ enrolments }: TrueCover, terms: Pick<Terms, 'version' | 'zone'>): WorthStep[] {
  const steps: WorthStep[] = []
  for (const enrolment of enrolments)
    for (const at of turnsOf(enrolment)) {
      const worth = enrolmentWorth(terms, enrolment, at)
      const [before, tier] = [steps.at(-1), worth?.tier ?? '']
      if (before?.tier === tier) steps[steps.length - 1] = { ...before, worth }
      else steps.push({ tier, startsOn: before && dateAt(at, terms.zone), worth })
    }
  return steps
}

/** What the cover of a dependant is part of at an instant, or on its last day: the tier is told of the member, and is no step here. */
export function worthBeside(
  { enrolments, enrolment: newest, endsAt }: TrueCover,
  terms: Pick<Terms, 'version'>,
  at: Instant,
): WorthStep {
  const then = Math.min(at, (endsAt ?? Number.POSITIVE_INFINITY) - 1)
  const enrolment = enrolments.find(one => then < (one.endsAt ?? Number.POSITIVE_INFINITY)) ?? newest
  const worth = enrolmentWorth(terms, enrolment, Math.max(then, enrolment.startsAt))
  return { tier: '', startsOn: undefined, worth }
}

/** The instants of an enrolment from which others are covered, or by other terms: its start, and each later one before its end. */
export function turnsOf(enrolment: Enrolment): Instant[] {
  const { startsAt, endsAt, covered = [], tiersFrom } = enrolment
  const all = [startsAt, tiersFrom?.at, ...covered.flatMap(one => Object.values(daysOf(enrolment, one)))]
  const within = all.filter(at => at !== undefined && at >= startsAt && (endsAt === undefined || at < endsAt))
  return [...new Set(within)].filter(at => at !== undefined).sort((a, b) => a - b)
}

type Period = {
  readonly enrolment: Enrolment
  readonly startsAt: Instant
  readonly endsAt: Instant | undefined
  readonly reason: EndReason | ''
  readonly isMoved: boolean
}

/** The time for which an enrolment covers a person; a dependant may come and go several times. */
function periodsOf(user: User, enrolment: Enrolment, person: string): Period[] {
  const { startsAt, endsAt, covered = [] } = enrolment
  const reason = endsAt === undefined ? '' : endReasonOf(user, enrolment, endsAt)
  const isMoved = enrolment.corrects !== undefined
  if (person === MEMBER) return [{ enrolment, startsAt, endsAt, reason, isMoved }]
  return covered
    .filter(({ dependantId }) => dependantId === person)
    .map(one => {
      const days = daysOf(enrolment, one)
      const isOwn = days.endsAt !== endsAt && one.end !== undefined
      const ownReason = isOwn ? one.end.reason : reason
      return { enrolment, ...days, reason: ownReason, isMoved: isMoved || one.end?.reason === 'corrected' }
    })
    .filter(days => days.startsAt !== days.endsAt)
}

function byStart(a: Period, b: Period): number {
  return a.startsAt - b.startsAt || (a.enrolment.id < b.enrolment.id ? -1 : 1)
}

function endReasonOf(user: User, enrolment: Enrolment, endsAt: Instant): EndReason {
  const { closeReason, ownEnd } = enrolment
  if (user.cancel?.at === endsAt && (closeReason === undefined || closeReason === 'cancelled'))
    return user.cancel.reason
  if (closeReason !== undefined)
    return closeReason in closeReasons ? closeReasons[closeReason as keyof typeof closeReasons] : closeReason
  if (ownEnd?.at === endsAt) return ownEnd.reason
  if (user.pendingOffer?.at === endsAt) return 'offerchanged'
  return user.swap?.at === endsAt ? 'swapped' : ''
}
