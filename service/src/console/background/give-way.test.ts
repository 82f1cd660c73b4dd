import { expect, test, vi } from 'vitest'
import { inSlices } from './give-way.ts'

test('while pages are made, other work has a turn after each slice, which all pages share', async () => {
  let ms = 0
  vi.spyOn(performance, 'now').mockImplementation(() => ms)
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const rowsOfTurn = new Map<number, number>()
  const rows = Array.from({ length: 50 }, (_, row) => row)
  const pages = await Promise.all(
    ['one', 'another', 'a third'].map(page =>
      inSlices(rows, row => {
        // Each row takes half a millisecond.
        ms += 0.5
        rowsOfTurn.set(turn, (rowsOfTurn.get(turn) ?? 0) + 1)
        return `${row} of ${page}`
      }),
    ),
  )
  isOver = true
  vi.restoreAllMocks()
  expect(Math.max(...rowsOfTurn.values())).toBe(2)
  expect(pages.map(page => page.length)).toEqual([50, 50, 50])
  expect(pages[1]?.at(-1)).toBe('49 of another')
})
