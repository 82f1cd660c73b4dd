import { dateAt, type Instant, type PlainDate } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import type { Log } from '../../log.ts'
import type { Partner } from '../../partners/partner.ts'
import type { RowPosition } from '../position.ts'
import { openCounts } from './counts.ts'
import { type DueChange, type DueUser, nextDue } from './due-store.ts'
import type { SlowWork } from './slow-work.ts'

/** How many changes of each kind are due on each day. */
type DueDays = ReadonlyMap<PlainDate, ReadonlyMap<string, number>>

/** What has been counted until now. */
export type DueCount = {
  readonly users: number
  readonly days: DueDays
  /** `limit`: the count ended at `MOST_USERS_COUNTED`, and there are more users. */
  readonly state: 'counting' | 'whole' | 'limit'
}

/** The counts of this process, shared by all operators. */
export type DueCounts = {
  /** The count of a partner's users with changes due before an instant: begun if there is none of the last minute. */
  of(partner: Partner, until: Instant): DueCount
}

/** Beyond this many users the soonest are counted. */
export const MOST_USERS_COUNTED = 50_000
const USERS_A_SLICE = 100

type Counting = {
  -readonly [Name in keyof DueCount]: DueCount[Name]
} & { readonly days: Map<PlainDate, Map<string, number>> }

/** Counts slice by slice beside the requests. */
export function openDueCounts(
  database: Executor,
  { slow, log }: { slow: Pick<SlowWork, 'inTurn'>; log: Log },
): DueCounts {
  const counts = openCounts<DueCount>(log)
  const countInto = async (counting: Counting, partner: Partner, until: Instant) => {
    let after: RowPosition | undefined
    while (counting.state === 'counting') {
      const position = after
      const { users, last } = await slow.inTurn(() =>
        nextDue(database, { partnerId: partner.partnerId, until, after: position, limit: USERS_A_SLICE }),
      )
      addToDays(counting.days, users, partner)
      counting.users += users.length
      after = last
      if (last === undefined) counting.state = 'whole'
      else if (counting.users >= MOST_USERS_COUNTED) counting.state = 'limit'
    }
  }
  return {
    of: (partner, until) =>
      counts(`${partner.partnerId} ${until}`, () => {
        const count: Counting = { users: 0, days: new Map(), state: 'counting' }
        return { count, done: countInto(count, partner, until) }
      }),
  }
}

/** Counts the changes of these users by the partner's days and by kind. */
export function countDays(users: readonly DueUser[], partner: Partner): DueDays {
  const days = new Map<PlainDate, Map<string, number>>()
  addToDays(days, users, partner)
  return days
}

/** Whether it is told by the last day of what ends. */
export function isLastDay({ kind }: DueChange): boolean {
  return kind.endsWith('ends')
}

/** An instant within the day on which people find it: of an end the last day of cover. */
export function instantWithinDay(change: DueChange): Instant {
  return isLastDay(change) ? change.at - 1 : change.at
}

function addToDays(
  days: Map<PlainDate, Map<string, number>>,
  users: readonly DueUser[],
  { timezone }: Partner,
): void {
  let known: { readonly at: Instant; readonly day: PlainDate } | undefined
  for (const change of users.flatMap(user => user.changes)) {
    const at = instantWithinDay(change)
    const { kind } = change
    // Most changes fall due together, at the end of a month.
    if (known?.at !== at) known = { at, day: dateAt(at, timezone) }
    const kinds = days.get(known.day) ?? new Map<string, number>()
    days.set(known.day, kinds.set(kind, (kinds.get(kind) ?? 0) + 1))
  }
}
