import { addDays, dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
import type { CoverNow } from './insurer-lines.ts'
import { type CloseReason, type Enrolment, hasCover, type User } from './state.ts'

/** One period of cover as the person's enrolments give it. */
export type TrueCover = CoverNow & {
  /** The enrolment whose terms and offer hold at the end of the period. */
  readonly enrolment: Enrolment
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
 * The periods in which a person is or will be covered by a benefit, by day, earliest first. Enrolments that follow each
 * other without a day between them are one period, because to an insurer they are one cover. What waits for the person,
 * was withdrawn, declined or voided covers nobody.
 */
export function coversOf(user: User, benefit: string, zone: Zone): TrueCover[] {
  const covers: TrueCover[] = []
  for (const enrolment of user.enrolments
    .filter(one => one.benefit === benefit && hasCover(one))
    .sort(byStart)) {
    const { startsAt, endsAt } = enrolment
    const startsOn = dateAt(startsAt, zone)
    // `endsAt` is the first instant without cover, so the last day is that of the instant before it.
    const endsOn = endsAt === undefined ? undefined : dateAt(endsAt - 1, zone)
    const goneOn = endsAt === undefined ? undefined : dateAt(endsAt, zone)
    const reason = endsAt === undefined ? '' : endReasonOf(user, enrolment, endsAt)
    const isMoved = enrolment.corrects !== undefined
    const before = covers.at(-1)
    if (before?.endsOn !== undefined && addDays(before.endsOn, 1) >= startsOn) {
      covers[covers.length - 1] = {
        ...before,
        endsOn,
        goneOn,
        enrolment,
        reason,
        isMoved: before.isMoved || isMoved,
      }
    } else covers.push({ startsOn, endsOn, goneOn, enrolment, reason, isMoved })
  }
  return covers
}

function byStart(a: Enrolment, b: Enrolment): number {
  return a.startsAt - b.startsAt || (a.id < b.id ? -1 : 1)
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
