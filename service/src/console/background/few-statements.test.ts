import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { withFewStatements } from './few-statements.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A database whose statements run until they are ended, and how many have begun and run. */
function openSlowDatabase() {
  const ends: (() => void)[] = []
  const begun = { count: 0 }
  const database = withFewStatements({
    query: () => {
      begun.count += 1
      return new Promise(resolve => ends.push(() => resolve([])))
    },
  } as unknown as Database)
  const ask = (count: number) => Array.from({ length: count }, () => database.query(sql`select 1`))
  return { ask, begun, endFirst: () => ends.shift()?.() }
}

test('short statements run one after the other, and none is left out', async () => {
  const { ask, begun, endFirst } = openSlowDatabase()
  const asked = ask(5)
  for (let number = 1; number <= 5; number += 1) {
    await vi.advanceTimersByTimeAsync(5)
    expect(begun.count).toBe(number)
    endFirst()
  }
  expect(await Promise.all(asked)).toHaveLength(5)
  const [later] = ask(1)
  endFirst()
  expect(await later).toEqual([])
})

test('beside a long statement others run, two at a time at most', async () => {
  const { ask, begun, endFirst } = openSlowDatabase()
  const asked = ask(6)
  await vi.advanceTimersByTimeAsync(1000)
  expect(begun.count).toBe(2)
  // The first is still running; each that ends lets in one of those that have waited for long.
  endFirst()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun.count).toBe(3)
  for (let number = 0; number < 5; number += 1) {
    endFirst()
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(await Promise.all(asked)).toHaveLength(6)
})
