import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomBytes, randomNonce } from './random.ts'

test('random bytes have the length that was asked for, and none of what is given out is given out again', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 12, max: 3000 }), { minLength: 20, maxLength: 200 }), counts => {
      const drawn = counts.map(randomBytes)
      expect(drawn.map(bytes => bytes.length)).toEqual(counts)
      expect(new Set(drawn.map(bytes => bytes.toString('hex', 0, 12))).size).toBe(counts.length)
    }),
    { numRuns: 20 },
  )
})

test('nonces and keys are drawn from the same bytes, and none is drawn twice', () => {
  const drawn = Array.from({ length: 3000 }, (_, at) => (at % 2 === 0 ? randomNonce(12) : randomBytes(32)))
  expect(drawn.every((bytes, at) => bytes.length === (at % 2 === 0 ? 12 : 32))).toBe(true)
  expect(new Set(drawn.map(bytes => bytes.toString('hex', 0, 12))).size).toBe(drawn.length)
})

test('what one caller does to its bytes does not reach those of another', () => {
  const first = randomBytes(32)
  const second = randomBytes(32)
  const before = second.toString('hex')
  first.fill(0)
  expect(second.toString('hex')).toBe(before)
})
