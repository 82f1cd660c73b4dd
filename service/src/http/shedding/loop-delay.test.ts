import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeLoopDelay } from './loop-delay.ts'

const late = fc.double({ min: 0, max: 60_000, noNaN: true })
function lastingAfter(samples: readonly number[]): number {
  const delay = judgeLoopDelay()
  for (const sample of samples) delay.note(sample)
  return delay.lastingMs()
}

test('one or two late samples are no lasting delay, however late', () => {
  fc.assert(
    fc.property(fc.array(late, { maxLength: 20 }), late, late, (before, one, other) => {
      expect(lastingAfter([...before, 0, one, other])).toBe(0)
    }),
  )
})

test('three late samples are a delay as long as the least of them, and one sample in time ends it', () => {
  fc.assert(
    fc.property(fc.array(late, { maxLength: 20 }), fc.tuple(late, late, late), (before, samples) => {
      expect(lastingAfter([...before, ...samples])).toBe(Math.min(...samples))
      expect(lastingAfter([...before, ...samples, 0])).toBe(0)
    }),
  )
})

test('a timer that comes too soon is not late', () => {
  expect(lastingAfter([-5, -5, -5])).toBe(0)
})
