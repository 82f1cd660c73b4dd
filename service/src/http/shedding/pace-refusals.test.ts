import fc from 'fast-check'
import { expect, test } from 'vitest'
import { paceRefusals } from './pace-refusals.ts'

const limits = fc.record({
  perTick: fc.integer({ min: 1, max: 5 }),
  longestTicks: fc.integer({ min: 1, max: 5 }),
})
/** How many refusals arrive in each tick. */
const ticks = fc.array(fc.nat(20), { maxLength: 30 })

test('each refusal is sent once, in order, and none later than the longest wait', () => {
  fc.assert(
    fc.property(limits, ticks, (given, counts) => {
      const pace = paceRefusals(given)
      const cameAt: number[] = []
      const sent: number[] = []
      let now = 0
      const send = (number: number) => () => {
        sent.push(number)
        expect(now - (cameAt[number] ?? 0)).toBeLessThanOrEqual(given.longestTicks)
      }
      for (const count of [...counts, ...Array.from({ length: given.longestTicks }, () => 0)]) {
        for (let index = 0; index < count; index += 1) pace.pass(send(cameAt.push(now) - 1))
        now += 1
        pace.tick()
      }
      expect(pace.held()).toBe(0)
      expect(sent).toEqual(cameAt.map((_, number) => number))
    }),
  )
})

test('few are sent at once; of many no more than the pace in a tick, until they have waited for too long', () => {
  const pace = paceRefusals({ perTick: 3, longestTicks: 4 })
  let sent = 0
  const send = () => {
    sent += 1
  }
  const told: number[] = []
  for (let index = 0; index < 20; index += 1) pace.pass(send)
  told.push(sent)
  for (let tick = 0; tick < 4; tick += 1) {
    pace.tick()
    told.push(sent)
  }
  expect(told).toEqual([3, 6, 9, 12, 20])
})

test('a stop sends what waits', () => {
  const pace = paceRefusals({ perTick: 1, longestTicks: 9 })
  let sent = 0
  const send = () => {
    sent += 1
  }
  for (let index = 0; index < 5; index += 1) pace.pass(send)
  pace.end()
  expect([sent, pace.held()]).toEqual([5, 0])
})
