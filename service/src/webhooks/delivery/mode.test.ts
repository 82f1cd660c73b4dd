import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Assessment } from '../endpoint/assessment.ts'
import { afterAttempt, type Breaker, closedBreaker } from '../endpoint/breaker.ts'
import { beginLeaving, beginRelease, endRelease, type ModeState, modeOf, roomIn } from './mode.ts'

const now = 1_000_000
const limit = 64
function state({
  ownFaultUntil = 0,
  ...health
}: Partial<ModeState['health']> & { ownFaultUntil?: number } = {}): ModeState {
  const usual = { breaker: closedBreaker(), pausedUntil: null, acceptedPair: 'current' as const }
  return { phase: 'sending', ownFaultUntil, health: { ...usual, ...health } }
}
const failed: Assessment = { kind: 'failed', blame: 'endpoint' }
const delivered: Assessment = { kind: 'delivered' }
function after(breaker: Breaker, assessment: Assessment, at: number): Breaker {
  return afterAttempt(breaker, { eventId: `e${at}`, assessment, startedAt: at, endedAt: at }, limit)
}
function afterFailures(count: number): Breaker {
  let breaker = closedBreaker()
  for (let failure = 0; failure < count; failure += 1) breaker = after(breaker, failed, now)
  return breaker
}

describe('the mode of an owned endpoint', () => {
  test('a new endpoint may use its whole bound, and after a failure no more than would open its breaker', () => {
    const fresh = state({ acceptedPair: null })
    expect(modeOf(fresh, now)).toEqual({ kind: 'serving' })
    expect(roomIn(fresh, limit, now)).toBe(limit)
    const failing = state({ acceptedPair: null, breaker: afterFailures(2) })
    expect(modeOf(failing, now)).toEqual({ kind: 'proving', room: 3 })
    expect(roomIn(failing, limit, now)).toBe(3)
  })

  test('an endpoint that has accepted something is not narrowed by single failures', () => {
    const serving = state({ breaker: afterFailures(4) })
    expect(modeOf(serving, now)).toEqual({ kind: 'serving' })
    expect(roomIn(serving, limit, now)).toBe(limit)
  })

  test('goes from serving to waiting, probing, releasing, recovering, and back to serving', () => {
    const open = afterFailures(5)
    const until = open.open?.until ?? 0
    const endpoint = state({ breaker: open })
    expect(modeOf(endpoint, until - 1)).toEqual({ kind: 'waiting', until })
    expect(roomIn(endpoint, limit, until - 1)).toBe(0)
    expect(modeOf(endpoint, until)).toEqual({ kind: 'probing' })
    expect(roomIn(endpoint, limit, until)).toBe(1)
    let breaker = after(open, delivered, until)
    const healed = state({ breaker })
    beginRelease(healed)
    expect(modeOf(healed, until)).toEqual({ kind: 'releasing' })
    expect(roomIn(healed, limit, until)).toBe(0)
    endRelease(healed)
    expect(modeOf(healed, until)).toEqual({ kind: 'recovering', room: 1 })
    let successes = 0
    while (modeOf(state({ breaker }), until).kind === 'recovering') {
      breaker = after(breaker, delivered, until)
      successes += 1
      expect(successes).toBeLessThanOrEqual(limit)
    }
    expect(modeOf(state({ breaker }), until)).toEqual({ kind: 'serving' })
  })

  test('a probe that is not accepted leads back to waiting, for longer', () => {
    const open = afterFailures(5)
    const until = open.open?.until ?? 0
    const again = modeOf(state({ breaker: after(open, failed, until) }), until)
    expect(again.kind).toBe('waiting')
    expect(again.kind === 'waiting' && again.until - until).toBeGreaterThan(until - now)
  })

  test('the latest of Retry-After, a fault of ours and the breaker decides how long it waits', () => {
    const breaker = afterFailures(5)
    const until = breaker.open?.until ?? 0
    expect(modeOf(state({ breaker, pausedUntil: until + 1 }), now)).toEqual({
      kind: 'waiting',
      until: until + 1,
    })
    expect(modeOf(state({ breaker, ownFaultUntil: until + 2, pausedUntil: until + 1 }), now)).toEqual({
      kind: 'waiting',
      until: until + 2,
    })
    expect(modeOf(state({ pausedUntil: now }), now)).toEqual({ kind: 'serving' })
  })

  test('once it is left it stays so, whatever follows; without that it sends whenever no release is under way', () => {
    const steps = fc.array(fc.constantFrom(beginLeaving, beginRelease, endRelease))
    fc.assert(
      fc.property(steps, taken => {
        const endpoint = state()
        for (const step of taken) step(endpoint)
        const isReleasing = taken.findLast(step => step !== beginLeaving) === beginRelease
        const expected = taken.includes(beginLeaving) ? 'leaving' : isReleasing ? 'releasing' : 'serving'
        expect(modeOf(endpoint, now).kind).toBe(expected)
        expect(roomIn(endpoint, limit, now)).toBe(expected === 'serving' ? limit : 0)
      }),
    )
  })
})
