import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinParts, keyedHash, sameHash } from './hash.ts'

const pepper = Buffer.from(Array.from({ length: 32 }, (_, n) => n))
const part = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.uint8Array({ maxLength: 8 }).map(bytes => Buffer.from(bytes)),
)

test('a keyed hash has its known value', () => {
  expect(keyedHash(pepper, 'token', 'abc', 'é').toString('hex')).toBe(
    'c52ac53333377fab792026361e2b13e9af604fa20d8f93e875f3ecc9cbb4241e',
  )
})

test('a keyed hash is the HMAC-SHA-256 of its joined parts, for a key of any length', () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map(each => Buffer.from(each))
  fc.assert(
    fc.property(bytes, fc.string(), fc.array(part), (key, purpose, parts) => {
      const given = Buffer.from(key)
      const expected = createHmac('sha256', key).update(joinParts([purpose, ...parts]))
      expect(keyedHash(key, purpose, ...parts)).toEqual(expected.digest())
      expect(key).toEqual(given)
    }),
  )
})

test('a string counts as its UTF-8 bytes', () => {
  expect(keyedHash(pepper, 'key', 'é')).toEqual(keyedHash(pepper, 'key', Buffer.from([0xc3, 0xa9])))
})

test('another pepper, purpose or split of the parts gives another hash', () => {
  const hashes = [
    keyedHash(pepper, 'token', 'ab', 'c'),
    keyedHash(pepper, 'token', 'a', 'bc'),
    keyedHash(pepper, 'token', 'abc'),
    keyedHash(pepper, 'token', 'abc', ''),
    keyedHash(pepper, 'tokena', 'b', 'c'),
    keyedHash(pepper, 'secret', 'ab', 'c'),
    keyedHash(Buffer.alloc(32), 'token', 'ab', 'c'),
  ]
  expect(new Set(hashes.map(hash => hash.toString('hex'))).size).toBe(hashes.length)
})

test('no two lists of parts are joined to the same bytes', () => {
  const list = fc.array(part, { maxLength: 4 })
  const bytes = (parts: (string | Buffer)[]) => parts.map(each => Buffer.from(each).toString('hex')).join()
  fc.assert(
    fc.property(list, list, (a, b) => {
      fc.pre(a.length !== b.length || bytes(a) !== bytes(b))
      // The second call writes into the memory of the first.
      const first = Buffer.from(joinParts(a))
      expect(first.equals(joinParts(b))).toBe(false)
    }),
  )
  fc.assert(
    fc.property(list, parts => {
      const joined = joinParts(parts)
      let at = 0
      for (const each of parts) {
        const length = joined.readUInt32BE(at)
        expect(joined.subarray(at + 4, at + 4 + length)).toEqual(Buffer.from(each))
        at += 4 + length
      }
      expect(joined).toHaveLength(at)
    }),
  )
})

test('hashes are the same only byte for byte; other lengths are simply not the same', () => {
  const hash = keyedHash(pepper, 'token', 'a')
  expect(sameHash(hash, Buffer.from(hash))).toBe(true)
  expect(sameHash(hash, keyedHash(pepper, 'token', 'b'))).toBe(false)
  expect(sameHash(hash, hash.subarray(1))).toBe(false)
  expect(sameHash(hash, Buffer.alloc(0))).toBe(false)
})

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

const longPart = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.uint8Array({ maxLength: 100 }).map(bytes => Buffer.from(bytes)),
)

test('each part follows its length, a text as its UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.array(longPart, { maxLength: 6 }), parts => {
      expect(joinParts(parts).equals(joinedFromPieces(parts))).toBe(true)
    }),
  )
})

test('parts of any length are joined whole', () => {
  for (const length of [63, 64, 65, 2000, 2729, 2730, 8188, 8189, 100_000])
    for (const parts of [['é'.repeat(length)], ['a'.repeat(length), Buffer.alloc(length, 'b')]])
      expect(joinParts(parts).equals(joinedFromPieces(parts))).toBe(true)
})
