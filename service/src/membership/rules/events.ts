import type { EventName } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { User } from './state.ts'

/** A raised event: the state right after the change (contract §10). */
export type Raised = {
  readonly eventname: EventName
  readonly at: Instant
  readonly offer: string
  readonly updatedAt: Instant
  /** The benefit that the event is about, if it is about a single one. */
  readonly benefit: string | undefined
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
