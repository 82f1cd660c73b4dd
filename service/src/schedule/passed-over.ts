import { type Instant, MINUTE_MS } from '../calendar/calendar.ts'
import { nameOf } from '../membership/reading/load.ts'
import type { DueUser } from './due.ts'

/** Users whose due change failed. They are passed over for a while, so that they delay no other user. */
type PassedOver = {
  /** Passes a user over, for longer each time that its change fails again. */
  failed(user: DueUser, now: Instant): void
  /** Passes a user over whose row could not be written now; that says nothing about its change. */
  couldNotWrite(user: DueUser, now: Instant): void
  applied(user: DueUser): void
  /**
   * Those who are passed over now. Forgets those who were not found due again since: somebody else applied their
   * change, or erased them, and an erased userid must not stay in memory.
   */
  at(now: Instant): DueUser[]
  count(): number
}

const waitsMs = [MINUTE_MS / 2, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS]
const SHORTEST_WAIT_MS = MINUTE_MS / 2
/** How long after its wait a user is remembered; rounds find a due user much sooner. */
const REMEMBERED_MS = 10 * MINUTE_MS

/** Opens the memory of the users whose due change failed. */
export function openPassedOver(): PassedOver {
  const failing = new Map<string, Failing>()
  const pass = (user: DueUser, attempts: number, until: Instant) => {
    failing.set(nameOf(user), { user, attempts, until })
  }
  return {
    failed(user, now) {
      const attempts = (failing.get(nameOf(user))?.attempts ?? 0) + 1
      pass(user, attempts, now + (waitsMs[Math.min(attempts, waitsMs.length) - 1] ?? 0))
    },
    couldNotWrite: (user, now) =>
      pass(user, failing.get(nameOf(user))?.attempts ?? 0, now + SHORTEST_WAIT_MS),
    applied(user) {
      failing.delete(nameOf(user))
    },
    at(now) {
      for (const [name, { until }] of failing) if (until + REMEMBERED_MS <= now) failing.delete(name)
      return [...failing.values()].filter(entry => entry.until > now).map(entry => entry.user)
    },
    count: () => failing.size,
  }
}

type Failing = { readonly user: DueUser; readonly attempts: number; readonly until: Instant }
