import { randomUUID } from 'node:crypto'

/**
 * A UUID v7 (RFC 9562 §5.7) made at `now`, real time in milliseconds. Each one of this process sorts after all it
 * made before, also within one millisecond and when the clock goes back. Throws RangeError outside 48 bits of time.
 */
export function uuidv7(now: number): string {
  const at = Math.trunc(now)
  if (!(at >= 0 && at <= MAX_TIME)) throw new RangeError('A time that a UUID cannot carry')
  if (at > lastTime) start(at)
  else if (counter < MAX_COUNTER) counter += 1
  else start(lastTime + 1)
  // A v4 ends with what a v7 ends with: the variant and 62 random bits.
  return `${timePart}${(COUNTER_BIT | counter).toString(16).slice(1)}${randomUUID().slice(18)}`
}

/** A random UUID v4. */
export function uuidv4(): string {
  return randomUUID()
}

const MAX_TIME = 2 ** 48 - 1
const MAX_COUNTER = 0xfff
/** Above the counter, so that its digits are always three. */
const COUNTER_BIT = 0x1000
let lastTime = -1
let counter = 0
/** All that comes before the counter: the same for all of one millisecond. */
let timePart = ''

function start(at: number): void {
  const time = at.toString(16).padStart(12, '0')
  lastTime = at
  timePart = `${time.slice(0, 8)}-${time.slice(8)}-7`
  counter = randomStart()
}

/** Random, so that neighbours cannot be guessed, and in the lower half, so that 2,048 more fit into the millisecond. */
function randomStart(): number {
  return Number.parseInt(randomUUID().slice(0, 3), 16) >> 1
}
