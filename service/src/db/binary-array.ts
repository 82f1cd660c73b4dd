import type { Instant } from '../calendar/calendar.ts'

// Arrays in PostgreSQL’s binary form; the driver sends a Buffer as binary. As text they cost a prefill 9 % more processor
// time, and the database alone 20 % (2026-11-28).

/** The values of an array; absent ones become null. */
export type Values<T> = readonly (T | null | undefined)[]

/** An array of UUIDs as a bound value. */
export function uuids(values: Values<string>): Buffer {
  return arrayOf(UUID_OID, values, () => 16, writeUuid)
}

/** The ids in a bound value; none in a value that is no array of UUIDs. */
export function uuidsIn(value: Buffer): string[] {
  const ids: string[] = []
  if (value.length <= HEAD_BYTES || value.readInt32BE(8) !== UUID_OID) return ids
  for (let at = HEAD_BYTES; at < value.length; at += LENGTH_BYTES) {
    if (value.readInt32BE(at) !== 16) continue
    ids.push(
      value.toString('hex', at + LENGTH_BYTES, at + LENGTH_BYTES + 16).replace(UUID_PARTS, '$1-$2-$3-$4-$5'),
    )
    at += 16
  }
  return ids
}

const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/

/** An array of texts as a bound value. */
export function texts(values: Values<string>): Buffer {
  return arrayOf(TEXT_OID, values, Buffer.byteLength, writeText)
}

/** An array of integers as a bound value. */
export function integers(values: Values<number>): Buffer {
  return arrayOf(INTEGER_OID, values, () => 4, writeInteger)
}

/** An array of booleans as a bound value. */
export function booleans(values: Values<boolean>): Buffer {
  return arrayOf(BOOLEAN_OID, values, () => 1, writeBoolean)
}

/** An array of instants as a bound value. */
export function timestamps(values: Values<Instant>): Buffer {
  return arrayOf(TIMESTAMP_OID, values, () => 8, writeTimestamp)
}

/** An array of bytes as a bound value. */
export function bytes(values: Values<Buffer>): Buffer {
  return arrayOf(BYTES_OID, values, value => value.length, writeBytes)
}

/** An array of JSON documents, each given as its text, as a bound value. */
export function documents(values: Values<string>): Buffer {
  return arrayOf(DOCUMENT_OID, values, value => 1 + Buffer.byteLength(value), writeDocument)
}

const BOOLEAN_OID = 16
const BYTES_OID = 17
const INTEGER_OID = 23
const TEXT_OID = 25
const TIMESTAMP_OID = 1184
const UUID_OID = 2950
const DOCUMENT_OID = 3802

/**
 * Five numbers: how many dimensions (1), whether there are nulls, the type of the elements, how many elements, and the first
 * index (1).
 */
const HEAD_BYTES = 20
const LENGTH_BYTES = 4

/** A value that equals the one before it is copied from there, because many columns of a batch repeat a partner or a kind. */
function arrayOf<T>(
  oid: number,
  values: Values<T>,
  sizeOf: (value: T) => number,
  write: (array: Buffer, value: T, at: number) => void,
): Buffer {
  const count = values.length
  const sizes = new Int32Array(count)
  let size = HEAD_BYTES + count * LENGTH_BYTES
  let hasNull = 0
  for (let index = 0; index < count; index += 1) {
    const value = values[index]
    if (value === null || value === undefined) {
      hasNull = 1
      sizes[index] = -1
      continue
    }
    const own = index > 0 && value === values[index - 1] ? (sizes[index - 1] as number) : sizeOf(value)
    sizes[index] = own
    size += own
  }
  const array = Buffer.allocUnsafe(size)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(hasNull, 4)
  array.writeInt32BE(oid, 8)
  array.writeInt32BE(count, 12)
  array.writeInt32BE(1, 16)
  let at = HEAD_BYTES
  for (let index = 0; index < count; index += 1) {
    const length = sizes[index] as number
    array.writeInt32BE(length, at)
    at += LENGTH_BYTES
    if (length < 0) continue
    const value = values[index] as T
    if (index > 0 && value === values[index - 1]) copyBefore(array, at, length)
    else write(array, value, at)
    at += length
  }
  return array
}

/**
 * Copies the element before this one, whose own length is already written. In a loop, which is faster than `Buffer.copy` for
 * so few bytes.
 */
function copyBefore(array: Buffer, at: number, length: number): void {
  const from = at - LENGTH_BYTES - length
  for (let index = 0; index < length; index += 1) array[at + index] = array[from + index] as number
}

/** The value of a hexadecimal digit, by its character code; 255 for any other character. */
const DIGITS = new Uint8Array(128).fill(255)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  DIGITS[digit.charCodeAt(0)] = value
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value
}

function digitAt(text: string, index: number): number {
  return DIGITS[text.charCodeAt(index)] ?? 255
}

/** Reads digit by digit, in a quarter of the time of removing the dashes and decoding the rest. */
function writeUuid(array: Buffer, value: string, at: number): void {
  let wrong = value.length === 36 ? 0 : 255
  let to = at
  for (let index = 0; index < 36; index += 2) {
    if (index === 8 || index === 13 || index === 18 || index === 23) {
      if (value[index] !== '-') wrong = 255
      index += 1
    }
    const high = digitAt(value, index)
    const low = digitAt(value, index + 1)
    wrong |= high | low
    array[to] = high * 16 + low
    to += 1
  }
  if (wrong > 15) throw new RangeError('not a UUID')
}

function writeText(array: Buffer, value: string, at: number): void {
  array.write(value, at)
}

function writeInteger(array: Buffer, value: number, at: number): void {
  array.writeInt32BE(value, at)
}

function writeBoolean(array: Buffer, value: boolean, at: number): void {
  array[at] = value ? 1 : 0
}

const POSTGRES_EPOCH: Instant = Date.UTC(2000, 0)
const HIGH_WORD = 2 ** 32

/** Microseconds since 2000 in 64 bits. */
function writeTimestamp(array: Buffer, value: Instant, at: number): void {
  const milliseconds = Math.trunc(value - POSTGRES_EPOCH)
  const microseconds = milliseconds * 1000
  if (!Number.isSafeInteger(microseconds)) {
    array.writeBigInt64BE(BigInt(milliseconds) * 1000n, at)
    return
  }
  const high = Math.floor(microseconds / HIGH_WORD)
  array.writeInt32BE(high, at)
  array.writeUInt32BE(microseconds - high * HIGH_WORD, at + 4)
}

function writeBytes(array: Buffer, value: Buffer, at: number): void {
  value.copy(array, at)
}

/** The version of the binary form, then the text. */
function writeDocument(array: Buffer, value: string, at: number): void {
  array[at] = 1
  array.write(value, at + 1)
}
