import type { Instant } from '../../calendar/calendar.ts'

/**
 * The lowest event id that can be made at this instant: ids are UUID v7, so they sort by the time at which they were
 * made.
 */
export function firstEventId(at: Instant): string {
  const time = Math.max(0, Math.trunc(at)).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** The time at which an event id was made. */
export function timeOfEventId(eventId: string): Instant {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16)
}
