import { hash, timingSafeEqual } from 'node:crypto'
import { joinParts } from './parts.ts'

/**
 * The HMAC-SHA-256 of `parts` under `pepper`, 32 bytes: the stored form of values that are only ever compared.
 * Hashes made for one purpose never equal those of another, and different lists of parts never give the same hash.
 * A string counts as its UTF-8 bytes.
 */
export function keyedHash(pepper: Buffer, purpose: string, ...parts: (string | Buffer)[]): Buffer {
  return hmac(pepper, joinParts([purpose, ...parts], BLOCK_BYTES))
}

/**
 * The HMAC-SHA-256 of `message` after its first 64 bytes, which are room for the padded key. It is made as RFC 2104
 * defines it, from two hashes: `createHmac` looks its algorithm up anew and makes an object for the garbage collector,
 * and so costs up to twice as much.
 */
function hmac(key: Buffer, message: Buffer): Buffer {
  const short = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key
  for (let at = 0; at < BLOCK_BYTES; at += 1) {
    const byte = short[at] ?? 0
    message[at] = byte ^ 0x36
    outer[at] = byte ^ 0x5c
  }
  hash('sha256', message, 'buffer').copy(outer, BLOCK_BYTES)
  const made = hash('sha256', outer, 'buffer')
  // Nothing of the key stays in memory that others get next.
  message.fill(0, 0, BLOCK_BYTES)
  outer.fill(0)
  return made
}

const BLOCK_BYTES = 64
const HASH_BYTES = 32
const outer = Buffer.allocUnsafeSlow(BLOCK_BYTES + HASH_BYTES)

/**
 * Whether two hashes are equal; the time this takes does not reveal where they differ. False when their lengths
 * differ.
 */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
