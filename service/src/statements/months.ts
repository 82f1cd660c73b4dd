import type { Instant } from '../calendar/calendar.ts'
import { type Month, monthAt, monthBefore, monthNamed, nextMonth } from '../calendar/month.ts'
import { loadClockOffsets } from '../membership/reading/load.ts'
import type { Partner } from '../partners/partner.ts'
import type { CountContext } from './count.ts'
import { firstCharged } from './held.ts'
import { loadStatements, type StatementRow } from './store.ts'

/** A partner's months at an instant of its business time. */
export type Months = {
  readonly now: Instant
  /** The final ones, oldest first. */
  readonly finals: readonly StatementRow[]
  /** The oldest month that is not final. */
  readonly oldestOpen: Month
  /** Those that are listed, newest first: from the running month to that of the first line, two years at most. */
  readonly listed: readonly Month[]
}

const MOST_LISTED = 24

/** Looks up which months a partner has, and which of them are final. */
export async function monthsOf(
  { database, clock, sandbox }: CountContext,
  partner: Partner,
): Promise<Months> {
  const { partnerId, timezone } = partner
  const offsets = sandbox ? await loadClockOffsets(database, [partner]) : undefined
  const now = clock.now({ clockOffsetMs: offsets?.get(partnerId) ?? partner.clockOffsetMs })
  const rows = await loadStatements(database, partnerId)
  const running = monthAt(now, timezone)
  const finals = rows.filter(row => row.finalized_at !== null)
  // A month that has begun to become final keeps the zone in which it began.
  const zones = new Map(rows.map(row => [row.month, row.timezone]))
  const named = (name: string) => monthNamed(name, zones.get(name) ?? timezone)
  const first = rows[0]?.month ?? (await firstMonth())
  const listed: Month[] = []
  for (let name = running; name >= first && listed.length < MOST_LISTED; name = monthBefore(name))
    listed.push(named(name))
  const last = finals.at(-1)
  return { now, finals, oldestOpen: last ? named(nextMonth(last.month)) : named(first), listed }

  async function firstMonth(): Promise<string> {
    const charged = (await firstCharged(database, partner)) ?? running
    return charged < running ? charged : running
  }
}
