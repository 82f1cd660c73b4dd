import { beforeEach, expect, test } from 'vitest'
import { openTurns, type Turns } from './turns.ts'

let turns: Turns
let begun: string[]
let ends: (() => void)[]
beforeEach(() => {
  turns = openTurns({ atOnce: 2, longestTicks: 3, patienceTicks: 50 })
  begun = []
  ends = []
})

/** A request of a partner arrives, and begins at once or waits, as at the door. */
function arrive(name: string, partnerId = 'A') {
  const request = { name }
  const begin = (end?: () => void) => {
    begun.push(name)
    if (end) ends.push(end)
    return true
  }
  if (turns.isOpen()) begin(turns.begin(request))
  else turns.wait(partnerId, request, begin)
}
/** The request that began longest ago ends. */
function endOne() {
  ends.shift()?.()
}

test('as many begin as may be under way; the others begin in order as these end', () => {
  for (const name of ['a', 'b', 'c', 'd']) arrive(name)
  expect(begun).toEqual(['a', 'b'])
  endOne()
  expect(begun).toEqual(['a', 'b', 'c'])
  endOne()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('partners take turns, so that the many of one delay the few of another by one request', () => {
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) arrive(name)
  arrive('b1', 'B')
  arrive('b2', 'B')
  arrive('c1', 'C')
  for (let count = 0; count < 9; count += 1) endOne()
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5', 'a6'])
})

test('who comes while others wait does not overtake them', () => {
  for (const name of ['a', 'b', 'c']) arrive(name)
  turns.tick()
  turns.tick()
  turns.tick()
  arrive('d')
  arrive('e')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

test('many that end together let only as many begin as may be under way', () => {
  for (let count = 0; count < 20; count += 1) arrive(String(count))
  endOne()
  endOne()
  expect(begun).toHaveLength(4)
  expect(turns.waiting()).toBe(16)
})

test('a request that waited is counted once', () => {
  const request = {}
  arrive('a')
  arrive('b')
  turns.wait('A', request, end => ends.push(end ?? (() => {})) > 0)
  endOne()
  expect(turns.begin(request)).toBeUndefined()
  expect(turns.begin({})).toBeDefined()
})

test('what is no longer there to begin takes no turn', () => {
  arrive('a')
  arrive('b')
  turns.wait('A', {}, () => false)
  arrive('c')
  endOne()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('what is no longer there to begin does not cost its partner the turn', () => {
  arrive('a1')
  arrive('a2')
  for (let count = 0; count < 1000; count += 1) turns.wait('B', {}, () => false)
  arrive('b', 'B')
  for (const name of ['a3', 'a4', 'a5']) arrive(name)
  endOne()
  endOne()
  expect(begun).toEqual(['a1', 'a2', 'b', 'a3'])
})

test('of a partner that waits with many, among many partners, those that have waited for too long are given up', () => {
  turns = openTurns({ atOnce: 1, longestTicks: 1000, patienceTicks: 50 })
  const givenUp: string[] = []
  const wait = (partnerId: string) =>
    turns.wait(partnerId, {}, end => {
      if (end) ends.push(end)
      else givenUp.push(partnerId)
      return end !== undefined
    })
  arrive('first')
  for (let count = 0; count < 30; count += 1) wait('A')
  // One request ends in each tick, and each time other partners come, so that it is A's turn once in four ticks.
  for (let tick = 0; tick < 49; tick += 1) {
    if (tick % 4 === 0) for (const partnerId of ['B', 'C', 'D']) wait(partnerId)
    endOne()
    turns.tick()
  }
  expect(givenUp).toEqual([])
  turns.tick()
  expect(givenUp).toEqual(Array.from({ length: 17 }, () => 'A'))
})

test('a request that takes long no longer keeps others from beginning, and may end at any time', () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) arrive(name)
  turns.tick()
  turns.tick()
  expect(begun).toEqual(['a', 'b'])
  turns.tick()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  endOne()
  endOne()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  endOne()
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a thousand that wait begin in order', () => {
  const names = Array.from({ length: 1000 }, (_, index) => String(index))
  for (const name of names) arrive(name)
  for (const _ of names) endOne()
  expect(begun).toEqual(names)
  expect(turns.waiting()).toBe(0)
})
