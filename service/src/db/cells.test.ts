import { expect, test } from 'vitest'
import { uuids } from './binary-array.ts'
import { cellNamed, cellsNamed } from './cells.ts'

const [ONE, OTHER, NEXT, UNKNOWN] = Array.from({ length: 4 }, () => crypto.randomUUID())
const node = { host: '127.0.0.1', port: 5432 }
const map = {
  nodes: new Map([
    ['cell_1', node],
    ['cell_2', node],
  ]),
  partners: new Map([
    [`${ONE}`, 'cell_2'],
    [`${NEXT}`, 'cell_2'],
    [`${OTHER}`, 'cell_1'],
  ]),
}

test.each([
  ['a value', ['u1', ONE, 7, null], 'cell_2'],
  ['a list', [[UNKNOWN, OTHER]], 'cell_1'],
  ['a list as the database reads it', [uuids([ONE ?? '', null, NEXT])], 'cell_2'],
  ['what belongs to no partner', ['00000000-0000-0000-0000-000000000000'], 'cell_1'],
  ['a value beside the id of no user', [ONE, '00000000-0000-0000-0000-000000000000'], 'cell_2'],
  ['nobody who is known', [UNKNOWN, Buffer.alloc(40), Buffer.alloc(0)], undefined],
])('a statement goes to the cell of the partner that it names: %s', (_, values, cell) => {
  expect(cellNamed({ values }, map)).toBe(cell)
})

test('a statement that names partners of several cells goes to none', () => {
  const values = [[ONE], uuids([OTHER])]
  expect([...cellsNamed({ values }, map)]).toEqual(['cell_2', 'cell_1'])
  expect(() => cellNamed({ values }, map)).toThrow('several cells')
})
