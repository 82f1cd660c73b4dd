import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fragment, nothing, readTimestamp, sql } from './sql.ts'

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

test('every instant is read as it is from the text that PostgreSQL writes, finer parts cut off', () => {
  const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  const micros = fc.integer({ min: 0, max: 999 })
  fc.assert(
    fc.property(instants, micros, (date, micro) => {
      const whole = date.toISOString().slice(0, 19).replace('T', ' ')
      const digits = date.toISOString().slice(20, 23) + String(micro).padStart(3, '0')
      const fraction = digits.replace(/0+$/, '')
      expect(readTimestamp(`${whole}${fraction && `.${fraction}`}+00`)).toBe(date.getTime())
    }),
  )
})

test.each([
  ['2026-03-01 10:00:00+00', '2026-03-01T10:00:00Z'],
  ['2026-03-01 10:00:00.5-05', '2026-03-01T15:00:00.500Z'],
])('%j is %s', (text, iso) => {
  expect(readTimestamp(text)).toBe(Date.parse(iso))
})

test.each(['infinity', '-infinity', '0044-03-15 12:00:00+00 BC', ''])('%j is no instant', text => {
  expect(readTimestamp(text)).toBeNaN()
})
