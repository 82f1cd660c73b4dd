import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AdmissionLimits,
  defaultLimits,
  LOOP_MEMORY_MS,
  type Load,
  loopRoomFor,
  type Rank,
  refusalFor,
  retryAfterSeconds,
  roomFor,
  takesTooMuchTime,
} from './admission.ts'

const limits: fc.Arbitrary<AdmissionLimits> = fc
  .record({ inFlight: fc.integer({ min: 100, max: 5000 }), loopDelayMs: fc.integer({ min: 50, max: 2000 }) })
  .chain(one =>
    fc.integer({ min: 0, max: Math.floor(one.inFlight / 2) }).map(reserved => ({ ...one, reserved })),
  )
/** A load in which the asking partner has some of the requests in flight, and each other partner at least one. */
const asked = fc
  .record({
    rank: fc.constantFrom<Rank>('ordinary', 'prefill', 'urgent'),
    ownInFlight: fc.nat(6000),
    others: fc.nat(50),
    more: fc.nat(6000),
    loopDelayMs: fc.double({ min: 0, max: 20_000, noNaN: true }),
  })
  .map(({ rank, ownInFlight, others, more, loopDelayMs }) => ({
    asker: { rank, ownInFlight },
    load: { inFlight: ownInFlight + others + (others > 0 ? more : 0), partners: others + 1, loopDelayMs },
  }))
function calm(inFlight: number, partners = 1): Load {
  return { inFlight, partners, loopDelayMs: 0 }
}

describe('who is admitted', () => {
  test('1,000 requests of one partner at once find room by default, whatever their operation', () => {
    for (const rank of ['ordinary', 'prefill', 'urgent'] as const)
      for (let ownInFlight = 0; ownInFlight < 1000; ownInFlight += 1)
        expect(refusalFor({ rank, ownInFlight }, calm(ownInFlight), defaultLimits)).toBeUndefined()
  })

  test('below the room nobody is refused', () => {
    fc.assert(
      fc.property(limits, asked, (given, { asker, load }) => {
        fc.pre(load.inFlight < roomFor(asker.rank, given, load.loopDelayMs))
        expect(refusalFor(asker, load, given)).toBeUndefined()
      }),
    )
  })

  test('beyond the room nobody is who holds an equal share of it or more', () => {
    fc.assert(
      fc.property(limits, asked, (given, { asker, load }) => {
        const room = roomFor(asker.rank, given, load.loopDelayMs)
        fc.pre(load.inFlight >= room && asker.ownInFlight >= room / load.partners)
        expect(refusalFor(asker, load, given)).toBeDefined()
      }),
    )
  })

  test('a partner with nothing in flight is admitted however much another floods', () => {
    fc.assert(
      fc.property(limits, fc.nat(20_000), (given, loopDelayMs) => {
        const flooded = { inFlight: given.inFlight, partners: 2, loopDelayMs }
        expect(refusalFor({ rank: 'ordinary', ownInFlight: 0 }, flooded, given)).toBeUndefined()
      }),
    )
  })

  test('nobody begins when there is twice as much in flight as there is room for at best', () => {
    fc.assert(
      fc.property(limits, asked, (given, { asker, load }) => {
        fc.pre(load.inFlight >= 2 * given.inFlight)
        expect(refusalFor(asker, load, given)).toBe('full')
      }),
    )
  })

  test('the more urgent, the later refused', () => {
    fc.assert(
      fc.property(limits, asked, (given, { asker: { ownInFlight }, load }) => {
        const isRefused = (rank: Rank) => refusalFor({ rank, ownInFlight }, load, given) !== undefined
        if (isRefused('urgent')) expect(isRefused('prefill')).toBe(true)
        if (isRefused('prefill')) expect(isRefused('ordinary')).toBe(true)
      }),
    )
  })

  test('the later the process, the fewer; nothing changes up to the delay that is allowed', () => {
    fc.assert(
      fc.property(
        limits,
        asked,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (given, { asker, load }, part) => {
          const less = { ...load, loopDelayMs: load.loopDelayMs * part }
          if (refusalFor(asker, less, given)) expect(refusalFor(asker, load, given)).toBeDefined()
          const allowed = { ...load, loopDelayMs: given.loopDelayMs * part }
          expect(refusalFor(asker, allowed, given)).toBe(
            refusalFor(asker, { ...load, loopDelayMs: 0 }, given),
          )
        },
      ),
    )
  })
})

