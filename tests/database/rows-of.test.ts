import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Columns, column, rowsOf } from '../../service/src/db/columns.ts'
import { sql } from '../../service/src/db/sql.ts'
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

const columns: Columns<Row> = {
  id: column.uuid(({ id }) => id ?? undefined),
  name: column.text(({ name }) => name),
  count: column.integer(({ count }) => count ?? undefined),
  at: column.instant(({ at }) => at ?? undefined),
  blob: column.bytes(({ blob }) => blob ?? undefined),
  paper: column.json(({ paper }) => paper ?? undefined),
}

function selected(rows: readonly Row[]): Promise<Row[]> {
  return database.query(sql`select * from ${rowsOf(columns, rows)}`)
}

test('a row arrives as it is, whether it is bound alone or with others', async () => {
  await fc.assert(
    fc.asyncProperty(row, row, async (one, other) => {
      expect(await selected([one])).toEqual([one])
      expect(await selected([one, other])).toEqual([one, other])
      expect(await selected([one, one, one])).toEqual([one, one, one])
    }),
    { numRuns: 60 },
  )
})

test('rows that have something in common arrive as they are', async () => {
  const names = ['id', 'name', 'count', 'at', 'blob', 'paper'] as const
  await fc.assert(
    fc.asyncProperty(row, row, fc.subarray([...names]), async (one, other, shared) => {
      const alike = { ...other, ...Object.fromEntries(shared.map(name => [name, one[name]])) } as Row
      expect(await selected([one, alike])).toEqual([one, alike])
    }),
    { numRuns: 100 },
  )
})
