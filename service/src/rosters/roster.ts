/**
 * Rosters: who is covered by a benefit on a day, and who joined or left since an earlier day. Insurers get them as files
 * from a command.
 */
import { addDays, dateAt, type PlainDate, startOfDate } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { openDataKey, openJson } from '../membership/records/documents.ts'
import type { Person } from '../membership/rules/person.ts'
import type { Partner } from '../partners/partner.ts'
import { type CoverageRow, FIRST_SERVICE_ID, findCoverage, type Span } from './store.ts'

/** One person covered by a benefit, and what changed since an earlier day. */
export type RosterEntry = {
  readonly partnerId: string
  readonly userid: string
  readonly serviceId: string
  readonly person: Person
  readonly offer: string
  /** The first and the last day of coverage, in the partner's time zone; no last day while no end is set. */
  readonly startsOn: PlainDate
  readonly endsOn: PlainDate | undefined
  /** Compared with the earlier day: covered only now, only then, or on both days. */
  readonly change: 'added' | 'ended' | 'kept'
}

/** Which roster: a benefit on a day, compared with an earlier day. */
type RosterQuery = {
  readonly benefit: string
  readonly on: PlainDate
  /** The earlier day; without it everybody is `kept`. */
  readonly since?: PlainDate | undefined
}

/** How many periods of coverage one statement reads. */
const PAGE = 1000

/**
 * Reads which of a partner's users are covered by a benefit at any time of a day, page by page in order of their
 * service ids.
 */
export async function* readRoster(
  db: Executor,
  partner: Partner,
  query: RosterQuery,
): AsyncGenerator<RosterEntry[]> {
  const on = dayIn(query.on, partner.timezone)
  const since = dayIn(query.since ?? query.on, partner.timezone)
  let after = FIRST_SERVICE_ID
  for (;;) {
    const rows = await findCoverage(db, {
      partnerId: partner.partnerId,
      benefit: query.benefit,
      spans: [on, since],
      after,
      limit: PAGE,
    })
    const isLast = rows.length < PAGE || rows[0]?.service_id === rows.at(-1)?.service_id
    // A page may end between two periods of one person: that person is left for the next page.
    const last = rows.at(-1)?.service_id
    const whole = isLast ? rows : rows.filter(row => row.service_id !== last)
    yield entriesOf(whole, { partner, on, since })
    if (isLast) return
    after = whole.at(-1)?.service_id ?? after
  }
}

type Days = { readonly partner: Partner; readonly on: Span; readonly since: Span }

function entriesOf(rows: readonly CoverageRow[], days: Days): RosterEntry[] {
  const byUser = new Map<string, CoverageRow[]>()
  for (const row of rows) byUser.set(row.service_id, [...(byUser.get(row.service_id) ?? []), row])
  return [...byUser.values()].flatMap(windows => {
    const now = windows.findLast(window => touches(window, days.on))
    const before = windows.findLast(window => touches(window, days.since))
    const shown = now ?? before
    if (!shown) return []
    return [entryOf(shown, days.partner, now ? (before ? 'kept' : 'added') : 'ended')]
  })
}

function entryOf(row: CoverageRow, partner: Partner, change: RosterEntry['change']): RosterEntry {
  return {
    partnerId: partner.partnerId,
    userid: row.userid,
    serviceId: row.service_id,
    person: personIn(row, partner),
    offer: row.offer,
    startsOn: dateAt(row.starts_at, partner.timezone),
    // `ends_at` is the first instant without coverage, so the last day is the day of the instant before it.
    endsOn: row.ends_at === null ? undefined : dateAt(row.ends_at - 1, partner.timezone),
    change,
  }
}

function personIn(row: CoverageRow, partner: Partner): Person {
  if (!row.wrapped_key || !row.profile) return {}
  const key = openDataKey(partner, row.service_id, row.wrapped_key)
  const user = { partnerId: partner.partnerId, serviceId: row.service_id }
  return openJson(key, row.profile, 'documents.profile', user) as Person
}

function touches(window: CoverageRow, day: Span): boolean {
  return window.starts_at < day.until && (window.ends_at === null || window.ends_at > day.from)
}

function dayIn(date: PlainDate, zone: string): Span {
  return { from: startOfDate(date, zone), until: startOfDate(addDays(date, 1), zone) }
}
