import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AttemptOutcome, ErrorClass } from '../egress/outcome.ts'
import { assess } from './assessment.ts'
import { ATTEMPT_DELAYS, mostAttemptsWithin, nextAttemptAt } from './backoff.ts'

const HOUR = 3_600_000
const now = Date.parse('2026-03-01T12:00:00.000Z')
function answer(status: number, retryAfter?: string): AttemptOutcome {
  return {
    status,
    snippet: '',
    timings: { totalMs: 1 },
    ...(retryAfter !== undefined && { retryAfter }),
  }
}
function fault(errorClass: ErrorClass): AttemptOutcome {
  return { errorClass, timings: { totalMs: 1 } }
}

describe('the schedule', () => {
  test('has 12 attempts over about 71 hours, then the delivery is dead', () => {
    expect(ATTEMPT_DELAYS).toHaveLength(12)
    const total = ATTEMPT_DELAYS.reduce((sum, delay) => sum + delay, 0)
    expect(Math.round(total / HOUR)).toBe(71)
    expect(nextAttemptAt(11, now, 0.5)).toBe(now + 24 * HOUR)
    expect(nextAttemptAt(12, now, 0.5)).toBe('dead')
    expect(nextAttemptAt(500, now, 0.5)).toBe('dead')
  })
  test('starts at once and spreads every later attempt over ±20 %', () => {
    expect(nextAttemptAt(0, now, 0.9)).toBe(now)
    expect(nextAttemptAt(1, now, 0)).toBe(now + 4000)
    expect(nextAttemptAt(1, now, 0.5)).toBe(now + 5000)
    expect(nextAttemptAt(1, now, 1)).toBe(now + 6000)
    const random = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 11 }), random, (spent, number) => {
        const delay = Number(nextAttemptAt(spent, now, number)) - now
        const nominal = ATTEMPT_DELAYS[spent] ?? Number.NaN
        expect(delay).toBeGreaterThanOrEqual(Math.floor(nominal * 0.8))
        expect(delay).toBeLessThanOrEqual(Math.ceil(nominal * 1.2))
      }),
    )
  })
  test('tells how many attempts fit into a time: never fewer than were made in it, whatever their spread', () => {
    expect([0, 3999, 4000, 27_999, 28_000].map(mostAttemptsWithin)).toEqual([1, 1, 2, 2, 3])
    expect(mostAttemptsWithin(Number.POSITIVE_INFINITY)).toBe(12)
    const randoms = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 11 })
    fc.assert(
      fc.property(randoms, numbers => {
        let at = now
        for (const [index, number] of numbers.entries()) at = Number(nextAttemptAt(index + 1, at, number))
        expect(mostAttemptsWithin(at - now)).toBeGreaterThanOrEqual(numbers.length + 1)
      }),
    )
  })
})

describe('the assessment', () => {
  test.each([200, 201, 202, 204, 206, 299])('%i is a success', status => {
    expect(assess(answer(status), now)).toEqual({ kind: 'delivered' })
  })
  test.each([500, 501, 502, 503, 504, 599, 408, 425])('%i speaks about the endpoint', status => {
    expect(assess(answer(status), now)).toEqual({ kind: 'failed', blame: 'endpoint' })
  })
  test.each([401, 403])('%i speaks about the credentials', status => {
    expect(assess(answer(status), now)).toEqual({ kind: 'failed', blame: 'credentials' })
  })
  test.each([300, 301, 302, 307, 308, 304, 400, 404, 405, 409, 413, 422, 429, 451])(
    '%i may be about the event',
    status => {
      expect(assess(answer(status), now)).toEqual({ kind: 'failed', blame: 'event' })
    },
  )
  test('410 disables the endpoint', () => {
    expect(assess(answer(410, '5'), now)).toEqual({ kind: 'gone' })
  })
  test.each<ErrorClass>([
    ...(['dns', 'blocked_address', 'connect', 'tls', 'timeout', 'reset'] as const),
    ...(['protocol', 'headers_too_large'] as const),
  ])('%s speaks about the endpoint', errorClass => {
    expect(assess(fault(errorClass), now)).toEqual({ kind: 'failed', blame: 'endpoint' })
  })
  test.each<ErrorClass>(['exhausted', 'resolver', 'stalled', 'stopped', 'unexpected'])(
    '%s is ours and spends no attempt',
    errorClass => {
      expect(assess(fault(errorClass), now)).toEqual({ kind: 'unspent', fault: errorClass })
    },
  )
})

describe('Retry-After', () => {
  const pause = (status: number, text: string) => {
    const assessment = assess(answer(status, text), now)
    return assessment.kind === 'failed' && assessment.pausedUntil !== undefined
      ? assessment.pausedUntil - now
      : undefined
  }
  test.each([
    ['120', 120_000],
    [' 7 ', 7000],
    ['1.5', 1500],
    ['86400', 24 * HOUR],
    ['86401', 24 * HOUR],
    ['1e12', 24 * HOUR],
    ['1000000000000', 24 * HOUR],
    ['9'.repeat(400), 24 * HOUR],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
    ['Sun Mar  1 12:00:30 2026', 30_000],
    ['Sun Mar  1 12:00:30 2026 GMT', 30_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 24 * HOUR],
  ])('%j pauses the endpoint', (text, ms) => {
    expect(pause(429, text)).toBe(ms)
    expect(pause(503, text)).toBe(ms)
  })
  test('a date without a zone is in GMT, wherever this machine stands', () => {
    vi.stubEnv('TZ', 'America/New_York')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(new Date(now).getTimezoneOffset()).not.toBe(0)
    expect(pause(503, 'Sun Mar  1 12:00:30 2026')).toBe(30_000)
  })
  test.each([
    '',
    '0',
    '-5',
    'soon',
    'NaN',
    'Infinity',
    '0x10',
    '5 seconds',
    '2026-03-02',
    'Sun, 01 Mar 2026 11:00:00 GMT',
  ])('%j pauses nothing', text => {
    expect(pause(429, text)).toBeUndefined()
  })
  test.each([500, 502, 400, 404, 301, 401])('means nothing on %i', status => {
    expect(pause(status, '120')).toBeUndefined()
  })
  test('whatever it says, the pause is in the future and 24 h at most', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.integer().map(String),
          fc.date({ noInvalidDate: true }).map(d => d.toUTCString()),
        ),
        text => {
          const ms = pause(429, text)
          expect(ms === undefined || (ms > 0 && ms <= 24 * HOUR)).toBe(true)
        },
      ),
    )
  })
})
