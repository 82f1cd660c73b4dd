import { expect, test } from 'vitest'
import { uuidv7 } from './uuid.ts'

const V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
// The largest time that a test here has given, as all tests share the process's order.
const start = 1_645_557_742_000

test('a v7 carries its time as in the example of RFC 9562', () => {
  const id = uuidv7(start)
  expect(id).toMatch(V7)
  expect(id.slice(0, 13)).toBe('017f22e2-79b0')
})

test('10,000 of one millisecond are all different and in order', () => {
  const ids = Array.from({ length: 10_000 }, () => uuidv7(start + 1))
  for (const id of ids) expect(id).toMatch(V7)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

test('the order holds when the clock goes back, and the time is right again once it has caught up', () => {
  const before = uuidv7(start + 1_000)
  const back = uuidv7(start)
  const later = uuidv7(start + 2_000)
  expect(back > before).toBe(true)
  expect(later > back).toBe(true)
  expect(Number.parseInt(later.slice(0, 8) + later.slice(9, 13), 16)).toBe(start + 2_000)
})

test.each([-1, Number.NaN, 2 ** 48, Number.POSITIVE_INFINITY])('%d is no time for a v7', time => {
  expect(() => uuidv7(time)).toThrow(RangeError)
})
