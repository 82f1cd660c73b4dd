// All date arithmetic of the service (contract §7 to §9), as pure functions: the clock and the partner's time zone are
// arguments. docs/calendar.md shows the rules by example.
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, type PlainDate, type Zone } from './time.ts'
import { isZone, offsetAt } from './zone.ts'

export { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, type PlainDate, YEAR_MS, type Zone } from './time.ts'
export { isZone } from './zone.ts'

/** Whether `text` has the form `YYYY-MM-DD` and names a date that exists, in the years 0000 to 9999. */
export function isRealDate(text: string): text is PlainDate {
  return readDay(text) !== undefined
}

/**
 * The date in `zone` at `instant`. Dates never go back: when clocks are set back across midnight, the result stays
 * at the later date. Throws RangeError for an unknown zone.
 */
export function dateAt(instant: Instant, zone: Zone): PlainDate {
  return writeDay(dayAt(instant, zone))
}

/**
 * The first instant of `date` in `zone`. Where clocks skip midnight, the date begins at the end of the gap; where
 * midnight comes twice, at the first of the two; where the zone skipped the whole date, at the start of the next
 * date. Throws RangeError for an unknown zone or a date that does not exist.
 */
export function startOfDate(date: PlainDate, zone: Zone): Instant {
  return startOfDay(dayOf(date), zone)
}

/**
 * The boundary that follows `instant`: the first instant of the next calendar month in `zone`, always later than
 * `instant`. A period ends, the next one starts, and swaps take effect at this one instant.
 */
export function boundaryAfter(instant: Instant, zone: Zone): Instant {
  return startOfDay(firstOfNextMonth(dayAt(instant, zone)), zone)
}

/**
 * The instant from which changes for `boundary` are locked. The hours have 60 minutes each, also in a night in
 * which clocks change.
 */
export function lockedFrom(boundary: Instant, cutoffHours: number): Instant {
  return boundary - cutoffHours * HOUR_MS
}

/** Whether a change for `boundary` comes too late at `now`: true from the cut-off itself on. */
export function isLocked(now: Instant, boundary: Instant, cutoffHours: number): boolean {
  return now >= lockedFrom(boundary, cutoffHours)
}

/** The date `days` calendar days after `date`, before it when negative. Throws RangeError outside the years 0000 to 9999. */
export function addDays(date: PlainDate, days: number): PlainDate {
  return writeDay(dayOf(date) + days)
}

/**
 * The age in whole years on `date` of a person born on `dob`; negative before the birth. In a year without February
 * 29, a person born on that day turns a year older on March 1, because only then has a full year passed.
 */
export function ageOn(dob: PlainDate, date: PlainDate): number {
  const birth = dayOf(dob)
  const day = dayOf(date)
  const year = yearOf(day)
  return year - yearOf(birth) - (day < sameDayIn(year, birth) ? 1 : 0)
}

/** The first date on which a person born on `dob` has reached `age`, by the rule of `ageOn`. */
export function dateOfAge(dob: PlainDate, age: number): PlainDate {
  const birth = dayOf(dob)
  return writeDay(sameDayIn(yearOf(birth) + age, birth))
}

/** When a change takes effect, or why its date is refused. */
type Effective = { ok: true; at: Instant } | { ok: false; reason: 'notadate' | 'past' | 'toofarahead' }

/**
 * When a change that is requested at `now` takes effect. Without a date, and for today's date in `zone`, that is
 * `now`, because coverage cannot begin before it is requested; for a later date it is the first instant of that
 * date. Refused: text that is not a date, dates before today, and dates more than 90 days after today.
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
 * The instant from which a cancellation that took effect at `cancelledAt` can no longer be undone: 30 calendar days
 * of `zone` later, as long after the start of that day as `cancelledAt` is after the start of its own. Calendar
 * days are counted, not 720 hours, so that the deadline of a cancellation at midnight is a midnight too, even when
 * clocks change in between.
 */
