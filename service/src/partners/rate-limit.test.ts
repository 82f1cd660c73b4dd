import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Partner } from './partner.ts'
import { openRateLimits, type RateLimits } from './rate-limit.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

const partner = { partnerId: 'p', ratePerSecond: 10 } as Partner

/** Processes that tell each other; each call starts one more. */
function openProcesses(): () => RateLimits {
  const all: RateLimits[] = []
  return () => {
    const own: RateLimits = openRateLimits({
      real: Date.now,
      tellOthers: allowed => {
        for (const other of all) if (other !== own) other.note(allowed)
      },
    })
    all.push(own)
    return own
  }
}

/** How many of so many requests at once are allowed. */
function allowedOf(requests: number, limits: RateLimits): number {
  const answers = Array.from({ length: requests }, () => limits.count(partner))
  return answers.filter(answer => answer?.refusal === undefined).length
}

test('what one process has allowed, the other one refuses, and both refill together', () => {
  const start = openProcesses()
  const [one, other] = [start(), start()]
  vi.advanceTimersByTime(1000)
  expect(allowedOf(20, one)).toBe(10)
  vi.advanceTimersByTime(10)
  expect(allowedOf(20, other)).toBe(0)
  expect(other.count(partner)?.headers).toEqual({
    'RateLimit-Policy': '"default";q=10;w=1',
    RateLimit: '"default";r=0;t=1',
  })
  vi.advanceTimersByTime(500)
  expect(allowedOf(20, other)).toBe(5)
  vi.advanceTimersByTime(10)
  expect(allowedOf(20, one)).toBe(0)
})

test('one that starts beside a partner at its limit lets no second of requests through, and leaves the other its share', () => {
  const start = openProcesses()
  const one = start()
  vi.advanceTimersByTime(1000)
  expect(allowedOf(20, one)).toBe(10)
  vi.advanceTimersByTime(10)
  const late = start()
  expect(allowedOf(20, late)).toBe(1)
  vi.advanceTimersByTime(1000)
  expect(allowedOf(20, one)).toBe(9)
})
