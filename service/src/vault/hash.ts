import { createHmac, timingSafeEqual } from 'node:crypto'
import { joinParts } from './parts.ts'

/**
 * The HMAC-SHA-256 of `parts` under `pepper`, 32 bytes: the stored form of values that are only ever compared.
 * Hashes made for one purpose never equal those of another, and different lists of parts never give the same hash.
 * A string counts as its UTF-8 bytes.
 */
export function keyedHash(pepper: Buffer, purpose: string, ...parts: (string | Buffer)[]): Buffer {
  return createHmac('sha256', pepper)
    .update(joinParts([purpose, ...parts]))
    .digest()
}

/**
 * Whether two hashes are equal; the time this takes does not reveal where they differ. False when their lengths
 * differ.
 */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
