import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { QueueKind } from '../log/deliveries.ts'
import { type AttemptTurns, createTurns, type Due, type Turn } from './fairness.ts'

type Endpoint = {
  due: Due
  /** How long each of its attempts takes. */
  ms: number
}

/** Simulates endpoints with work on this many slots, event by event, and counts what each endpoint got. */
function simulate(slots: number, endpoints: Record<string, Endpoint>, forMs: number) {
  const turns = createTurns(slots)
  const got = new Map(Object.keys(endpoints).map(id => [id, { attempts: 0, slotMs: 0, firstAt: -1 }]))
  const running: { turn: Turn; endsAt: number }[] = []
  let now = 0
  for (const [id, { due }] of Object.entries(endpoints)) turns.offer(id, due, now)
  for (;;) {
    for (let turn = turns.next(now); turn !== undefined; turn = turns.next(now)) {
      const ms = endpoints[turn.endpointId]?.ms ?? 0
      running.push({ turn, endsAt: now + ms })
      const account = got.get(turn.endpointId)
      if (account?.firstAt === -1) account.firstAt = now
    }
    running.sort((a, b) => b.endsAt - a.endsAt)
    const ended = running.pop()
    if (ended === undefined || ended.endsAt > forMs) break
    now = ended.endsAt
    turns.end(ended.turn, now)
    const account = got.get(ended.turn.endpointId)
    if (account !== undefined) {
      account.attempts += 1
      account.slotMs += now - ended.turn.startedAt
    }
  }
  return got
}

/** Gives an endpoint one attempt that shows that it is quick. */
function introduce(turns: AttemptTurns, id: string) {
  turns.offer(id, fresh(1), 0)
  const turn = turns.next(0)
  expect(turn?.endpointId).toBe(id)
  if (turn !== undefined) turns.end(turn, 10)
}

const plenty = 1_000_000
function dueOnly(queue: QueueKind): Due {
  return { fresh: 0, retry: 0, replay: 0, limit: 50, [queue]: plenty }
}
function fresh(count = plenty, limit = 50): Due {
  return { fresh: count, retry: 0, replay: 0, limit }
}

test('a backlog of a million delays nobody else', () => {
  const healthy = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`h${n}`, { due: fresh(40, 10), ms: 20 }]),
  )
  const alone = simulate(16, healthy, 60_000)
  const beside = simulate(16, { dead: { due: fresh(), ms: 20 }, ...healthy }, 60_000)
  for (const [id, account] of alone) {
    expect(beside.get(id)?.attempts).toBe(account.attempts)
    expect(beside.get(id)?.firstAt ?? Number.NaN).toBeLessThanOrEqual(account.firstAt + 40)
  }
})

test('endpoints with work get the same slot time, whatever one attempt costs them', () => {
  const ms = fc.integer({ min: 1, max: 900 })
  fc.assert(
    fc.property(
      fc.array(ms, { minLength: 2, maxLength: 8 }),
      fc.integer({ min: 2, max: 12 }),
      (costs, slots) => {
        const endpoints = Object.fromEntries(costs.map((cost, n) => [`e${n}`, { due: fresh(), ms: cost }]))
        const shares = [...simulate(slots, endpoints, 120_000).values()].map(account => account.slotMs)
        // The tolerance: the attempts that may be in flight at the end, and the four that each endpoint made before its
        // cost was known.
        const slack = 900 * (slots + 4)
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(slack)
      },
    ),
    { numRuns: 60 },
  )
})

