import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRetryAfter, waitBeforeNextAttempt } from './retry.ts'

const state = fc.record({
  made: fc.integer({ min: 1, max: 50 }),
  tries: fc.integer({ min: 1, max: 50 }),
  remainingMs: fc.double({ min: -1_000, max: 60_000, noNaN: true }),
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
})

test('a wait is never shorter than the service asked, never longer than the time that remains', () => {
  fc.assert(
    fc.property(state, given => {
      const wait = waitBeforeNextAttempt(given)
      if (wait === undefined) return
      expect(given.made).toBeLessThan(given.tries)
      expect(wait).toBeGreaterThanOrEqual(given.retryAfterMs ?? 100)
      expect(wait).toBeLessThan(given.remainingMs)
      if (given.retryAfterMs === undefined) expect(wait).toBeLessThanOrEqual(5_000)
    }),
  )
})

test('waits grow to five seconds', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map(made =>
    waitBeforeNextAttempt({ made, tries: 9, remainingMs: 60_000, retryAfterMs: undefined, random: 0 }),
  )
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 2_500, 2_500])
})

test.each([
  ['5', 5_000],
  ['0', 0],
  ['1000000000000', 1e15],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 9_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', undefined],
  ['-5x', undefined],
  [null, undefined],
])('Retry-After %j means %j ms', (text, ms) => {
  expect(readRetryAfter(text, 1_000)).toBe(ms)
})
