import { dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
import { type Refusal, refuseField } from '../rules/refusal.ts'

/** Refuses a birth date after today in the partner's zone; `undefined`: it is accepted. */
export function refuseBirthDate(
  dob: string | null | undefined,
  context: { now: Instant; zone: Zone; field?: string },
): Refusal | undefined {
  if (!dob || dob <= dateAt(context.now, context.zone)) return undefined
  const rule = 'must be a real date YYYY-MM-DD from 1900-01-01 to today'
  return refuseField(context.field ?? 'dob', 'format', rule)
}
