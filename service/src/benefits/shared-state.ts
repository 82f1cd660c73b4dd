import type { Instant } from '../calendar/calendar.ts'
import { type Enrolment, isInForce, isLive, type User } from '../membership/rules/state.ts'

/**
 * A name for the part of a user's state that decides which benefits are listed, and how: users of one partner with the
 * same name get the same list. `undefined` when the list depends on an instant that hardly two users share: while
 * something is pending, waits for the user, or has not begun. Past instants do not matter, so that members who joined
 * at different times share a list.
 */
export function sharedStateOf(user: User, now: Instant): string | undefined {
  const { status, offer, enrolments } = user
  // Without an account the list shows what anybody could take.
  if (status !== 'active') return enrolments.length === 0 ? '' : undefined
  const isSettled =
    offer?.inForce === true &&
    offer.since <= now &&
    user.pendingOffer === undefined &&
    user.swap === undefined &&
    user.cancel === undefined &&
    enrolments.every(isSettledEnrolment)
  if (!isSettled) return undefined
  // In their order, because of two rows of one benefit the last one counts.
  return JSON.stringify([offer.name, offer.version, offer.admits, ...enrolments.map(partsOf)])
}

function isSettledEnrolment(enrolment: Enrolment): boolean {
  return !isLive(enrolment) || (isInForce(enrolment) && enrolment.pendingBy === undefined)
}

function partsOf(enrolment: Enrolment): unknown[] {
  const { benefit, offer, isFixed, state, version } = enrolment
  const parts = [benefit, offer, isFixed, state, version]
  return isLive(enrolment) ? [...parts, enrolment.endsAt, enrolment.ownEnd?.at] : parts
}
