import { type Instant, prefillExpiresAt } from '../calendar/calendar.ts'
import type { Change } from '../membership/command.ts'
import { raise } from '../membership/rules/events.ts'
import type { Person } from '../membership/rules/person.ts'
import type { User } from '../membership/rules/state.ts'

/**
 * The change of a prefill: it replaces the entry whole. For a registered user it is only a suggestion, and changes no
 * confirmed data.
 */
export function replaceEntry(user: User, person: Person, now: Instant): Change {
  const stored: User = {
    ...user,
    status: user.status === 'none' ? 'prefilled' : user.status,
    updatedAt: now,
    prefillCount: user.prefillCount + 1,
    prefillWrittenAt: now,
    entryExpiresAt: prefillExpiresAt(now),
  }
  return {
    user: stored,
    events: [raise(stored, 'enrollment_request_received', now)],
    documents: { prefill: person },
  }
}
