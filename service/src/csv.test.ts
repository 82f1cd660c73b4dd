import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

test('a cell is quoted only where it must be', () => {
  expect(csvLine(['Ada', 'Rivera, Jr.', 'say "hi"', 3])).toBe('Ada,"Rivera, Jr.","say ""hi""",3')
})

test('no text becomes a formula', () => {
  fc.assert(
    fc.property(fc.constantFrom('=', '+', '-', '@', '\t', '\r'), fc.string(), (sign, rest) => {
      expect(csvLine([sign + rest])).toMatch(/^"?'/)
    }),
  )
})

test('whatever the cells hold, they come back, each with its apostrophe at most', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), cells => {
      const read = [...`${csvLine(cells)},`.matchAll(/(?:"((?:[^"]|"")*)"|([^",]*)),/g)].map(
        ([, quoted, plain]) => (quoted === undefined ? plain : quoted.replaceAll('""', '"')),
      )
      expect(read.map((cell, index) => (cell === cells[index] ? cell : cell?.slice(1)))).toEqual(cells)
    }),
  )
})
