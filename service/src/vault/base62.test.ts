import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeUuid, encodeBase62, encodeUuid } from './secret.ts'

test('a UUID has its known form in base62', () => {
  expect(encodeUuid('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')).toBe('02p5oQZoHTv0zeY5yG21K3')
  expect(encodeUuid('00000000-0000-0000-0000-000000000000')).toBe('0'.repeat(22))
  expect(encodeUuid('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('7n42DGM5Tflk9n8mt7Fhc7')
})

test('a UUID is read back, and sorts as it did', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (a, b) => {
      expect(decodeUuid(encodeUuid(a))).toBe(a)
      expect(encodeUuid(a) < encodeUuid(b)).toBe(a < b)
    }),
  )
})

test.each([
  '',
  '02p5oQZoHTv0zeY5yG21K',
  '02p5oQZoHTv0zeY5yG21K3x',
  '02p5oQZoHTv0zeY5yG21K_',
  '7n42DGM5Tflk9n8mt7Fhc8',
  'zzzzzzzzzzzzzzzzzzzzzz',
])('%j is no UUID in base62', text => expect(decodeUuid(text)).toBeUndefined())

test.each(['', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F', '017f22e279b07cc398c4dc0c0c07398f', 'not a uuid'])(
  '%j is no UUID to encode',
  text => expect(() => encodeUuid(text)).toThrow(RangeError),
)

test('a value too large for its width is refused, never cut', () => {
  expect(encodeBase62(61n, 1)).toBe('z')
  expect(() => encodeBase62(62n, 1)).toThrow(RangeError)
})
