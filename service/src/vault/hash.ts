import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The HMAC-SHA-256 of `parts` under `pepper`, 32 bytes: the stored form of values that are only ever compared.
 * Hashes made for one purpose never equal those of another, and different lists of parts never give the same hash.
 * A string counts as its UTF-8 bytes.
 */
export function keyedHash(pepper: Buffer, purpose: string, ...parts: (string | Buffer)[]): Buffer {
  const hash = createHmac('sha256', pepper).update(joinParts([purpose, ...parts]))
  // By way of a text, so that the hash lies in the memory that small buffers share. Memory of its own, with what the
  // garbage collector does about it, costs 0.5 µs more.
  return Buffer.from(hash.digest('binary'), 'binary')
}

/**
 * Whether two hashes are equal; the time this takes does not reveal where they differ. False when their lengths
 * differ.
 */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * The parts as one sequence of bytes, each preceded by its length, so that no two lists of parts give the same bytes. A
 * string counts as its UTF-8 bytes. Good only until the next call, which writes into the same memory: memory of their own
 * for bytes that are read at once, and only once, cost 1 µs of a prefill.
 */
export function joinParts(parts: readonly (string | Buffer)[]): Buffer {
  let most = 0
  for (const part of parts)
    most += LENGTH_BYTES + (typeof part === 'string' ? part.length * MOST_BYTES_OF_A_UNIT : part.length)
  const joined = most <= reused.length ? reused : Buffer.allocUnsafe(most)
  let at = 0
  for (const part of parts) {
    const start = at + LENGTH_BYTES
    const length = typeof part === 'string' ? writeText(joined, part, start) : part.copy(joined, start)
    joined.writeUInt32BE(length, at)
    at = start + length
  }
  return joined.subarray(0, at)
}

const LENGTH_BYTES = 4
/** What one unit of a string takes in UTF-8 at most. */
const MOST_BYTES_OF_A_UNIT = 3
const reused = Buffer.allocUnsafeSlow(8192)

/** Up to this length, ids and names among them, a loop is faster than a call of Node's own writer. */
const SHORT = 64

function writeText(joined: Buffer, text: string, start: number): number {
  if (text.length > SHORT) return joined.write(text, start)
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit > 0x7f) return joined.write(text, start)
    joined[start + at] = unit
  }
  return text.length
}
