import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { roomIn } from '../delivery/mode.ts'
import type { Assessment, Blame } from './assessment.ts'
import { afterAttempt, type Breaker, closedBreaker, failuresLeft, OPEN_FOR } from './breaker.ts'

const LIMIT = 8

/** How many attempts may be under way at an endpoint that has accepted something. */
function roomOf(breaker: Breaker, now: number): number {
  const health = { breaker, pausedUntil: null, acceptedPair: 'current' as const }
  return roomIn({ phase: 'sending', ownFaultUntil: 0, health }, LIMIT, now)
}

/** Plays attempts one after the other, one second each, and keeps the time. */
function play(start: Breaker = closedBreaker()) {
  let breaker = start
  let now = 1_000_000
  let events = 0
  const give = (assessment: Assessment, { eventId = `e${events}`, startedAt = now } = {}) => {
    events += 1
    now += 1000
    breaker = afterAttempt(breaker, { eventId, assessment, startedAt, endedAt: now }, LIMIT)
    return run
  }
  const run = {
    fail: (blame: Blame, more?: { eventId?: string; startedAt?: number }) =>
      give({ kind: 'failed', blame }, more),
    succeed: (more?: { startedAt?: number }) => give({ kind: 'delivered' }, more),
    give,
    wait: (ms: number) => {
      now += ms
      return run
    },
    room: () => roomOf(breaker, now),
    isOpen: () => breaker.open !== null,
    get breaker() {
      return breaker
    },
    get now() {
      return now
    },
  }
  return run
}

function opened() {
  const run = play()
  for (let n = 0; n < 5; n += 1) run.fail('endpoint')
  return run
}

describe('the breaker opens', () => {
  test('on the fifth failure in a row of the endpoint, no sooner', () => {
    const run = play().fail('endpoint').fail('endpoint').fail('endpoint').fail('endpoint')
    expect(run.room()).toBe(LIMIT)
    expect(run.fail('endpoint').room()).toBe(0)
  })
  test('and after each failure it is known how many more do it, until one ends well', () => {
    const run = play()
    const left = () => failuresLeft(run.breaker)
    for (const more of [4, 3, 2, 1]) {
      run.fail('endpoint')
      expect(left()).toBe(more)
    }
    run.succeed()
    expect(left()).toBe(Number.POSITIVE_INFINITY)
    for (const more of [2, 1]) {
      run.fail('credentials')
      expect(left()).toBe(more)
    }
    run.succeed().fail('event')
    expect(left()).toBe(Number.POSITIVE_INFINITY)
  })
  test('not when a success comes between', () => {
    const run = play()
    for (let n = 0; n < 20; n += 1) n % 5 === 4 ? run.succeed() : run.fail('endpoint')
    expect(run.isOpen()).toBe(false)
  })
  test('on the third rejection of the credentials in a row', () => {
    const run = play().fail('credentials').fail('credentials')
    expect(run.isOpen()).toBe(false)
    expect(run.fail('credentials').room()).toBe(0)
  })
  test('on another 4xx only when three different events got one', () => {
    const run = play()
    for (let n = 0; n < 50; n += 1) run.fail('event', { eventId: n % 2 === 0 ? 'poison' : 'bad' })
    expect(run.isOpen()).toBe(false)
    expect(run.fail('event', { eventId: 'third' }).isOpen()).toBe(true)
  })
  test('not for three poison events among events that succeed', () => {
    const run = play()
    for (let n = 0; n < 30; n += 1) run.fail('event', { eventId: `p${n % 3}` }).succeed()
    expect(run.isOpen()).toBe(false)
  })
  test('never on faults of our own, nor do they interrupt a row', () => {
    const run = play()
    for (let n = 0; n < 20; n += 1) run.give({ kind: 'unspent', fault: 'exhausted' })
    expect(run.breaker).toEqual(closedBreaker())
    for (let n = 0; n < 4; n += 1) run.fail('endpoint')
    expect(run.give({ kind: 'unspent', fault: 'stalled' }).fail('endpoint').isOpen()).toBe(true)
  })
})

describe('an open breaker', () => {
  test('stays open for 10 s, 30 s, 1, 2, 5, 10, 15 min and 15 again, with one probe after each', () => {
    const run = opened()
    for (const ms of [...OPEN_FOR, 900_000, 900_000]) {
      expect(run.wait(ms - 1).room()).toBe(0)
      expect(run.wait(1).room()).toBe(1)
      run.fail('endpoint')
    }
  })
  test('is not prolonged by attempts that began before it opened', () => {
    const before = play()
    const startedAt = before.now
    for (let n = 0; n < 5; n += 1) before.fail('endpoint', { startedAt })
    before.fail('endpoint', { startedAt }).wait(9000)
    expect(before.room()).toBe(1)
    before.fail('endpoint', { startedAt })
    expect(before.breaker.open?.level).toBe(0)
  })
  test('closes by a success, also of an attempt that began before it opened', () => {
    const run = opened().wait(10_000).succeed()
    expect(run.isOpen()).toBe(false)
    expect(opened().succeed({ startedAt: 0 }).isOpen()).toBe(false)
  })
  test('closes for the others when the probe finds the endpoint alive and only the event refused', () => {
    const run = opened().wait(10_000).fail('event', { eventId: 'poison' })
    expect(run.isOpen()).toBe(false)
    expect(run.room()).toBe(1)
  })
  test('opened by refused events, stays open while events are refused', () => {
    const run = play().fail('event').fail('event').fail('event').wait(10_000).fail('event')
    expect(run.breaker.open?.level).toBe(1)
  })
  test('survives being stored', () => {
    const { breaker } = opened()
    expect(JSON.parse(JSON.stringify(breaker))).toEqual(breaker)
  })
})

describe('after an outage', () => {
  test('the first success releases the backlog at a growing pace, up to the bound of the endpoint', () => {
    const run = opened().wait(10_000)
    const pace = Array.from({ length: LIMIT + 1 }, () => run.succeed().room())
    expect(pace).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8])
    expect(run.breaker).toEqual(closedBreaker())
  })
  test('a failure slows the release down, five in a row open again for 10 s', () => {
    const run = opened().wait(10_000)
    for (let n = 0; n < 5; n += 1) run.succeed()
    expect(run.fail('endpoint').room()).toBe(2)
    for (let n = 0; n < 4; n += 1) run.fail('endpoint')
    expect(run.breaker.open).toMatchObject({ level: 0 })
  })
})

test('whatever happens, an endpoint is never left without a next attempt, and never gets more than its bound', () => {
  const assessment = fc.oneof(
    fc.constant<Assessment>({ kind: 'delivered' }),
    fc
      .constantFrom<Blame>('endpoint', 'credentials', 'event')
      .map((blame): Assessment => ({ kind: 'failed', blame })),
    fc.constant<Assessment>({ kind: 'unspent', fault: 'stopped' }),
    fc.constant<Assessment>({ kind: 'gone' }),
  )
  const step = fc.record({
    assessment,
    eventId: fc.constantFrom('a', 'b', 'c', 'd'),
    wait: fc.nat(1_000_000),
    age: fc.nat(15_000),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const run = play()
      for (const { assessment: given, eventId, wait, age } of steps) {
        run.wait(wait).give(given, { eventId, startedAt: run.now - age })
        expect(run.room()).toBeLessThanOrEqual(LIMIT)
        expect(roomOf(run.breaker, run.now + 900_000)).toBeGreaterThan(0)
        expect(run.breaker.failedEvents.length).toBeLessThanOrEqual(3)
        if (given.kind === 'delivered') expect(run.room()).toBeGreaterThan(0)
      }
    }),
  )
})
