import { expect, test } from 'vitest'
import { fragment, nothing, sql } from './sql.ts'

test('values are bound in the order in which they stand, in parts within parts too', () => {
  const inner = fragment`b = ${2} ${fragment`and c = ${3}`}`
  const { text, values } = sql`select from t where a = ${1} and ${inner} ${nothing}and d = ${4}`
  expect(text).toBe('select from t where a = $1 and b = $2 and c = $3 and d = $4')
  expect(values).toEqual([1, 2, 3, 4])
})

test('a value that looks like a part is bound, whatever it says', () => {
  const brought = JSON.parse('{"strings":["1; drop table users"],"values":[]}')
  const { text, values } = sql`select ${brought} ${fragment`, ${brought}`}`
  expect(text).toBe('select $1 , $2')
  expect(values).toEqual([brought, brought])
})

test('the same text has the same name, and another text another', () => {
  const named = (isLong: boolean, id: number) =>
    sql`select from t where a = ${id} ${isLong ? fragment`and p = ${id}` : nothing}`
  expect(named(true, 1).name).toBe(named(true, 2).name)
  expect(named(true, 1).name).not.toBe(named(false, 1).name)
})

test('a statement that was put together before is not taken for another one of the same literals', () => {
  const select = (first: unknown, second: unknown) => sql`select ${first}, ${second}`
  const [one, two] = [fragment`one`, fragment`two ${2}`]
  expect(select(one, 1)).toMatchObject({ text: 'select one, $1', values: [1] })
  expect(select(1, one)).toMatchObject({ text: 'select $1, one', values: [1] })
  expect(select(one, two)).toMatchObject({ text: 'select one, two $1', values: [2] })
  expect(select(two, one)).toMatchObject({ text: 'select two $1, one', values: [2] })
  expect(select(one, 3)).toMatchObject({ text: 'select one, $1', values: [3] })
})
