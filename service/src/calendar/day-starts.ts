import type { Day } from './day.ts'
import { DAY_MS, type Instant, type Zone } from './time.ts'
import { isZone, offsetAt } from './zone.ts'

/**
 * The first instant at which the clocks of `zone` show `day` or a later day.
 * Throws RangeError when the zone is unknown.
 */
export function startOfDay(day: Day, zone: Zone): Instant {
  const starts = startsOf(zone)
  const known = starts.get(day)
  if (known !== undefined) return known
  if (starts.size >= DAYS_KEPT) starts.clear()
  const start = findStart(day, zone)
  starts.set(day, start)
  return start
}

/** The last day that has begun in `zone` by `instant`. Throws RangeError when the zone is unknown. */
export function dayAt(instant: Instant, zone: Zone): Day {
  // Offsets from UTC lie between -12 and +14 hours, so the day is the one in UTC or a neighbor of it.
  const day = Math.floor(instant / DAY_MS)
  if (startOfDay(day + 1, zone) <= instant) return day + 1
  return startOfDay(day, zone) <= instant ? day : day - 1
}

// The cached starts are a pure function of zone and day, so clearing the cache costs time and never changes an
// answer.
const DAYS_KEPT = 1_000
const startsByZone = new Map<Zone, Map<Day, Instant>>()

function startsOf(zone: Zone): Map<Day, Instant> {
  const known = startsByZone.get(zone)
  if (known) return known
  if (!isZone(zone)) throw new RangeError(`Unknown time zone: ${zone}`)
  const starts = new Map<Day, Instant>()
  startsByZone.set(zone, starts)
  return starts
}

/** Correct as long as no zone changes its offset twice within two days; none has done so since 1970. */
function findStart(day: Day, zone: Zone): Instant {
  const midnight = day * DAY_MS
  const before = offsetAt(midnight - DAY_MS, zone)
  const usual = midnight - before
  const after = offsetAt(usual, zone)
  if (after === before) return usual
  const moved = midnight - after
  if (after < before) return moved
  // The clocks went forward shortly before: midnight came after the change, or the change skipped midnight.
  return offsetAt(moved, zone) === after ? moved : changeBetween(moved, usual, zone)
}

/** The first instant in (`earlier`, `later`] whose offset is that of `later`. */
function changeBetween(earlier: Instant, later: Instant, zone: Zone): Instant {
  const after = offsetAt(later, zone)
  let low = earlier
  let high = later
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle, zone) === after) high = middle
    else low = middle
  }
  return high
}
