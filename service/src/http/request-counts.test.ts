import fc from 'fast-check'
import { expect, test } from 'vitest'
import { requestMetrics } from '../system/request-metrics.ts'
import { openRequestCounts, timeBounds } from './request-counts.ts'

test('an answer is counted once by its status, and in every bucket that its time fits', () => {
  const answer = fc.record({
    status: fc.constantFrom(200, 404, 503),
    ms: fc.double({ min: 0, max: 2e4, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(answer), answers => {
      const counts = openRequestCounts()
      for (const { status, ms } of answers) counts.of('getBenefits', [200]).note(status, ms)
      counts.of('getBenefits', [200])
      const text = requestMetrics(counts)
      const shown = (name: string) =>
        Number(
          text
            .split('\n')
            .find(line => line.startsWith(`${name} `))
            ?.split(' ')
            .at(-1),
        )
      for (const status of [200, 404, 503]) {
        const count = answers.filter(one => one.status === status).length
        if (count > 0 || status === 200)
          expect(shown(`http_requests_total{operation="getBenefits",status="${status}"}`)).toBe(count)
      }
      for (const bound of timeBounds)
        expect(shown(`http_request_seconds_bucket{operation="getBenefits",le="${bound}"}`)).toBe(
          answers.filter(({ ms }) => ms / 1000 <= bound).length,
        )
      expect(shown('http_request_seconds_bucket{operation="getBenefits",le="+Inf"}')).toBe(answers.length)
      expect(shown('http_request_seconds_count{operation="getBenefits"}')).toBe(answers.length)
      const sum = answers.reduce((all, { ms }) => all + ms / 1000, 0)
      expect(shown('http_request_seconds_sum{operation="getBenefits"}')).toBeCloseTo(sum, 6)
    }),
  )
})

test('what is expected of an operation stands at zero before it is asked for', () => {
  const counts = openRequestCounts()
  counts.of('eraseUser', [200, 404])
  const text = requestMetrics(counts)
  expect(text).toContain('http_requests_total{operation="eraseUser",status="404"} 0\n')
  expect(text).toContain('http_request_seconds_count{operation="eraseUser"} 0\n')
})