export function reinstatableUntil(cancelledAt: Instant, zone: Zone): Instant {
  const day = dayAt(cancelledAt, zone)
  const last = day + DAYS_TO_REINSTATE
  const intoDay = cancelledAt - startOfDay(day, zone)
  // The day of the cancellation may have had 25 hours: then its last hour counts as the end of the last day.
  return Math.min(startOfDay(last, zone) + intoDay, startOfDay(last + 1, zone))
}

/**
 * When a prefill entry last written at `writtenAt` expires: 90 × 24 hours later, because how long data is stored
 * does not depend on a time zone.
 */
export function prefillExpiresAt(writtenAt: Instant): Instant {
  return writtenAt + PREFILL_DAYS * DAY_MS
}

/** The instant in the API's form, `YYYY-MM-DDTHH:mm:ss.sssZ`. Throws RangeError outside the years 0000 to 9999. */
export function formatTimestamp(instant: Instant): string {
  // All changes of a batch happen at the same instant, so its text is kept for the next call.
  if (instant === lastInstant) return lastTimestamp
  const text = new Date(instant).toISOString()
  if (text.length !== 24) throw new RangeError('A timestamp outside the years 0000 to 9999')
  lastInstant = instant
  lastTimestamp = text
  return text
}

let lastInstant: Instant = Number.NaN
let lastTimestamp = ''

/** The same of an instant that may be missing: then null. */
export function timestampOrNull(instant: Instant | null | undefined): string | null {
  return instant === null || instant === undefined ? null : formatTimestamp(instant)
}

/** The instant as a clock in `zone` shows it, with the offset from UTC: `2026-11-21 10:04:05.000 -05:00`. */
export function localTimestamp(instant: Instant, zone: Zone): string {
  const minutes = offsetAt(instant, zone) / MINUTE_MS
  const local = new Date(instant + minutes * MINUTE_MS).toISOString().slice(0, 23).replace('T', ' ')
  const two = (count: number) => String(count).padStart(2, '0')
  const offset = Math.abs(minutes)
  return `${local} ${minutes < 0 ? '-' : '+'}${two(Math.floor(offset / 60))}:${two(offset % 60)}`
}

/**
 * The instant of a timestamp in the API's form; `undefined` for any other form, for times that do not exist, and for the
 * year 0000, which PostgreSQL does not take.
 */
export function parseTimestamp(text: string): Instant | undefined {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text)) return undefined
  const instant = Date.parse(text)
  // `Date.parse` reads 24:00 and February 30 as a neighboring time, which would be written back as a different
  // text.
  return Number.isFinite(instant) && formatTimestamp(instant) === text ? instant : undefined
}

/**
 * True for an instant in any form of RFC 3339, as clients that were generated from the description write it, which `Date.parse` then
 * reads; false for times that `parseTimestamp` would not take in its own form.
 */
export function isDateTime(text: string): boolean {
  const [, local] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text) ?? []
  const isReal = parseTimestamp(`${local}.000Z`) !== undefined
  // An offset can lead out of the years that are taken.
  return isReal && parseTimestamp(new Date(text).toISOString()) !== undefined
}

const DAYS_AHEAD = 90
const DAYS_TO_REINSTATE = 30
const PREFILL_DAYS = 90

/** A calendar day as a whole number: days since 1970-01-01, so that days are compared, counted and cached as numbers. */
export type Day = number

/** The day that `text` names; `undefined` when it is not `YYYY-MM-DD` or no such day exists. */
export function readDay(text: string): Day | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const start = Date.parse(`${text}T00:00:00Z`)
  // `Date.parse` reads February 30 as March 1 or 2, and gives NaN for a 13th month.
  return new Date(start).getUTCDate() === Number(text.slice(8)) ? start / DAY_MS : undefined
}

/**
 * The day of a date that is known to exist. Throws RangeError otherwise, without repeating the text, because it may
 * be a birth date.
 */
