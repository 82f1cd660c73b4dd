import { beforeEach, expect, test } from 'vitest'
import { openTurns, type Turns } from './turns.ts'

let turns: Turns
let now: number
let workedMs: number
let isBusy: boolean
let isMemoryShort: boolean
let begun: string[]
let refused: string[]
let ends: Map<string, () => void>
beforeEach(() => {
  now = 0
  workedMs = 0
  isBusy = false
  isMemoryShort = false
  begun = []
  refused = []
  ends = new Map()
  open(2)
})
function open(atOnce: number) {
  const load = {
    now: () => now,
    workedMs: () => workedMs,
    isBusy: () => isBusy,
    isMemoryShort: () => isMemoryShort,
  }
  turns = openTurns({ atOnce, patienceMs: 5000 }, load)
}

/** A request arrives, and begins at once or waits, as at the door. */
type Arriving = { caller?: string; lane?: string; weight?: number; isNarrow?: true }
function arrive(name: string, { caller = 'A', lane = '/', weight = 1, isNarrow }: Arriving = {}) {
  const begin = (end?: () => void) => {
    if (!end) {
      refused.push(name)
      return false
    }
    begun.push(name)
    ends.set(name, end)
    return true
  }
  if (!isNarrow && turns.isOpen(caller)) begin(turns.begin(caller))
  else turns.wait({ caller, lane, weight, ...(isNarrow && { isNarrow }) }, begin)
}
/** A caller has used this time by a thousand small requests. */
function use(caller: string, ms: number) {
  for (let count = 0; count < 1000; count += 1) turns.isOpen(caller)
  turns.charge(caller, ms)
}
function end(name: string) {
  ends.get(name)?.()
}
function tick(ms: number) {
  for (const until = now + ms; now < until; ) {
    now += 100
    turns.tick()
  }
}

test('as many begin as may be under way; the others begin in order as these end', () => {
  for (const name of ['a', 'b', 'c', 'd']) arrive(name)
  expect(begun).toEqual(['a', 'b'])
  end('a')
  expect(begun).toEqual(['a', 'b', 'c'])
  end('b')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('the next is of the caller that has used the least; a small or new one waits for no flood', () => {
  open(1)
  use('A', 100)
  use('B', 10)
  for (const name of ['a1', 'a2', 'a3', 'a4']) arrive(name)
  arrive('b1', { caller: 'B' })
  arrive('new', { caller: 'C' })
  arrive('stranger', { caller: '' })
  for (const name of ['a1', 'new', 'stranger', 'b1', 'a2', 'a3']) end(name)
  expect(begun).toEqual(['a1', 'new', 'stranger', 'b1', 'a2', 'a3', 'a4'])
})

test('a caller is next in each of its lanes by turns: one address delays no other, nor a prefill a cancel', () => {
  open(1)
  for (const name of ['a1', 'a2', 'a3', 'a4']) arrive(name, { lane: '192.0.2.1 /' })
  arrive('b1', { lane: '192.0.2.2 /' })
  for (const name of ['a1', 'a2', 'b1', 'a3']) end(name)
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})

test('while the loop is busy a caller waits for one that uses less than half of what it does, and otherwise never', () => {
  open(10)
  use('A', 100)
  use('B', 40)
  use('C', 60)
  isBusy = true
  arrive('c', { caller: 'C' })
  arrive('a1')
  expect(begun).toEqual(['c', 'a1'])
  arrive('b', { caller: 'B' })
  arrive('a2')
  expect(begun).toEqual(['c', 'a1', 'b'])
  end('b')
  expect(begun).toEqual(['c', 'a1', 'b'])
  now += 50
  turns.tick()
  expect(begun).toEqual(['c', 'a1', 'b', 'a2'])
})

test('time of the event loop that nobody was charged for is divided among the requests', async () => {
  for (let count = 0; count < 9; count += 1) turns.isOpen('')
  turns.isOpen('B')
  turns.charge('', 5)
  turns.charge('B', 20)
  workedMs = 125
  tick(100)
  isBusy = true
  arrive('b', { caller: 'B' })
  arrive('page', { caller: '' })
  expect(begun).toEqual(['b'])
  end('b')
  tick(100)
  await new Promise(resolve => setImmediate(resolve))
  expect(begun).toEqual(['b', 'page'])
})

test('while others ask, a millisecond of work begins in a turn of the event loop; the rest begins in the next', async () => {
  open(10)
  arrive('b', { caller: 'B' })
  arrive('a1')
  turns.charge('A', 30)
  await new Promise(setImmediate)
  for (const name of ['a2', 'a3']) arrive(name)
  expect(begun).toEqual(['b', 'a1', 'a2'])
  await new Promise(setImmediate)
  expect(begun).toEqual(['b', 'a1', 'a2', 'a3'])
})

test('a request counts by its weight', () => {
  arrive('a')
  arrive('b')
  arrive('heavy', { weight: 2 })
  arrive('c')
  end('a')
  expect(begun).toEqual(['a', 'b', 'heavy'])
  end('b')
  end('heavy')
  expect(begun).toEqual(['a', 'b', 'heavy', 'c'])
})

test('one that takes long no longer keeps others from beginning, and may end at any time', () => {
  for (const name of ['a', 'b', 'c']) arrive(name)
  tick(200)
  expect(begun).toEqual(['a', 'b'])
  tick(100)
  expect(begun).toEqual(['a', 'b', 'c'])
  end('a')
  expect(turns.numbers()).toMatchObject({ underWay: 1, waiting: 0 })
})

test('of a narrow lane one is under way at a time, and counts as one; other lanes and callers go on', () => {
  open(3)
  for (const name of ['a1', 'a2']) arrive(name, { lane: 'long', weight: 50, isNarrow: true })
  expect([begun, turns.numbers().underWay]).toEqual([['a1'], 1])
  arrive('a3')
  arrive('b1', { caller: 'B', lane: 'long', weight: 50, isNarrow: true })
  expect(begun).toEqual(['a1', 'a3', 'b1'])
  // It stays the only one however long it takes.
  tick(4000)
  expect(begun).toEqual(['a1', 'a3', 'b1'])
  end('a1')
  expect(begun).toEqual(['a1', 'a3', 'b1', 'a2'])
})

test('one whose caller has left takes no turn', () => {
  open(1)
  arrive('a')
  turns.wait({ caller: 'A', lane: '/' }, () => false)
  arrive('b')
  end('a')
  expect(begun).toEqual(['a', 'b'])
})

test('nobody is refused for a share: only what has waited for five seconds, or when memory ends', () => {
  open(1)
  arrive('first', { caller: 'B' })
  for (let count = 0; count < 1000; count += 1) arrive(`a${count}`)
  expect(refused).toEqual([])
  // One ends in each tick; the rest waits.
  for (let count = 0; count < 49; count += 1) {
    end(begun.at(-1) ?? '')
    tick(100)
  }
  expect([begun.length, refused]).toEqual([50, []])
  tick(100)
  expect([refused.length, turns.numbers().waiting]).toEqual([951, 0])
  isMemoryShort = true
  arrive('short')
  expect(refused.at(-1)).toBe('short')
  expect(turns.numbers().shed).toEqual({ wait: 951, memory: 1 })
})
