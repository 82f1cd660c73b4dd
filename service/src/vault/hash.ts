import { createHmac, timingSafeEqual } from 'node:crypto'
import { joinParts } from './parts.ts'

/**
 * The HMAC-SHA-256 of `parts` under `pepper`, 32 bytes: how what we only compare is stored. Hashes of one purpose
 * never equal those of another, and parts never run into each other; a string counts as its UTF-8 bytes.
 */
export function keyedHash(pepper: Buffer, purpose: string, ...parts: (string | Buffer)[]): Buffer {
  return createHmac('sha256', pepper)
    .update(joinParts([purpose, ...parts]))
    .digest()
}

/** Whether two hashes are equal, in a time that does not tell where they differ; of different lengths: false. */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
