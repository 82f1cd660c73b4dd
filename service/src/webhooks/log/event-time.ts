import type { Instant } from '../../calendar/calendar.ts'

/** The time at which an event id was made. */
export function timeOfEventId(eventId: string): Instant {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16)
}
