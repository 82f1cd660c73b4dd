import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTimestamp } from './sql.ts'

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
