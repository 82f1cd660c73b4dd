import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Partner } from '../../partners/partner.ts'
import { newKey } from '../../vault/seal.ts'
import type { EndpointRow } from '../endpoint/endpoint.ts'
import { sealSecrets } from '../endpoint/secrets.ts'
import { type Assessment, closedBreaker, goodHealth } from '../endpoint/verdict.ts'
import { changeTarget, roomAt, shareOut, type Target, takeAttempt, takeHealth, targetOf } from './target.ts'

const now = 1_000_000
const limits = { slots: 64, endpointSlots: 16 }

/** An endpoint with this many attempts under way, which began `agoMs` ago. */
function target(
  name: string,
  {
    underWay = 0,
    agoMs = 1,
    ...own
  }: Partial<Pick<Target, 'typicalMs' | 'isHeld' | 'ownFaultUntil'>> & {
    underWay?: number
    agoMs?: number
  } = {},
): Target {
  const health = { revision: 1, breaker: closedBreaker(), ...goodHealth(), acceptedPair: 'current' }
  const running = new Set(Array.from({ length: underWay }, () => ({ startedAt: now - agoMs })))
  return {
    ...{ endpointId: name, health, isHeld: false, typicalMs: 5, underWay: running },
    ...{ ownFaults: 0, ownFaultUntil: 0 },
    ...own,
  } as unknown as Target
}

function ended(assessment: Assessment, startedAt: number, endedAt: number) {
  return {
    eventId: 'e',
    assessment,
    startedAt,
    endedAt,
    pair: 'current',
    certificateEndsAt: undefined,
  } as const
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
    for (const own of [{ isHeld: true }, { ownFaultUntil: now + 1 }])
      expect(shared([target('a', own), target('b')])).toEqual([['b', 16]])
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

test('attempts that meet one fault of ours pause their endpoint once, and those after the pause for longer', () => {
  const one = target('a')
  const unspent = { kind: 'unspent', fault: 'resolver' } as const
  for (const endedAt of [now, now + 10, now + 1500])
    takeAttempt(one, ended(unspent, now - 10, endedAt), limits)
  expect(one.ownFaultUntil).toBe(now + 1000)
  takeAttempt(one, ended(unspent, now + 1000, now + 1600), limits)
  expect(one.ownFaultUntil).toBe(now + 3600)
})

test('what an attempt has shown before its endpoint was changed is not added to the health of the changed one', () => {
  const named = { partnerId: 'p', endpointId: 'a' }
  const key = { id: 'k', key: newKey() }
  const current = { kind: 'basic', username: 'u', password: 'p' } as const
  const secrets = { current, next: null, signing: [], headers: {}, client: null }
  const row = {
    ...{ partner_id: 'p', endpoint_id: 'a', version: 1, health: target('a').health, reported: null },
    sealed_secrets: sealSecrets({ ...named, key }, secrets),
  } as unknown as EndpointRow
  const partner = { key } as Partner
  const one = targetOf(row, partner)
  one.unwritten.add(ended({ kind: 'failed', blame: 'endpoint', pausedUntil: now + 5000 }, now, now))
  changeTarget(one, { ...row, version: 2 }, partner)
  takeHealth(one, row, limits)
  expect(one.health).toEqual(row.health)
})
