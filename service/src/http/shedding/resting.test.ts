import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openResting, type Resting } from './resting.ts'

let resting: Resting
let now: number
let waiting: number
let isOpen: boolean
let reads: Map<string, boolean>
beforeEach(() => {
  vi.useFakeTimers()
  now = 0
  waiting = 1000
  isOpen = false
  reads = new Map()
  resting = openResting({ isOpen: () => isOpen, waiting: () => waiting }, () => now)
})
afterEach(() => {
  resting.end()
  vi.useRealTimers()
})

/** A request of a partner arrives on a connection, and is answered. */
function ask(name: string, partnerId = 'A') {
  resting.note(partnerId)
  reads.set(name, true)
  const connection = {
    pause: () => reads.set(name, false),
    resume: () => reads.set(name, true),
  }
  resting.answered(connection as never, partnerId)
}
function askMany(count: number, prefix = 'c') {
  for (let at = 1; at <= count; at += 1) ask(`${prefix}${at}`)
}
function resters() {
  return [...reads].filter(([, isRead]) => !isRead).map(([name]) => name)
}
/** Partner A has asked for a minute, and no other. */
function beAlone() {
  resting.note('A')
  now += 60_000
}

test('while a partner floods alone, a connection rests after its answer, until fewer requests wait', () => {
  beAlone()
  askMany(3)
  expect(resters()).toEqual(['c1', 'c2', 'c3'])
  vi.advanceTimersByTime(20)
  expect(resters()).toEqual(['c1', 'c2', 'c3'])
  waiting = 98
  vi.advanceTimersByTime(5)
  expect(resters()).toEqual(['c3'])
})

test('a connection whose turn has not come rests behind those that rested before', () => {
  beAlone()
  ask('c1')
  waiting = 0
  ask('c2')
  expect(resters()).toEqual(['c1', 'c2'])
})

test('none rests while few requests wait', () => {
  beAlone()
  waiting = 99
  ask('c1')
  expect(resters()).toEqual([])
})

test('many are read at once when nothing waits, as those of unused connections bring no request', () => {
  beAlone()
  askMany(500)
  waiting = 0
  isOpen = true
  vi.advanceTimersByTime(5)
  expect(resters()).toHaveLength(100)
})

test('none rests longer than two seconds', () => {
  beAlone()
  ask('c1')
  now += 1500
  ask('c2')
  now += 500
  vi.advanceTimersByTime(5)
  expect(resters()).toEqual(['c2'])
})

test('nor do several answers on one connection, whose requests came together, keep others resting for longer', () => {
  beAlone()
  const several = { pause: () => {}, resume: () => reads.set('several', true) }
  resting.answered(several as never, 'A')
  ask('c2')
  now += 1900
  resting.answered(several as never, 'A')
  now += 100
  vi.advanceTimersByTime(5)
  expect(resters()).toEqual([])
  expect(resting.count()).toBe(0)
})

test('when another partner asks, all are read, and none rests until that is ten seconds ago', () => {
  beAlone()
  askMany(3)
  ask('other', 'B')
  expect(resters()).toEqual([])
  ask('c4')
  now += 9999
  ask('c5')
  expect(resters()).toEqual([])
  now += 1
  ask('c6')
  expect(resters()).toEqual(['c6'])
})

test('a caller who is not known yet ends no rest', () => {
  beAlone()
  ask('c1')
  resting.note('')
  expect(resters()).toEqual(['c1'])
})

test('at a stop all are read, and none rests any more', () => {
  beAlone()
  ask('c1')
  resting.end()
  ask('c2')
  expect(resters()).toEqual([])
  expect(resting.count()).toBe(0)
})
