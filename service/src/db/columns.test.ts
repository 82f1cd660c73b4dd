import { expect, test } from 'vitest'
import { type Columns, column, rowsOf } from './columns.ts'
import { sql } from './sql.ts'

const seven: Columns<string> = { count: column.integer(() => 7), name: column.text(name => name) }

test('what all rows have in common is bound as a plain value', () => {
  const select = (names: string[]) => {
    const rows = rowsOf(seven, names)
    const { text, values } = sql`select * from ${rows} where name <> ${'x'}`
    return { text, values: values.map(value => (value instanceof Buffer ? 'an array' : value)) }
  }
  expect(select(['a'])).toEqual({
    text: 'select * from (select $1::integer as count, $2::text as name) as row where name <> $3',
    values: [7, 'a', 'x'],
  })
  expect(select(['a', 'b'])).toEqual({
    text: 'select * from (select $1::integer as count, name from unnest($2::text[]) as own (name)) as row where name <> $3',
    values: [7, 'an array', 'x'],
  })
  // Without an array nothing would say how many rows there are.
  expect(select(['a', 'a'])).toEqual({
    text: 'select * from (select count, $1::text as name from unnest($2::integer[]) as own (count)) as row where name <> $3',
    values: ['a', 'an array', 'x'],
  })
})

test('rows take few forms, however much they have in common', () => {
  const columns: Columns<number[]> = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name, place) => [
      name,
      column.integer((row: number[]) => row[place]),
    ]),
  )
  const texts = new Set<string>()
  for (let common = 0; common < 64; common += 1) {
    const rows = [[1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5].map(place => 1 + ((common >> place) & 1))]
    texts.add(sql`select * from ${rowsOf(columns, rows)}`.text)
  }
  expect(texts.size).toBeLessThanOrEqual(17)
  expect([...texts].at(-1)).toMatch(/^select \* from unnest\(/)
})
