import { dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
import { type Refusal, refuseField } from '../rules/refusal.ts'

/** Refuses a birth date after today in the partner's zone; `undefined`: it is accepted. */
export function refuseBirthDate(
  dob: string | null | undefined,
  context: { now: Instant; zone: Zone; field?: string },
): Refusal | undefined {
  if (!dob || dob <= dateAt(context.now, context.zone)) return undefined
  return refuseField(
    context.field ?? 'dob',
    'future',
    'must not be after today: it is a date of birth, YYYY-MM-DD',
  )
}
