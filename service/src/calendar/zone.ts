import type { Instant, Zone } from './time.ts'

/**
 * Whether `text` names an IANA time zone that this Node.js knows. False for offsets such as `+05:00`, which newer versions
 * of Node.js take for zones, because they carry no daylight-saving rules.
 */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false
  try {
    clockOf(text)
    return true
  } catch {
    return false
  }
}

/**
 * How far the clocks of `zone` are ahead of UTC at `instant`, in milliseconds. Throws RangeError when the zone is unknown.
 */
export function offsetAt(instant: Instant, zone: Zone): number {
  const shown = { era: '', year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 }
  for (const { type, value } of clockOf(zone).formatToParts(instant)) {
    if (type === 'era') shown.era = value
    else if (type in shown) shown[type as Exclude<keyof typeof shown, 'era'>] = Number(value)
  }
  const { year, month, day, hour, minute, second } = shown
  const wall = new Date(0)
  // Not by Date.UTC, which takes the years 0 to 99 for those of the 20th century. The year before 1 AD is year 0.
  wall.setUTCFullYear(shown.era === 'BC' ? 1 - year : year, month - 1, day)
  wall.setUTCHours(hour, minute, second)
  return wall.getTime() - Math.floor(instant / 1000) * 1000
}

// Creating a formatter takes far longer than using it.
const clocks = new Map<string, Intl.DateTimeFormat>()

/** The formatter that shows the local time of a zone. Throws RangeError when the zone is unknown. */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known) return known
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(zone, clock)
  return clock
}
