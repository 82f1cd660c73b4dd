import { DAY_MS, type PlainDate } from './time.ts'

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