describe('the reason', () => {
  const given = { inFlight: 100, reserved: 20, loopDelayMs: 500 }
  test.each([
    ['full', { rank: 'ordinary', ownInFlight: 80 }, calm(80)],
    ['share', { rank: 'ordinary', ownInFlight: 79 }, calm(80, 2)],
    ['full', { rank: 'ordinary', ownInFlight: 0 }, calm(180, 3)],
    [undefined, { rank: 'urgent', ownInFlight: 0 }, calm(180, 3)],
    ['delay', { rank: 'ordinary', ownInFlight: 40 }, { ...calm(40), loopDelayMs: 1000 }],
    [undefined, { rank: 'prefill', ownInFlight: 89 }, calm(89)],
    ['full', { rank: 'prefill', ownInFlight: 90 }, calm(90)],
    [undefined, { rank: 'urgent', ownInFlight: 99 }, calm(99)],
    ['full', { rank: 'urgent', ownInFlight: 100 }, calm(100)],
  ] as const)('%s: %j among %j', (reason, asker, load) => {
    expect(refusalFor(asker, load, given)).toBe(reason)
  })
})

test('those refused together are told to come back after one, two or three seconds, in equal parts', () => {
  const told = Array.from({ length: 300 }, (_, refusals) => retryAfterSeconds(refusals))
  for (const seconds of [1, 2, 3]) expect(told.filter(one => one === seconds)).toHaveLength(100)
})

describe('time of the event loop', () => {
  const uses = fc.array(fc.double({ min: 0, max: LOOP_MEMORY_MS, noNaN: true }), {
    minLength: 1,
    maxLength: 20,
  })
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
  const room = fc.double({ min: 1, max: LOOP_MEMORY_MS, noNaN: true })
  const refusedOf = (all: readonly number[], within: number) =>
    all.filter(ownMs => takesTooMuchTime({ ownMs, allMs: sum(all), partners: all.length }, within))

  test('nobody is refused for time while there is room, nor whoever is alone', () => {
    fc.assert(
      fc.property(uses, room, (all, within) => {
        if (sum(all) < within || all.length === 1) expect(refusedOf(all, within)).toEqual([])
      }),
    )
  })

  test('whoever takes less than an equal part is never refused for time, and never are all', () => {
    fc.assert(
      fc.property(uses, room, (all, within) => {
        const refused = refusedOf(all, within)
        expect(refused.every(own => own >= sum(all) / all.length)).toBe(true)
        expect(refused.length).toBeLessThan(all.length)
      }),
    )
  })

  test('beyond the room a partner that takes nearly everything is refused', () => {
    expect(takesTooMuchTime({ ownMs: 290, allMs: 300, partners: 2 }, 250)).toBe(true)
    expect(takesTooMuchTime({ ownMs: 10, allMs: 300, partners: 2 }, 250)).toBe(false)
  })

  test('among a thousand partners one whose few requests met a garbage collection is not refused', () => {
    expect(takesTooMuchTime({ ownMs: 12, allMs: 1900, partners: 1000 }, 1500)).toBe(false)
    expect(takesTooMuchTime({ ownMs: 120, allMs: 1900, partners: 1000 }, 1500)).toBe(true)
  })

  test('urgent requests have more room than others, and no bound is no bound', () => {
    expect(loopRoomFor('ordinary', { ...defaultLimits, loopShare: 0.5 })).toBe(LOOP_MEMORY_MS / 2)
    expect(loopRoomFor('urgent', { ...defaultLimits, loopShare: 0.5 })).toBe((LOOP_MEMORY_MS * 3) / 4)
    expect(loopRoomFor('ordinary', { inFlight: 100, reserved: 0, loopDelayMs: 500 })).toBe(
      Number.POSITIVE_INFINITY,
    )
  })
})
