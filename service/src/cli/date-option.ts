import { type Input, neededText, UsageError } from '@benefit-enrolment/command'
import type { PlainDate } from '../calendar/calendar.ts'
import { isAskedDay } from '../console/asked-day.ts'

/** The date of an option; `undefined` when it is not given. Throws UsageError as `readDate` does. */
export function dateIn(input: Input, option: string): PlainDate | undefined {
  const text = input.text(option)
  return text === undefined ? undefined : readDate(option, text)
}

/** The date of an option that must be given. Throws UsageError as `readDate` does. */
export function neededDate(input: Input, option: string): PlainDate {
  return readDate(option, neededText(input, option))
}

/** The date that an option gives. Throws UsageError unless it is one from 1900 to 2999. */
export function readDate(option: string, text: string): PlainDate {
  if (isAskedDay(text)) return text
  throw new UsageError(`--${option} must be a date like 2026-11-30, from 1900 to 2999; see --help.`)
}
