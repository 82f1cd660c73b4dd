/**
 * All date arithmetic of the service (contract §7 to §9), as pure functions: the clock and the partner's
 * time zone are arguments. docs/calendar.md shows the rules by example.
 */
import { IANAZone } from 'luxon'
import { DAY_MS, dayOf, firstOfMonth, readDay, sameDayIn, writeDay, yearOf } from './day.ts'
import { dayAt, startOfDay } from './day-starts.ts'

/** A moment: milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** The name of an IANA time zone, such as `America/New_York`. */
export type Zone = string

/**
 * A calendar date without time or zone, `YYYY-MM-DD`. The form is part of the type, so that neither an instant nor
 * unchecked text passes for a date: literals are written as they are, text from outside goes through `isRealDate`.
 */
export type PlainDate = `${number}-${number}-${number}`

/** Whether `text` names an IANA time zone known here; offsets such as `+05:00` are none, as they know no daylight saving. */
export function isZone(text: string): boolean {
  return /^[A-Za-z]/.test(text) && IANAZone.isValidZone(text)
}

/** Whether `text` is a date `YYYY-MM-DD` that exists in the calendar, of the years 0000 to 9999. */
export function isRealDate(text: string): text is PlainDate {
  return readDay(text) !== undefined
}

/**
 * The date in `zone` at `instant`. Dates only go forward: where clocks go back across midnight, the new date stays.
 * Throws RangeError for an unknown zone.
 */
export function dateAt(instant: Instant, zone: Zone): PlainDate {
  return writeDay(dayAt(instant, zone))
}

/**
 * The first instant of `date` in `zone`: after the gap where midnight is skipped, the earlier one where it comes
 * twice, and the first instant of the following date where the zone skipped the whole date.
 * Throws RangeError for an unknown zone or a date that does not exist.
 */
export function startOfDate(date: PlainDate, zone: Zone): Instant {
  return startOfDay(dayOf(date), zone)
}

/** The first instant of the calendar month that holds `instant` in `zone`; never after `instant`. */
export function periodStart(instant: Instant, zone: Zone): Instant {
  return startOfDay(firstOfMonth(dayAt(instant, zone), 0), zone)
}

/**
 * The boundary that follows `instant`: the first instant of the next calendar month in `zone`, always later than
 * `instant`. Period end, start of the next period and swap boundary are this one instant.
 */
export function boundaryAfter(instant: Instant, zone: Zone): Instant {
  return startOfDay(firstOfMonth(dayAt(instant, zone), 1), zone)
}

/** The first instant at which changes meant for `boundary` are locked; the hours are real hours, whatever clocks do. */
export function lockedFrom(boundary: Instant, cutoffHours: number): Instant {
  return boundary - cutoffHours * HOUR_MS
}

/** Whether a change meant for `boundary` comes too late at `now`; it does at the cut-off itself and ever after. */
export function isLocked(now: Instant, boundary: Instant, cutoffHours: number): boolean {
  return now >= lockedFrom(boundary, cutoffHours)
}

/** The date `days` calendar days after `date`, before it when negative. Throws RangeError outside the years 0000 to 9999. */
export function addDays(date: PlainDate, days: number): PlainDate {
  return writeDay(dayOf(date) + days)
}

/** How many calendar days `to` lies after `from`; negative when it lies before. */
export function daysBetween(from: PlainDate, to: PlainDate): number {
  return dayOf(to) - dayOf(from)
}

/**
 * The age in whole years on `date` of someone born on `dob`; negative before the birth. Who was born on February 29
 * turns a year older on March 1 of a year without that day: only then has the full year passed, so nobody is taken
 * for older than they are.
 */
export function ageOn(dob: PlainDate, date: PlainDate): number {
  const birth = dayOf(dob)
  const day = dayOf(date)
  const year = yearOf(day)
  return year - yearOf(birth) - (day < sameDayIn(year, birth) ? 1 : 0)
}

/** The first date on which someone born on `dob` has reached `age`, by the rule of `ageOn`. */
export function dateOfAge(dob: PlainDate, age: number): PlainDate {
  const birth = dayOf(dob)
  return writeDay(sameDayIn(yearOf(birth) + age, birth))
}

/** When something that a partner dated takes effect, or why its date is refused. */
export type Effective = { ok: true; at: Instant } | { ok: false; reason: 'notadate' | 'past' | 'toofarahead' }

/**
 * When something asked for at `now` takes effect: without a date, and for today's date in `zone`, at `now`, since
 * cover cannot begin before it is asked for; for a later date at its first instant.
 * Refused: what is no date, a date before today, one more than 90 days after today.
 */
export function effectiveInstant(date: string | undefined, now: Instant, zone: Zone): Effective {
  if (date === undefined) return { ok: true, at: now }
  const day = readDay(date)
  if (day === undefined) return { ok: false, reason: 'notadate' }
  const ahead = day - dayAt(now, zone)
  if (ahead < 0) return { ok: false, reason: 'past' }
  if (ahead > DAYS_AHEAD) return { ok: false, reason: 'toofarahead' }
  return { ok: true, at: Math.max(now, startOfDay(day, zone)) }
}

/**
 * The instant from which a cancel that took effect at `cancelledAt` can no longer be undone: as far into the 30th
 * calendar day after as the cancel was into its own day. Counted in days of the zone, not in 720 hours, so that a
 * cancel at a period's end runs out at a midnight too, with or without a change of clocks in between.
 */
export function reinstatableUntil(cancelledAt: Instant, zone: Zone): Instant {
  const day = dayAt(cancelledAt, zone)
  const last = day + DAYS_TO_REINSTATE
  const intoDay = cancelledAt - startOfDay(day, zone)
  // A day of 25 hours must not run into the day after the last one.
  return Math.min(startOfDay(last, zone) + intoDay, startOfDay(last + 1, zone))
}

/** When a prefill entry last written at `writtenAt` is deleted: after 90 × 24 real hours, as storage knows no zone. */
export function prefillExpiresAt(writtenAt: Instant): Instant {
  return writtenAt + PREFILL_DAYS * DAY_MS
}

/** The instant as it stands on the wire, `YYYY-MM-DDTHH:mm:ss.sssZ`. Throws RangeError outside the years 0000 to 9999. */
export function formatTimestamp(instant: Instant): string {
  const text = new Date(instant).toISOString()
  if (text.length !== 24) throw new RangeError('A timestamp outside the years 0000 to 9999')
  return text
}

/** The instant that a wire timestamp names; `undefined` for any other form and for times that do not exist. */
export function parseTimestamp(text: string): Instant | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text)) return undefined
  const instant = Date.parse(text)
  // 24:00 and February 30 are read as a neighbouring time: only what comes back as it went in is a timestamp.
  return Number.isFinite(instant) && formatTimestamp(instant) === text ? instant : undefined
}

const HOUR_MS = 3_600_000
const DAYS_AHEAD = 90
const DAYS_TO_REINSTATE = 30
const PREFILL_DAYS = 90
