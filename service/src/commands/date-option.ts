import type { PlainDate } from '../calendar/calendar.ts'
import { isAskedDay } from '../console/asked-day.ts'
import { UsageError } from './command.ts'

/** The date that an option gives. Throws UsageError unless it is one from 1900 to 2999. */
export function readDate(option: string, text: string): PlainDate {
  if (isAskedDay(text)) return text
  throw new UsageError(`--${option} must be a date like 2026-11-30, from 1900 to 2999; see --help.`)
}
