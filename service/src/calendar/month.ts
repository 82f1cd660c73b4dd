import { addDays, dateAt, dayAt, type Instant, type PlainDate, startOfDate, type Zone } from './calendar.ts'

/** A calendar month as statements name it: `YYYY-MM`. */
export type MonthName = string

/** One calendar month of a zone: from its first instant to the first one of the next month. */
export type Month = {
  readonly name: MonthName
  readonly zone: Zone
  readonly startsAt: Instant
  readonly endsAt: Instant
  /** Its first and its last day, numbered and written: most lines have both, and writing a day takes longer than a line. */
  readonly firstDay: number
  readonly lastDay: number
  readonly firstDate: PlainDate
  readonly lastDate: PlainDate
}

/** The month of this name. Throws RangeError for a name of none. */
export function monthNamed(name: MonthName, zone: Zone): Month {
  const [firstDate, nextDate] = [firstDay(name), firstDay(nextMonth(name))]
  const [startsAt, endsAt] = [startOfDate(firstDate, zone), startOfDate(nextDate, zone)]
  return {
    ...{ name, zone, startsAt, endsAt },
    firstDay: dayAt(startsAt, zone),
    lastDay: dayAt(endsAt - 1, zone),
    firstDate,
    lastDate: addDays(nextDate, -1),
  }
}

/** The name of the month that holds an instant. */
export function monthAt(instant: Instant, zone: Zone): MonthName {
  return dateAt(instant, zone).slice(0, 7)
}

/** The name of the month that follows. */
export function nextMonth(name: MonthName): MonthName {
  return addDays(firstDay(name), 31).slice(0, 7)
}

/** The name of the month before. */
export function monthBefore(name: MonthName): MonthName {
  return addDays(firstDay(name), -1).slice(0, 7)
}

/** From when the schedule makes a month's statement final: three days after its end. */
export function finalFrom({ name, zone }: Month): Instant {
  return startOfDate(addDays(firstDay(nextMonth(name)), DAYS_TO_FINAL), zone)
}

const DAYS_TO_FINAL = 3

function firstDay(name: MonthName): PlainDate {
  return `${name}-01` as PlainDate
}
