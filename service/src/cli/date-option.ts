import { type Input, UsageError } from '@benefit-enrolment/command'
import type { PlainDate } from '../calendar/calendar.ts'
import { isAskedDay } from '../console/screen/screen.ts'

/** The date of an option; `undefined` when it is not given. Throws UsageError unless it is one from 1900 to 2999. */
export function dateIn(input: Input, option: string): PlainDate | undefined {
  const text = input.text(option)
  if (text === undefined || isAskedDay(text)) return text
  throw new UsageError(`--${option} must be a date like 2026-11-30, from 1900 to 2999; see --help.`)
}