export function dayOf(date: PlainDate): Day {
  const day = readDay(date)
  if (day === undefined) throw new RangeError('Not a calendar date of the form YYYY-MM-DD')
  return day
}

/** The day as `YYYY-MM-DD`; throws RangeError outside the years 0000 to 9999. */
export function writeDay(day: Day): PlainDate {
  // Each request with a birth date asks for today, so the text of the last day is kept.
  if (day === lastDay) return lastDate
  const text = new Date(day * DAY_MS).toISOString()
  // `toISOString` writes other years with a sign and six digits.
  if (text.length !== 24) throw new RangeError('A date outside the years 0000 to 9999')
  lastDate = text.slice(0, 10) as PlainDate
  lastDay = day
  return lastDate
}

let lastDay: Day = 0
let lastDate: PlainDate = '1970-01-01'

/** The first day of the calendar month after the one that holds `day`. */
export function firstOfNextMonth(day: Day): Day {
  const date = new Date(day * DAY_MS)
  return startOfMonth(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** The day in `year` with the month and day of `day`; March 1 in place of February 29 in a year without that day. */
export function sameDayIn(year: number, day: Day): Day {
  const date = new Date(day * DAY_MS)
  return startOfMonth(year, date.getUTCMonth()) + date.getUTCDate() - 1
}

/** The calendar year holding `day`. */
export function yearOf(day: Day): number {
  return new Date(day * DAY_MS).getUTCFullYear()
}

function startOfMonth(year: number, month: number): Day {
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  return new Date(0).setUTCFullYear(year, month, 1) / DAY_MS
}

/**
 * The first instant at which the clocks of `zone` show `day` or a later day.
 * Throws RangeError when the zone is unknown.
 */
export function startOfDay(day: Day, zone: Zone): Instant {
  const starts = startsOf(zone)
  const known = starts.get(day)
  if (known !== undefined) return known
  if (starts.size >= DAYS_KEPT) starts.clear()
  const start = findStart(day, zone)
  starts.set(day, start)
  return start
}

/** The last day that has begun in `zone` by `instant`. Throws RangeError when the zone is unknown. */
export function dayAt(instant: Instant, zone: Zone): Day {
  // Offsets from UTC lie between -12 and +14 hours, so the day is the one in UTC or a neighbor of it.
  const day = Math.floor(instant / DAY_MS)
  if (startOfDay(day + 1, zone) <= instant) return day + 1
  return startOfDay(day, zone) <= instant ? day : day - 1
}

// The cached starts are a pure function of zone and day, so clearing the cache costs time and never changes an
// answer.
const DAYS_KEPT = 1_000
const startsByZone = new Map<Zone, Map<Day, Instant>>()

function startsOf(zone: Zone): Map<Day, Instant> {
  const known = startsByZone.get(zone)
  if (known) return known
  if (!isZone(zone)) throw new RangeError(`Unknown time zone: ${zone}`)
  const starts = new Map<Day, Instant>()
  startsByZone.set(zone, starts)
  return starts
}

/** Correct as long as no zone changes its offset twice within two days; none has done so since 1970. */
function findStart(day: Day, zone: Zone): Instant {
  const midnight = day * DAY_MS
  const before = offsetAt(midnight - DAY_MS, zone)
  const usual = midnight - before
  const after = offsetAt(usual, zone)
  if (after === before) return usual
  const moved = midnight - after
  if (after < before) return moved
  // The clocks went forward shortly before: midnight came after the change, or the change skipped midnight.
  return offsetAt(moved, zone) === after ? moved : changeBetween(moved, usual, zone)
}

/** The first instant in (`earlier`, `later`] whose offset is that of `later`. */
function changeBetween(earlier: Instant, later: Instant, zone: Zone): Instant {
  const after = offsetAt(later, zone)
  let low = earlier
  let high = later
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle, zone) === after) high = middle
    else low = middle
  }
  return high
}
