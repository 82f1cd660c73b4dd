import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinParts } from './parts.ts'

/** The same, put together from pieces. */
function joinedFromPieces(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(
    parts.flatMap(part => {
      const bytes = Buffer.from(part)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}

const part = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.uint8Array({ maxLength: 100 }).map(bytes => Buffer.from(bytes)),
)

test('each part follows its length, a text as its UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), parts => {
      expect(joinParts(parts).equals(joinedFromPieces(parts))).toBe(true)
    }),
  )
})

test('parts of any length are joined whole', () => {
  for (const length of [63, 64, 65, 2000, 2729, 2730, 8188, 8189, 100_000])
    for (const parts of [['é'.repeat(length)], ['a'.repeat(length), Buffer.alloc(length, 'b')]])
      expect(joinParts(parts).equals(joinedFromPieces(parts))).toBe(true)
})