describe('while fresh events of healthy endpoints wait', () => {
  const slots = 32
  const crowd = (due: Due, ms: number) =>
    Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`c${n}`, { due, ms }]))
  const peak = (endpoints: Record<string, Endpoint>, share: Turn['share']) => {
    const turns = createTurns(slots)
    for (const id of Object.keys(endpoints)) introduce(turns, id)
    for (const [id, { due }] of Object.entries(endpoints)) turns.offer(id, due, 10)
    let count = 0
    for (let turn = turns.next(10); turn !== undefined; turn = turns.next(10))
      if (turn.share === share) count += 1
    expect(turns.inUse()).toBeLessThanOrEqual(slots)
    return count
  }
  const healthy = { h: { due: fresh(plenty, 50), ms: 10 }, i: { due: fresh(plenty, 50), ms: 10 } }
  const more = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`f${n}`, { due: fresh(), ms: 10 }]))

  test('retries take a quarter of the slots and replays an eighth', () => {
    const retries = crowd({ fresh: 0, retry: plenty, replay: 0, limit: 50 }, 10)
    const replays = crowd({ fresh: 0, retry: 0, replay: plenty, limit: 50 }, 10)
    expect(peak({ ...more, ...healthy, ...retries }, 'retry')).toBe(8)
    expect(peak({ ...more, ...healthy, ...replays }, 'replay')).toBe(4)
  })
  describe('retries, replays and fresh events that all come as a flood', () => {
    const flood = (slots: number) => {
      const turns = createTurns(slots)
      const crowds = { f: fresh(), r: dueOnly('retry'), p: dueOnly('replay') }
      const ids = Object.keys(crowds).flatMap(kind => Array.from({ length: slots }, (_, n) => `${kind}${n}`))
      for (const id of ids) introduce(turns, id)
      for (const id of ids) turns.offer(id, crowds[id[0] as keyof typeof crowds], 10)
      return turns
    }
    const fill = (turns: AttemptTurns, now: number): Turn[] => {
      const taken: Turn[] = []
      for (let turn = turns.next(now); turn !== undefined; turn = turns.next(now)) taken.push(turn)
      return taken
    }
    const countOf = (taken: readonly Turn[], share: Turn['share']) =>
      taken.filter(turn => turn.share === share).length
    const slotsAndEnds = fc.tuple(
      fc.integer({ min: 8, max: 64 }),
      fc.array(fc.array(fc.nat(63), { maxLength: 40 }), { maxLength: 8 }),
    )
    /** Whichever attempts end, and however often: how many of one share are then in flight. */
    const always = (share: Turn['share'], expected: (slots: number) => number) =>
      fc.assert(
        fc.property(slotsAndEnds, ([slots, rounds]) => {
          const turns = flood(slots)
          let now = 10
          let held = fill(turns, now)
          expect(countOf(held, share)).toBe(expected(slots))
          for (const round of rounds) {
            now += 10
            const ends = new Set(round.map(index => held[index % held.length]))
            for (const turn of ends) if (turn) turns.end(turn, now)
            held = [...held.filter(turn => !ends.has(turn)), ...fill(turns, now)]
            expect(held).toHaveLength(slots)
            expect(countOf(held, share)).toBe(expected(slots))
          }
        }),
        { numRuns: 40 },
      )

    test('a quarter of the slots is for retries, no less and no more', () =>
      always('retry', slots => Math.floor(slots / 4)))
    test('an eighth is for replays, no less and no more', () =>
      always('replay', slots => Math.floor(slots / 8)))
    test('and all the rest is for fresh events', () =>
      always('fresh', slots => slots - Math.floor(slots / 4) - Math.floor(slots / 8)))
  })
  test('without fresh events they may take three quarters, and one slot in four stays free for those to come', () => {
    expect(peak(crowd({ fresh: 0, retry: plenty, replay: 0, limit: 50 }, 10), 'retry')).toBe(24)
  })
  test('slow endpoints take a quarter, once they have shown that they are slow', () => {
    const slow = crowd(fresh(plenty, 50), 15_000)
    const got = simulate(slots, { ...slow, ...healthy }, 300_000)
    const slotMs = [...got].reduce((sum, [id, account]) => sum + (id.startsWith('c') ? account.slotMs : 0), 0)
    // Their own quarter, an eighth while they are unknown, and the slots that were free before any endpoint was known.
    expect(slotMs).toBeLessThanOrEqual((slots / 4 + slots / 8) * 300_000 + slots * 15_000)
    expect(got.get('h')?.attempts).toBeGreaterThan(20_000)
    expect(got.get('c0')?.attempts).toBeGreaterThan(0)
  })
  test('and a flood of fresh events never holds up retries, replays or slow endpoints for ever', () => {
    const got = simulate(
      8,
      {
        ...healthy,
        r: { due: { fresh: 0, retry: plenty, replay: 0, limit: 5 }, ms: 10 },
        p: { due: { fresh: 0, retry: 0, replay: plenty, limit: 5 }, ms: 10 },
        s: { due: fresh(plenty, 5), ms: 4000 },
      },
      60_000,
    )
    expect(got.get('r')?.attempts).toBeGreaterThan(1000)
    expect(got.get('p')?.attempts).toBeGreaterThan(500)
    expect(got.get('s')?.attempts).toBeGreaterThan(10)
  })
})

