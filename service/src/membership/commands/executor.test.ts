import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Partner } from '../../partners/partner.ts'
import type { Command } from '../command.ts'
import { openLane } from './executor.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const partner = { partnerId: 'p' } as Partner
function commandOf(userid: string): Command<unknown> {
  return {
    partner,
    userid,
    who: 'partner',
    why: 'prefill',
    decide: () => ({ answer: () => userid }),
  }
}
const held = { ok: false, error: 'held' } as const
/** A run that takes this long, or as long as it may when that is less, and records how long that was. */
function openTimedLane(takesMs: number) {
  const allowed: number[] = []
  const lane = openLane(async (command, endsAt) => {
    const longestMs = endsAt - performance.now()
    if (longestMs <= 0) return held
    allowed.push(longestMs)
    await new Promise(resolve => setTimeout(resolve, Math.min(takesMs, longestMs)))
    return takesMs <= longestMs ? { ok: true, value: { reply: command.userid, replayed: false } } : held
  })
  return { lane, allowed }
}

test('commands of one user run one after the other, and share the time that the first of them has', async () => {
  const { lane, allowed } = openTimedLane(1000)
  const results = Promise.all(['u', 'u', 'u'].map(userid => lane.enter(commandOf(userid))))
  await vi.advanceTimersByTimeAsync(3000)
  expect(await results).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
  expect(allowed).toEqual([4500, 3500, 2500])
  expect(lane.pending()).toBe(0)
})

test('behind one who waits to the end nobody waits any longer', async () => {
  const { lane, allowed } = openTimedLane(60_000)
  const results = Promise.all(['u', 'u', 'u'].map(userid => lane.enter(commandOf(userid))))
  await vi.advanceTimersByTimeAsync(4500)
  expect((await results).map(({ ok }) => ok)).toEqual([false, false, false])
  expect(allowed).toEqual([4500])
})

test('of many who are held a few wait at a time, and the others end when these do', async () => {
  const { lane, allowed } = openTimedLane(60_000)
  const userids = Array.from({ length: 12 }, (_, n) => `u${n}`)
  const results = Promise.all(userids.map(userid => lane.enter(commandOf(userid))))
  await vi.advanceTimersByTimeAsync(4500)
  expect((await results).every(({ ok }) => !ok)).toBe(true)
  expect(allowed.length).toBeLessThan(userids.length)
  expect(new Set(allowed)).toEqual(new Set([4500]))
})
