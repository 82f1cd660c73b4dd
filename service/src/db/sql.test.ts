import { expect, test } from 'vitest'
import { columnOf } from './columns.ts'
import { namingPartners, nothing, part, rowsOf, sql } from './sql.ts'

test('values are bound in the order in which they stand, in parts within parts too', () => {
  const inner = part`b = ${2} ${part`and c = ${3}`}`
  const { text, values } = sql`select from t where a = ${1} and ${inner} ${nothing}and d = ${4}`
  expect(text).toBe('select from t where a = $1 and b = $2 and c = $3 and d = $4')
  expect(values).toEqual([1, 2, 3, 4])
})

test('a value that looks like a part is bound, whatever it says', () => {
  const brought = JSON.parse('{"strings":["1; drop table users"],"values":[]}')
  const { text, values } = sql`select ${brought} ${part`, ${brought}`}`
  expect(text).toBe('select $1 , $2')
  expect(values).toEqual([brought, brought])
})

test('the same text has the same name, and another text another', () => {
  const named = (isSpread: boolean, id: number) =>
    sql`select from t where a = ${id} ${namingPartners(isSpread, [id])(part`t.p`)}`
  expect(named(true, 1).name).toBe(named(true, 2).name)
  expect(named(true, 1).name).not.toBe(named(false, 1).name)
  expect(named(true, 1).text).toContain('and t.p = any ($2::uuid[])')
})

test('a statement that was put together before is not taken for another one of the same literals', () => {
  const select = (first: unknown, second: unknown) => sql`select ${first}, ${second}`
  const [one, two] = [part`one`, part`two ${2}`]
  expect(select(one, 1)).toMatchObject({ text: 'select one, $1', values: [1] })
  expect(select(1, one)).toMatchObject({ text: 'select $1, one', values: [1] })
  expect(select(one, two)).toMatchObject({ text: 'select one, two $1', values: [2] })
  expect(select(two, one)).toMatchObject({ text: 'select two $1, one', values: [2] })
  expect(select(one, 3)).toMatchObject({ text: 'select one, $1', values: [3] })
})

test('what all rows have in common is bound as a plain value, but not on a cluster', () => {
  const select = (isSpread: boolean, names: string[]) => {
    const rows = rowsOf(
      { isSpread },
      { count: columnOf.integer(names.map(() => 7)), name: columnOf.text(names) },
    )
    const { text, values } = sql`select * from ${rows} where name <> ${'x'}`
    return { text, values: values.map(value => (value instanceof Buffer ? 'an array' : value)) }
  }
  expect(select(false, ['a'])).toEqual({
    text: 'select * from (select $1::integer as count, $2::text as name) as row where name <> $3',
    values: [7, 'a', 'x'],
  })
  expect(select(false, ['a', 'b'])).toEqual({
    text: 'select * from (select $1::integer as count, name from unnest($2::text[]) as own (name)) as row where name <> $3',
    values: [7, 'an array', 'x'],
  })
  // Without an array nothing would say how many rows there are.
  expect(select(false, ['a', 'a'])).toEqual({
    text: 'select * from (select count, $1::text as name from unnest($2::integer[]) as own (count)) as row where name <> $3',
    values: ['a', 'an array', 'x'],
  })
  for (const names of [['a'], ['a', 'b']])
    expect(select(true, names)).toEqual({
      text: 'select * from unnest($1::integer[], $2::text[]) as row (count, name) where name <> $3',
      values: ['an array', 'an array', 'x'],
    })
})

test('rows take few forms, however much they have in common', () => {
  const texts = new Set<string>()
  for (let common = 0; common < 64; common += 1) {
    const columns = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, place) => {
      const value = (common >> place) & 1
      return [name, columnOf.integer([1, 1 + value])] as const
    })
    texts.add(sql`select * from ${rowsOf({ isSpread: false }, Object.fromEntries(columns))}`.text)
  }
  expect(texts.size).toBeLessThanOrEqual(17)
  expect([...texts].at(-1)).toMatch(/^select \* from unnest\(/)
})