test('an endpoint that hangs is held back before its first attempt has even ended', () => {
  const turns = createTurns(64)
  turns.offer('hangs', fresh(), 0)
  let count = 0
  while (turns.next(0) !== undefined) count += 1
  expect(count).toBe(4)
})

test('an endpoint whose attempts suddenly hang falls into the share of the slow', () => {
  const turns = createTurns(64)
  introduce(turns, 'a')
  turns.offer('a', fresh(plenty, 60), 10)
  while (turns.next(10)?.share === 'fresh');
  turns.offer('b', fresh(plenty, 60), 5000)
  turns.offer('a', fresh(plenty, 1000), 5000)
  const taken: (Turn | undefined)[] = Array.from({ length: 8 }, () => turns.next(5000))
  expect(taken.filter(turn => turn?.endpointId === 'a').every(turn => turn?.share === 'slow')).toBe(true)
})

test('an endpoint whose breaker is open gets no turn, also when an attempt at it ends meanwhile', () => {
  const turns = createTurns(8)
  turns.offer('a', fresh(), 0)
  const turn = turns.next(0)
  turns.offer('a', fresh(plenty, 0), 1)
  expect(turns.next(1)).toBeUndefined()
  if (turn !== undefined) turns.end(turn, 2)
  expect(turns.next(2)).toBeUndefined()
  turns.offer('a', fresh(plenty, 1), 3)
  expect(turns.next(3)?.endpointId).toBe('a')
  expect(turns.next(3)).toBeUndefined()
})

test('whatever happens, no bound is crossed, no slot leaks, and none stays free while fresh work of the healthy waits', () => {
  const ids = ['a', 'b', 'c', 'd']
  const due = fc.record({ fresh: fc.nat(5), retry: fc.nat(5), replay: fc.nat(5), limit: fc.nat(6) })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('offer' as const), id: fc.constantFrom(...ids), due }),
    fc.record({ kind: fc.constant('take' as const) }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat(20) }),
    fc.record({ kind: fc.constant('forget' as const), id: fc.constantFrom(...ids) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(3000) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 8, max: 16 }), (steps, slots) => {
      const turns = createTurns(slots)
      const held: Turn[] = []
      const left = new Map<string, Due>()
      let now = 0
      for (const action of steps) {
        if (action.kind === 'wait') now += action.ms
        else if (action.kind === 'forget') {
          turns.forget(action.id)
          left.delete(action.id)
        } else if (action.kind === 'offer') {
          turns.offer(action.id, action.due, now)
          left.set(action.id, { ...action.due })
        } else if (action.kind === 'end') {
          const [turn] = held.splice(action.which % Math.max(1, held.length), 1)
          if (turn !== undefined) turns.end(turn, now)
        } else {
          const turn = turns.next(now)
          if (turn === undefined) continue
          const rest = left.get(turn.endpointId)
          expect(rest?.[turn.queue]).toBeGreaterThan(0)
          if (rest !== undefined) rest[turn.queue] -= 1
          held.push(turn)
        }
        expect(turns.inUse()).toBe(held.length)
        expect(held.length).toBeLessThanOrEqual(slots)
      }
      for (const turn of held) turns.end(turn, now)
      expect(turns.inUse()).toBe(0)
      for (const [id, rest] of left) turns.offer(id, { ...rest, limit: 1 }, now)
      let served = 0
      for (let turn = turns.next(now); turn !== undefined; turn = turns.next(now)) {
        served += 1
        turns.end(turn, now)
      }
      const waiting = [...left.values()].reduce((sum, rest) => sum + rest.fresh + rest.retry + rest.replay, 0)
      expect(served).toBe(waiting)
    }),
    { numRuns: 300 },
  )
})
