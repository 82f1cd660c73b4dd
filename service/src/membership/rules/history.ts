import type { Instant } from '../../calendar/calendar.ts'
import type { AppliedChange } from './apply-due.ts'
import type { Enrolment, User } from './state.ts'
import { enrolmentMayMove, userMayMove } from './transitions.ts'

/** Who made a change. */
export type Who = 'partner' | 'user' | 'operator' | 'schedule'

/** One line of a user's history: what changed, from which state to which, when, by whom and why. No personal data. */
export type HistoryLine = {
  readonly at: Instant
  readonly what: string
  readonly from: string
  readonly to: string
  readonly who: Who
  readonly why: string
  /** The reference of the change in which the line was made, if its caller gave one. */
  readonly reference?: string | undefined
}

/**
 * The history lines for the difference that a change made. Throws when a state moved in a way that its table does not
 * allow: that is a fault of the service and must not be stored.
 */
export function linesOf(applied: AppliedChange, who: Who, why: string): HistoryLine[] {
  const lines: HistoryLine[] = []
  const note = (what: string, from: string, to: string, because = why) => {
    if (from !== to) lines.push({ at: applied.at, what, from, to, who, why: because })
  }
  const { before, after } = applied
  if (!userMayMove(before.status, after.status))
    throw new Error(`user moved ${before.status} to ${after.status}`)
  const wider = who === 'schedule' ? whyOfDue(applied, why) : why
  note('user', before.status, after.status, wider)
  if (after.prefillCount > before.prefillCount) note('prefill', '', 'stored')
  else if (after.entryExpiresAt === undefined && before.entryExpiresAt !== undefined)
    note('prefill', 'stored', '', who === 'schedule' ? 'prefill expired' : why)
  note('offer', offerInForce(before), offerInForce(after), wider)
  note('offer to start', offerToStart(before), offerToStart(after))
  note('pending offer', before.pendingOffer?.name ?? '', after.pendingOffer?.name ?? '')
  note('swap', swapText(before), swapText(after))
  note('pending cancel', pendingCancel(before), pendingCancel(after), after.cancel?.reason ?? why)
  for (const designation of after.designations) {
    const { benefit, version, status } = designation
    const earlier = before.designations.find(known => known.benefit === benefit && known.version === version)
    note(`beneficiaries ${benefit} ${version}`, earlier?.status ?? '', status)
  }
  for (const consent of after.consents) {
    // Only consents that an operator put on record have a line of their own; the others came with a change that already
    // has one.
    if (consent.channel !== undefined && !before.consents.includes(consent))
      note(`consent ${consent.name}`, '', `${consent.version} by ${consent.channel}`)
  }
  if (after.enrolments.length === 0) return lines
  const known = new Map(before.enrolments.map(enrolment => [enrolment.id, enrolment]))
  // New rows come last, so that a row that takes the place of another one of its benefit follows the end of that one.
  const isNew = ({ id }: Enrolment) => Number(!known.has(id))
  for (const enrolment of [...after.enrolments].sort((a, b) => isNew(a) - isNew(b))) {
    const earlier = known.get(enrolment.id)
    if (earlier === enrolment) continue
    if (
      !enrolmentMayMove(earlier?.state ?? 'new', enrolment.state) ||
      isEndedFromNothing(enrolment, earlier)
    ) {
      throw new Error(`enrolment moved ${earlier?.state ?? 'new'} to ${enrolment.state}`)
    }
    note(`benefit ${enrolment.benefit}`, earlier?.state ?? '', enrolment.state, whyOf(enrolment, why))
    if (earlier?.state === 'endscheduled' && enrolment.state === 'endscheduled')
      note(
        `planned end of ${enrolment.benefit}`,
        textOf(earlier.endsAt),
        textOf(enrolment.endsAt),
        whyOf(enrolment, why),
      )
    if (earlier && enrolment.state === 'void') {
      const right = after.enrolments.find(one => one.corrects === enrolment.id)
      note(`start of ${enrolment.benefit}`, startText(earlier), right ? startText(right) : '')
      note(`end of ${enrolment.benefit}`, ownEndText(earlier), right ? ownEndText(right) : '')
    }
  }
  return lines
}

/** The reason for a due change of the user as a whole. */
function whyOfDue({ before, after }: AppliedChange, why: string): string {
  if (after.status === 'cancelled') return `cancel: ${after.cancel?.reason ?? why}`
  if (after.status === 'none') return 'prefill expired'
  if (before.pendingOffer && !after.pendingOffer) return 'offer change'
  return before.offer && !before.offer.inForce ? 'start' : why
}

function whyOf(enrolment: Enrolment, why: string): string {
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
function startText({ state, startsAt }: Enrolment): string {
  return datedStates.has(state) ? textOf(startsAt) : ''
}
function ownEndText({ state, endsAt, ownEnd }: Enrolment): string {
  return datedStates.has(state) ? textOf(endsAt ?? ownEnd?.at) : ''
}
const datedStates = new Set(['scheduled', 'enrolled', 'endscheduled', 'ended'])

function textOf(instant: Instant | undefined): string {
  return instant === undefined ? '' : new Date(instant).toISOString()
}
function offerInForce(user: User): string {
  return user.offer?.inForce ? user.offer.name : ''
}
function offerToStart(user: User): string {
  return user.offer && !user.offer.inForce && user.status === 'active' ? user.offer.name : ''
}
function pendingCancel(user: User): string {
  return user.status === 'active' ? textOf(user.cancel?.at) : ''
}
function swapText(user: User): string {
  return user.swap?.pairs.map(pair => `${pair.remove ?? ''}>${pair.add ?? ''}`).join(' ') ?? ''
}
