import { createHmac, timingSafeEqual } from 'node:crypto'
import { joinParts } from './parts.ts'

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
