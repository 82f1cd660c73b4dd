import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'
import { readCsv } from './read-csv.ts'

function cells(text: string) {
  return [...readCsv(text)].map(row => row.cells)
}

test('cells are read as they were written, whatever is in them', () => {
  const cell = fc.string().map(text => text.replace(/^[=+\-@\t\r]+/, '').replaceAll('\r', ''))
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1 })
  fc.assert(
    fc.property(rows, fc.constantFrom('\n', '\r\n'), (written, end) => {
      expect(cells(written.map(row => csvLine(row)).join(end))).toEqual(written)
    }),
  )
})

test('a row knows its line, and a file may have another delimiter, empty lines and a byte order mark', () => {
  const text = '\ufeffA;B\r\n"1\n2";x\r\n\r\nlast;""\r\n'
  expect([...readCsv(text, ';')]).toEqual([
    { line: 1, cells: ['A', 'B'] },
    { line: 2, cells: ['1\n2', 'x'] },
    { line: 5, cells: ['last', ''] },
  ])
})
