import { randomFillSync } from 'node:crypto'

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
  v7[15] = digit(counter >> 8)
  v7[16] = digit(counter >> 4)
  v7[17] = digit(counter)
  writeSecondHalf()
  return v7.toString('latin1')
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

/** The UUID that follows this one in their order. Throws for the last of all. */
export function uuidAfter(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  if (next.length > 32) throw new RangeError('no UUID follows the last one')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Whether a text has the form of a UUID, in capitals or not. */
export function isUuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
}

const MAX_TIME = 2 ** 48 - 1
const MAX_COUNTER = 0xfff
let lastTime = -1
let counter = 0

function start(at: number): void {
  const time = at.toString(16).padStart(12, '0')
  lastTime = at
  v7.write(`${time.slice(0, 8)}-${time.slice(8)}-7`)
  counter = randomStart()
}

/**
 * Random, so that the next UUID cannot be guessed from the last, and in the lower half, so that at least 2,048 more
 * fit into the millisecond.
 */
function randomStart(): number {
  return fillRandomly(random).readUInt16BE() >> 5
}

/**
 * The digits of the UUID that was made last; the next is written over them. A text put together from pieces would cost half as
 * much again, since whoever reads it first would have to join them.
 */
const v7 = Buffer.from(NIL_UUID)
/** The second half of the bytes of a UUID: the variant and 62 random bits. */
const random = Buffer.alloc(8)
/** Where the two digits of each of its bytes stand. */
const PLACES = [19, 21, 24, 26, 28, 30, 32, 34]
const DIGITS = Buffer.from('0123456789abcdef')

/** The lowest four bits of a number as a hexadecimal digit. */
function digit(bits: number): number {
  return DIGITS[bits & 0xf] as number
}

function writeSecondHalf(): void {
  fillRandomly(random)
  for (let at = 0; at < random.length; at += 1) {
    const index = PLACES[at] as number
    const byte = random[at] as number
    const bits = at === 0 ? 0x80 | (byte & 0x3f) : byte
    v7[index] = digit(bits >> 4)
    v7[index + 1] = digit(bits)
  }
}

/**
 * Random bytes from the system's generator. They are drawn in blocks, because one draw costs 5 µs however few bytes
 * it returns, which is most of the cost of a nonce. The bytes returned are copies, and are wiped from the block.
 */
export function randomBytes(count: number): Buffer {
  if (count > BLOCK_BYTES / 8) return randomFillSync(Buffer.allocUnsafeSlow(count))
  return drawn(Buffer.allocUnsafeSlow(count))
}

/**
 * Random bytes for a nonce. A nonce is no secret, so it may lie in the memory that small buffers share, which costs
 * the garbage collector less than memory of its own.
 */
export function randomNonce(count: number): Buffer {
  return drawn(Buffer.allocUnsafe(count))
}

/** Fills bytes that the caller has, and returns them: for ids, which are public. */
export function fillRandomly(bytes: Buffer): Buffer {
  return drawn(bytes)
}

function drawn(bytes: Buffer): Buffer {
  const count = bytes.length
  if (used + count > BLOCK_BYTES) {
    randomFillSync(block)
    used = 0
  }
  block.copy(bytes, 0, used, used + count)
  block.fill(0, used, used + count)
  used += count
  return bytes
}

const BLOCK_BYTES = 8192
const block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
let used = BLOCK_BYTES
