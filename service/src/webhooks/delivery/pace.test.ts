import fc from 'fast-check'
import { expect, test } from 'vitest'
import { paced } from './pace.ts'

test('however late its timers are, an endpoint never gets more than its rate, but for what 20 ms hold', () => {
  const rates = fc.double({ min: 0.01, max: 1000, noNaN: true })
  const lateness = fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { minLength: 2, maxLength: 60 })
  fc.assert(
    fc.property(rates, lateness, (rate, late) => {
      let nextAt = 0
      let now = 0
      const starts = late.map(ms => {
        now = Math.max(now, nextAt) + (ms < 100 ? 0 : ms - 100)
        nextAt = paced(nextAt, rate, now)
        return now
      })
      for (const [first, from] of starts.entries())
        for (const [index, to] of starts.entries())
          if (index > first)
            expect(index - first).toBeLessThanOrEqual(((to - from + 20) * rate) / 1000 + 1e-6)
      if (rate > 50) return
      const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0))
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000 / rate - 1e-6)
    }),
  )
})
