import { randomFillSync } from 'node:crypto'

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
