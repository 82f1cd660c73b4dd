// @databases citus stock

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnOf } from '../../service/src/db/columns.ts'
import { rowsOf, sql } from '../../service/src/db/sql.ts'
import { oneConnection } from './one-connection.ts'

const database = oneConnection()

const text = fc.string({ unit: 'grapheme' }).filter(value => !value.includes('\0'))
const row = fc.record({
  id: fc.option(fc.uuid()),
  name: fc.option(text),
  count: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  at: fc.option(fc.integer({ min: Date.UTC(1700, 0), max: Date.UTC(9999, 0) })),
  blob: fc.option(fc.uint8Array({ maxLength: 300 }).map(value => Buffer.from(value))),
  paper: fc.option(fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean()))),
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never

function selected(rows: readonly Row[], isSpread: boolean): Promise<Row[]> {
  const bound = rowsOf(
    { isSpread },
    {
      id: columnOf.uuid(rows.map(({ id }) => id)),
      name: columnOf.text(rows.map(({ name }) => name)),
      count: columnOf.integer(rows.map(({ count }) => count)),
      at: columnOf.instant(rows.map(({ at }) => at)),
      blob: columnOf.bytes(rows.map(({ blob }) => blob)),
      paper: columnOf.document(rows.map(({ paper }) => paper && JSON.stringify(paper))),
    },
  )
  return database.query(sql`select * from ${bound}`)
}

test('a row arrives as it is, whether it is bound alone or with others, and as on a cluster', async () => {
  await fc.assert(
    fc.asyncProperty(row, row, async (one, other) => {
      expect(await selected([one], false)).toEqual([one])
      expect(await selected([one], true)).toEqual([one])
      expect(await selected([one, other], false)).toEqual([one, other])
      expect(await selected([one, other], true)).toEqual([one, other])
      expect(await selected([one, one, one], false)).toEqual([one, one, one])
    }),
    { numRuns: 60 },
  )
})

test('rows that have something in common arrive as they are', async () => {
  const names = ['id', 'name', 'count', 'at', 'blob', 'paper'] as const
  await fc.assert(
    fc.asyncProperty(row, row, fc.subarray([...names]), async (one, other, shared) => {
      const alike = { ...other, ...Object.fromEntries(shared.map(name => [name, one[name]])) } as Row
      expect(await selected([one, alike], false)).toEqual([one, alike])
    }),
    { numRuns: 100 },
  )
})
