import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeLoopDelay } from './loop-delay.ts'

const late = fc.double({ min: 0, max: 60_000, noNaN: true })
function standingAfter(looks: readonly number[]): number {
  const delay = judgeLoopDelay()
  for (const look of looks) delay.note(look)
  return delay.standingMs()
}

test('one late look, or two, are no delay that stands, however late', () => {
  fc.assert(
    fc.property(fc.array(late, { maxLength: 20 }), late, late, (before, one, other) => {
      expect(standingAfter([...before, 0, one, other])).toBe(0)
    }),
  )
})

test('three late looks are one as long as the least of them, and a look in time ends it', () => {
  fc.assert(
    fc.property(fc.array(late, { maxLength: 20 }), fc.tuple(late, late, late), (before, looks) => {
      expect(standingAfter([...before, ...looks])).toBe(Math.min(...looks))
      expect(standingAfter([...before, ...looks, 0])).toBe(0)
    }),
  )
})

test('a timer that comes too soon is not late', () => {
  expect(standingAfter([-5, -5, -5])).toBe(0)
})
