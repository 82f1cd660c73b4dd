import { addDays, dateAt, HOUR_MS, type Instant, MINUTE_MS, startOfDate } from '../calendar/calendar.ts'
import { offsetAt } from '../calendar/zone.ts'
import type { Every } from './feed.ts'
import { WEEKDAYS } from './schema.ts'

/** The first time after an instant at which a feed is due; a time that clocks skip or repeat comes once. */
export function nextDue(every: Every, after: Instant): Instant {
  const { at, timezone } = every
  const [hours = 0, minutes = 0] = at.split(':').map(Number)
  const today = dateAt(after, timezone)
  for (let ahead = 0; ; ahead += 1) {
    const date = addDays(today, ahead)
    const start = startOfDate(date, timezone)
    const counted = start + hours * HOUR_MS + minutes * MINUTE_MS
    const due = counted - (offsetAt(counted, timezone) - offsetAt(start, timezone))
    if (due > after && isDay(every, date)) return due
  }
}

function isDay({ days, dayofmonth }: Every, date: string): boolean {
  if (dayofmonth !== undefined) return Number(date.slice(8)) === dayofmonth
  const weekday = WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()]
  return weekday !== undefined && (days ?? []).includes(weekday)
}
