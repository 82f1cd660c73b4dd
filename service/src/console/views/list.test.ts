import { expect, test } from 'vitest'
import { type List, listLines, listTable, ROWS_A_PAGE, sortedRows } from './list.ts'

type Row = { name: string; size: number }

const rows = Array.from(
  { length: ROWS_A_PAGE + 11 },
  (_, at): Row => ({ name: `row ${at}`, size: (at * 7) % 61 }),
)
const list: List<Row> = {
  path: '/rows',
  caption: 'Rows',
  empty: 'None.',
  rows,
  filters: { state: 'all' },
  columns: [
    { name: 'name', label: 'Name', cell: row => row.name, value: row => row.name },
    { name: 'size', label: 'Size', cell: row => row.size, value: row => row.size },
  ],
}

test('a list is sorted by numbers as numbers, one way and the other, and by an unknown column not at all', () => {
  const sizes = (sort: string) => sortedRows(list, new URLSearchParams({ sort })).map(({ size }) => size)
  const upwards = rows.map(({ size }) => size).sort((a, b) => a - b)
  expect(sizes('size')).toEqual(upwards)
  expect(sizes('-size')).toEqual(upwards.toReversed())
  expect(sizes('no such')).toEqual(rows.map(({ size }) => size))
})

test('a list is paged, no page is beyond the last, and its links keep sort and filter', () => {
  const shown = (query: string) => listTable(list, new URLSearchParams(query)).markup
  const rowsIn = (markup: string) => markup.match(/<tr><td>/g)?.length ?? 0
  expect(rowsIn(shown(''))).toBe(ROWS_A_PAGE)
  for (const query of ['page=2', 'page=99']) {
    expect(rowsIn(shown(query))).toBe(11)
    expect(shown(query)).toContain(`Page 2 of 2, ${rows.length} in all`)
  }
  expect(rowsIn(shown('page=-1'))).toBe(ROWS_A_PAGE)
  expect(shown('sort=-size')).toContain('href="/rows?state=all&amp;sort=-size&amp;page=2"')
  expect(shown('sort=-size')).toContain('aria-sort="descending"')
})

test('a file has all rows in their order, and no cell that a spreadsheet would run', () => {
  const file = listLines({ ...list, rows: [{ name: '=1+1', size: 1 }, ...rows] }, new URLSearchParams())
  const lines = file.split('\r\n')
  expect(lines.slice(0, 2)).toEqual(['name,size', "'=1+1,1"])
  expect(lines).toHaveLength(rows.length + 3)
})
