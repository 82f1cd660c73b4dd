import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closedBreaker, goodHealth } from '../endpoint/verdict.ts'
import { roomAt, shareOut, type Target } from './target.ts'

const now = 1_000_000
const limits = { slots: 64, endpointSlots: 16 }

/** An endpoint with this many attempts under way, which began `agoMs` ago. */
function target(
  name: string,
  {
    underWay = 0,
    agoMs = 1,
    ...own
  }: Partial<Pick<Target, 'typicalMs' | 'isHeld'>> & { underWay?: number; agoMs?: number } = {},
): Target {
  const health = { revision: 1, breaker: closedBreaker(), ...goodHealth(), acceptedPair: 'current' }
  const running = new Set(Array.from({ length: underWay }, () => ({ startedAt: now - agoMs })))
  return {
    ...{ endpointId: name, health, ownFaultUntil: 0, isHeld: false, typicalMs: 5, underWay: running },
    ...own,
  } as unknown as Target
}

function shared(wanted: readonly Target[], { others = [] as Target[], slots = limits.slots } = {}) {
  const all = [...wanted, ...others]
  const free = slots - all.reduce((sum, { underWay }) => sum + underWay.size, 0)
  const shares = shareOut(wanted, { all, free, limits: { ...limits, slots }, now, clock: now })
  return shares.map(({ target: { endpointId }, room }) => [endpointId, room])
}

describe('the free slots', () => {
  test('are shared equally by endpoints that have enough to do, whatever has begun before', () => {
    expect(shared([target('a'), target('b')], { slots: 16 })).toEqual([
      ['a', 8],
      ['b', 8],
    ])
    expect(shared([target('a', { underWay: 6 }), target('b')], { slots: 16 })).toEqual([
      ['a', 2],
      ['b', 8],
    ])
  })

  test('are no more for one endpoint than it may have', () => {
    expect(shared([target('a')])).toEqual([['a', 16]])
    expect(shared([target('a', { underWay: 16 })])).toEqual([])
    expect(shared([target('a', { isHeld: true }), target('b')])).toEqual([['b', 16]])
  })

  test('go to an endpoint of which nothing is known four at a time', () => {
    expect(shared([target('a', { typicalMs: undefined })])).toEqual([['a', 4]])
  })

  test('are a quarter for all slow endpoints while others have something to do, and three quarters otherwise', () => {
    const slow = ['s1', 's2', 's3', 's4', 's5'].map(name => target(name, { typicalMs: 3000 }))
    const beside = shared([...slow, target('quick')])
    const sum = (rows: typeof beside) => rows.reduce((total, [, room]) => total + Number(room), 0)
    expect(sum(beside.filter(([name]) => name !== 'quick'))).toBe(16)
    expect(beside).toContainEqual(['quick', 16])
    expect(sum(shared(slow))).toBe(48)
  })

  test('are counted with what slow endpoints have under way already', () => {
    const busy = target('s1', { typicalMs: 3000, underWay: 16 })
    expect(shared([target('s2', { typicalMs: 3000 }), target('quick')], { others: [busy] })).toEqual([
      ['s2', 0],
      ['quick', 16],
    ])
  })

  test('are for a slow endpoint fewer as soon as one attempt takes long', () => {
    const stuck = target('stuck', { underWay: 15, agoMs: 2000 })
    expect(shared([stuck, target('quick')])).toEqual([
      ['stuck', 1],
      ['quick', 16],
    ])
  })

  test('are never more than there are, nor more for one than for another that could take them', () => {
    const some = fc.array(
      fc.record({ underWay: fc.nat(16), typicalMs: fc.constantFrom(undefined, 5, 3000) }),
      {
        maxLength: 30,
      },
    )
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 300 }), (drawn, slots) => {
        const wanted = drawn.map((one, index) => target(`e${index}`, one))
        const free = Math.max(0, slots - drawn.reduce((sum, one) => sum + one.underWay, 0))
        const own = { ...limits, slots }
        const shares = shareOut(wanted, { all: wanted, free, limits: own, now, clock: now })
        expect(shares.reduce((sum, { room }) => sum + room, 0)).toBeLessThanOrEqual(free)
        const quick = shares.filter(share => share.target.typicalMs === 5)
        for (const one of quick) {
          expect(one.room).toBeLessThanOrEqual(roomAt(one.target, own, now))
          for (const other of quick) {
            const isFull = other.room === roomAt(other.target, own, now)
            const level = other.target.underWay.size + other.room
            if (!isFull && one.room > 0)
              expect(one.target.underWay.size + one.room).toBeLessThanOrEqual(level + 1)
          }
        }
      }),
    )
  })
})
