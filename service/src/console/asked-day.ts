import { isRealDate, type PlainDate } from '../calendar/calendar.ts'

/**
 * Whether a text is a day that an operator can ask for, from 1900 to 2999: days near the year 0000 or 9999 have no day
 * before or after them that PostgreSQL and the API could write.
 */
export function isAskedDay(text: string): text is PlainDate {
  return isRealDate(text) && text >= '1900' && text < '3000'
}
