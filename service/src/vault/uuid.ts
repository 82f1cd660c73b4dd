import { randomUUID } from 'node:crypto'

/**
 * A UUID v7 (RFC 9562 §5.7) made at `now`, real time in milliseconds. Within a process each one sorts after all
 * earlier ones, even within one millisecond or after the clock was set back. Throws RangeError when the time does
 * not fit into 48 bits.
 */
export function uuidv7(now: number): string {
  const at = Math.trunc(now)
  if (!(at >= 0 && at <= MAX_TIME)) throw new RangeError('A time that a UUID cannot carry')
  if (at > lastTime) start(at)
  else if (counter < MAX_COUNTER) counter += 1
  else start(lastTime + 1)
  // The end of a v4 has the form of the end of a v7: the variant and 62 random bits.
  return `${timePart}${(COUNTER_BIT | counter).toString(16).slice(1)}${randomUUID().slice(18)}`
}

/** Lets the next UUID be the first, as in a new process: for tests, whose files share a process and set its clock back. */
export function forgetLastUuid(): void {
  lastTime = -1
}

/** The lowest UUID v7 that can be made at this instant, for reading what was made since: they sort by time. */
export function firstUuidAt(at: number): string {
  const time = Math.max(0, Math.trunc(at)).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** The UUID that identifies nothing: the `serviceid` of a test event, which has no user. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Whether a text has the form of a UUID, in capitals or not. */
export function isUuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
}

/** A random UUID v4. */
export function uuidv4(): string {
  return randomUUID()
}

const MAX_TIME = 2 ** 48 - 1
const MAX_COUNTER = 0xfff
/** The bit above the counter, set so that the counter is always written as three digits. */
const COUNTER_BIT = 0x1000
let lastTime = -1
let counter = 0
/** The digits before the counter, which all UUIDs of one millisecond share. */
let timePart = ''

function start(at: number): void {
  const time = at.toString(16).padStart(12, '0')
  lastTime = at
  timePart = `${time.slice(0, 8)}-${time.slice(8)}-7`
  counter = randomStart()
}

/**
 * Random, so that the next UUID cannot be guessed from the last, and in the lower half, so that at least 2,048 more
 * fit into the millisecond.
 */
function randomStart(): number {
  return Number.parseInt(randomUUID().slice(0, 3), 16) >> 1
}
