import { dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
import { badField } from '../../http/service-error.ts'

/** Refuses a birth date after today in the partner's zone. */
export function checkBirthDate(dob: string | null | undefined, now: Instant, zone: Zone): void {
  if (dob && dob > dateAt(now, zone)) {
    throw badField('dob', 'format', 'must be a real date YYYY-MM-DD from 1900-01-01 to today')
  }
}
