import type { Instant } from '../calendar/calendar.ts'
import type { Step } from './settle.ts'
import type { Enrolment, User } from './state.ts'
import { enrolmentMayMove, userMayMove } from './transitions.ts'

/** Who made a change. */
export type Who = 'partner' | 'user' | 'operator' | 'schedule'

/** One line of a user's history: what moved from where to where, when, by whom and why. No personal data. */
export type HistoryLine = {
  readonly at: Instant
  readonly what: string
  readonly from: string
  readonly to: string
  readonly who: Who
  readonly why: string
}

/**
 * The lines that tell the difference a step made. Throws when a state moved where its table does not allow it: a
 * fault of ours that must not be stored.
 */
export const linesOf = (step: Step, who: Who, why: string): HistoryLine[] => {
  const lines: HistoryLine[] = []
  const note = (what: string, from: string, to: string, because = why) => {
    if (from !== to) lines.push({ at: step.at, what, from, to, who, why: because })
  }
  const { before, after } = step
  if (!userMayMove(before.status, after.status))
    throw new Error(`user moved ${before.status} to ${after.status}`)
  const wider = who === 'schedule' ? whyOfDue(step, why) : why
  note('user', before.status, after.status, wider)
  if (after.prefillCount > before.prefillCount) note('prefill', '', 'stored')
  else if (after.entryExpiresAt === undefined && before.entryExpiresAt !== undefined)
    note('prefill', 'stored', '', who === 'schedule' ? 'prefill expired' : why)
  note('offer', offerInForce(before), offerInForce(after), wider)
  note('offer to start', offerToStart(before), offerToStart(after))
  note('pending offer', before.pendingOffer?.name ?? '', after.pendingOffer?.name ?? '')
  note('swap', swapText(before), swapText(after))
  note('pending cancel', pendingCancel(before), pendingCancel(after), after.cancel?.reason ?? why)
  for (const enrolment of after.enrolments) {
    const earlier = before.enrolments.find(known => known.id === enrolment.id)
    if (earlier === enrolment) continue
    if (!enrolmentMayMove(earlier?.state ?? 'new', enrolment.state)) {
      throw new Error(`enrolment moved ${earlier?.state ?? 'new'} to ${enrolment.state}`)
    }
    note(`benefit ${enrolment.benefit}`, earlier?.state ?? '', enrolment.state, whyOf(enrolment, why))
  }
  return lines
}

/** What brought a due change of the user as a whole. */
const whyOfDue = ({ before, after }: Step, why: string): string => {
  if (after.status === 'cancelled') return `cancel: ${after.cancel?.reason ?? why}`
  if (after.status === 'none') return 'prefill expired'
  if (before.pendingOffer && !after.pendingOffer) return 'offer change'
  return before.offer && !before.offer.inForce ? 'start' : why
}

const whyOf = (enrolment: Enrolment, why: string): string =>
  enrolment.closeReason ??
  (enrolment.state === 'endscheduled' && enrolment.endsAt === enrolment.ownEnd?.at
    ? (enrolment.ownEnd?.reason ?? why)
    : why)

const offerInForce = (user: User): string => (user.offer?.inForce ? user.offer.name : '')
const offerToStart = (user: User): string =>
  user.offer && !user.offer.inForce && user.status === 'active' ? user.offer.name : ''
const pendingCancel = (user: User): string =>
  user.status === 'active' && user.cancel ? new Date(user.cancel.at).toISOString() : ''
const swapText = (user: User): string =>
  user.swap?.pairs.map(pair => `${pair.remove ?? ''}>${pair.add ?? ''}`).join(' ') ?? ''
