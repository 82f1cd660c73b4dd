import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AttemptOutcome, ErrorClass } from '../egress/outcome.ts'
import type { QueueKind } from '../log/deliveries.ts'
import {
  type Assessment,
  ATTEMPT_DELAYS,
  afterAttempt,
  assess,
  type Blame,
  type Breaker,
  closedBreaker,
  dispositionOf,
  type EndedAttempt,
  failuresLeft,
  goodHealth,
  type HealthRecord,
  healthAfter,
  judge,
  modeOf,
  mostAttemptsWithin,
  nextAttemptAt,
  noticeFor,
  OPEN_FOR,
  reviewHealth,
  roomIn,
} from './verdict.ts'

const failed: Assessment = { kind: 'failed', blame: 'endpoint' }
const delivered: Assessment = { kind: 'delivered' }
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

const LIMIT = 8

/** How many attempts may be under way at an endpoint that has accepted something. */
function roomOf(breaker: Breaker, at: number): number {
  return roomIn(modeOf({ breaker, pausedUntil: undefined, acceptedPair: 'current' }, 0, at), LIMIT)
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

describe('the health of an endpoint', () => {
  const start = 1_000_000_000

  test('72 h after the first failure since the last success the endpoint is disabled, with three notices before', () => {
    let health = goodHealth()
    const actions: [number, string][] = []
    for (let minute = 0; minute <= 72 * 60; minute += 10) {
      const step = healthAfter(health, failed, start + minute * 60_000)
      health = step.health
      if (step.action.kind !== 'none') actions.push([minute / 60, step.action.kind])
    }
    expect(actions).toEqual([
      [1, 'notice'],
      [24, 'notice'],
      [48, 'notice'],
      [72, 'disable'],
    ])
  })

  test('a notice says since when it fails and when it will be disabled', () => {
    const { health } = healthAfter(goodHealth(), failed, start)
    expect(reviewHealth(health, start + HOUR).action).toEqual({
      kind: 'notice',
      failingSince: start,
      disablesAt: start + 72 * HOUR,
    })
  })

  test('time counts also while nothing is due, and a missed notice is given once', () => {
    const { health } = healthAfter(goodHealth(), failed, start)
    const late = reviewHealth(health, start + 50 * HOUR)
    expect(late.action.kind).toBe('notice')
    expect(reviewHealth(late.health, start + 51 * HOUR).action.kind).toBe('none')
    expect(reviewHealth(late.health, start + 72 * HOUR - 1).action.kind).toBe('none')
    expect(reviewHealth(late.health, start + 72 * HOUR).action).toEqual({
      kind: 'disable',
      because: 'failing',
    })
  })

  test('one success starts the count anew', () => {
    const failing = healthAfter(goodHealth(), failed, start)
    const healed = healthAfter(failing.health, { kind: 'delivered' }, start + 71 * HOUR)
    expect(healed).toEqual({ health: goodHealth(), action: { kind: 'none' } })
    const again = healthAfter(healed.health, failed, start + 72 * HOUR)
    expect(again).toEqual({
      health: { failingSince: start + 72 * HOUR, notices: 0 },
      action: { kind: 'none' },
    })
  })

  test('a fault of our own counts for nothing, and 410 disables at once', () => {
    const own = healthAfter(goodHealth(), { kind: 'unspent', fault: 'resolver' }, start)
    expect(own).toEqual({ health: goodHealth(), action: { kind: 'none' } })
    expect(healthAfter(goodHealth(), { kind: 'gone' }, start).action).toEqual({
      kind: 'disable',
      because: 'gone',
    })
  })

  test('an endpoint that never failed needs nothing, however long it is silent', () => {
    expect(reviewHealth(goodHealth(), start + 10_000 * HOUR).action).toEqual({ kind: 'none' })
  })
})

describe('the mode of an endpoint', () => {
  const limit = 64
  const usual = { breaker: closedBreaker(), pausedUntil: undefined, acceptedPair: 'current' as const }
  const room = (health: Parameters<typeof modeOf>[0], at = now) => roomIn(modeOf(health, 0, at), limit)
  function after(breaker: Breaker, assessment: Assessment, at: number): Breaker {
    return afterAttempt(breaker, { eventId: `e${at}`, assessment, startedAt: at, endedAt: at }, limit)
  }
  function afterFailures(count: number): Breaker {
    let breaker = closedBreaker()
    for (let failure = 0; failure < count; failure += 1) breaker = after(breaker, failed, now)
    return breaker
  }

  test('a new endpoint may use its whole bound, and after a failure no more than would open its breaker', () => {
    const fresh = { ...usual, acceptedPair: undefined }
    expect(modeOf(fresh, 0, now)).toEqual({ kind: 'serving' })
    expect(room(fresh)).toBe(limit)
    const failing = { ...fresh, breaker: afterFailures(2) }
    expect(modeOf(failing, 0, now)).toEqual({ kind: 'proving', room: 3 })
    expect(room(failing)).toBe(3)
  })

  test('an endpoint that has accepted something is not narrowed by single failures', () => {
    const serving = { ...usual, breaker: afterFailures(4) }
    expect(modeOf(serving, 0, now)).toEqual({ kind: 'serving' })
    expect(room(serving)).toBe(limit)
  })

  test('goes from serving to waiting, probing, recovering, and back to serving', () => {
    const open = afterFailures(5)
    const until = open.open?.until ?? 0
    const endpoint = { ...usual, breaker: open }
    expect(modeOf(endpoint, 0, until - 1)).toEqual({ kind: 'waiting', until })
    expect(room(endpoint, until - 1)).toBe(0)
    expect(modeOf(endpoint, 0, until)).toEqual({ kind: 'probing' })
    expect(room(endpoint, until)).toBe(1)
    let breaker = after(open, delivered, until)
    expect(modeOf({ ...usual, breaker }, 0, until)).toEqual({ kind: 'recovering', room: 1 })
    // Each success makes room for one more, up to the bound.
    for (let has = 1; has < limit; has += 1) {
      expect(modeOf({ ...usual, breaker }, 0, until)).toEqual({ kind: 'recovering', room: has })
      breaker = after(breaker, delivered, until)
    }
    expect(modeOf({ ...usual, breaker }, 0, until)).toEqual({ kind: 'serving' })
  })

  test('an outage is told once it has lasted for a quarter of an hour', () => {
    const toldAt = (at: number) =>
      noticeFor(
        { ...goodHealth(), breaker: afterFailures(5), failingSince: now },
        { wasReported: false, isDelivered: false, now: at },
      )
    expect(toldAt(now + HOUR / 4 - 1)).toBeUndefined()
    expect(toldAt(now + HOUR / 4)).toEqual({ eventname: 'webhook_failing', since: now, reason: 'endpoint' })
  })

  test('a probe that is not accepted leads back to waiting, for longer', () => {
    const open = afterFailures(5)
    const until = open.open?.until ?? 0
    const again = modeOf({ ...usual, breaker: after(open, failed, until) }, 0, until)
    expect(again.kind).toBe('waiting')
    expect(again.kind === 'waiting' && again.until - until).toBeGreaterThan(until - now)
  })

  test('the latest of Retry-After, a fault of ours and the breaker decides how long it waits', () => {
    const breaker = afterFailures(5)
    const until = breaker.open?.until ?? 0
    const paused = { ...usual, breaker, pausedUntil: until + 1 }
    expect(modeOf(paused, 0, now)).toEqual({ kind: 'waiting', until: until + 1 })
    expect(modeOf(paused, until + 2, now)).toEqual({ kind: 'waiting', until: until + 2 })
    expect(modeOf({ ...usual, pausedUntil: now }, 0, now)).toEqual({ kind: 'serving' })
  })
})

describe('the verdict', () => {
  const healthy: HealthRecord = {
    revision: 3,
    breaker: closedBreaker(),
    ...goodHealth(),
    pausedUntil: undefined,
    acceptedPair: 'current',
    nextAcceptedAt: undefined,
    certificateEndsAt: undefined,
  }
  const ended = (assessment: Assessment, more: Partial<EndedAttempt> = {}): EndedAttempt => ({
    eventId: 'e',
    assessment,
    startedAt: now,
    endedAt: now,
    pair: 'current',
    certificateEndsAt: undefined,
    ...more,
  })

  test('a success at a healthy endpoint changes nothing that would have to be written', () => {
    expect(judge(healthy, ended(delivered), LIMIT)).toEqual({
      health: healthy,
      isChanged: false,
      outage: undefined,
      action: { kind: 'none' },
    })
  })

  test('a success ends an outage, which lasted since the first failure', () => {
    let health = healthy
    for (let at = now; at < now + 5; at += 1)
      health = judge(health, ended(failed, { startedAt: at, endedAt: at }), LIMIT).health
    const late = now + HOUR
    const verdict = judge(health, ended(delivered, { startedAt: late, endedAt: late }), LIMIT)
    expect(verdict.outage).toEqual({ from: now, to: late })
    expect(verdict.health).toMatchObject({ failingSince: undefined, breaker: { open: null, window: 1 } })
  })

  test('keeps the longest pause that was asked for until it is over', () => {
    const asked = (ms: number): Assessment => ({ kind: 'failed', blame: 'event', pausedUntil: now + ms })
    const { health } = judge(judge(healthy, ended(asked(5000)), LIMIT).health, ended(asked(1000)), LIMIT)
    expect(health.pausedUntil).toBe(now + 5000)
    expect(judge(health, ended(delivered), LIMIT).health.pausedUntil).toBe(now + 5000)
    const after = ended(delivered, { startedAt: now + 5000, endedAt: now + 5000 })
    expect(judge(health, after, LIMIT).health.pausedUntil).toBeUndefined()
  })

  test('remembers which credentials were accepted, and since when the new ones are', () => {
    const first = judge(healthy, ended(delivered, { pair: 'next' }), LIMIT).health
    expect(first).toMatchObject({ acceptedPair: 'next', nextAcceptedAt: now })
    const again = judge(first, ended(delivered, { pair: 'next', endedAt: now + HOUR }), LIMIT)
    expect(again.isChanged).toBe(false)
  })

  test('a delivery is tried again as a retry, a replay as a replay, and is dead after its last attempt', () => {
    const of = (attempts: number, queue: QueueKind) =>
      dispositionOf({ attempts, queue }, failed, { at: now, random: 0.5 })
    expect(of(0, 'fresh')).toEqual({ kind: 'later', attempts: 1, dueAt: now + 5000, queue: 'retry' })
    expect(of(1, 'replay')).toMatchObject({ kind: 'later', queue: 'replay' })
    expect(of(11, 'retry')).toEqual({ kind: 'dead', attempts: 12 })
    const own: Assessment = { kind: 'unspent', fault: 'resolver' }
    expect(dispositionOf({ attempts: 3, queue: 'retry' }, own, { at: now, random: 0.5 })).toEqual({
      kind: 'unchanged',
    })
  })
})
