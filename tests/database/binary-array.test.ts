import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as arrays from '../../service/src/db/binary-array.ts'
import { sql } from '../../service/src/db/sql.ts'
import { oneConnection } from './one-connection.ts'

const database = oneConnection()

/** Lists in which values and nulls also follow themselves. */
function nullable<T>(values: fc.Arbitrary<T>) {
  const run = fc.tuple(fc.option(values), fc.integer({ min: 1, max: 3 }))
  return fc
    .array(run, { maxLength: 12 })
    .map(runs => runs.flatMap(([value, times]) => Array.from({ length: times }, () => value)))
}
const text = fc.string({ unit: 'grapheme' }).filter(value => !value.includes('\0'))

test('what is sent in binary arrives as it is: any values, nulls among them, and empty arrays', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        ids: nullable(fc.uuid()),
        names: nullable(text),
        counts: nullable(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
        flags: fc.array(fc.boolean(), { maxLength: 20 }),
        instants: nullable(fc.integer({ min: Date.UTC(1700, 0), max: Date.UTC(9999, 0) })),
        blobs: nullable(fc.uint8Array({ maxLength: 300 }).map(value => Buffer.from(value))),
        papers: nullable(fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean()))),
      }),
      async sent => {
        const papers = sent.papers.map(paper => paper && JSON.stringify(paper))
        const [row] = await database.query(sql`
          select ${arrays.uuids(sent.ids)}::uuid[]::text[] as ids, ${arrays.texts(sent.names)}::text[] as names,
            ${arrays.integers(sent.counts)}::integer[] as counts, ${arrays.booleans(sent.flags)}::boolean[] as flags,
            (select coalesce(array_agg((extract(epoch from at) * 1000)::float8 order by n), '{}')
              from unnest(${arrays.timestamps(sent.instants)}::timestamptz[]) with ordinality as u (at, n)) as instants,
            ${arrays.bytes(sent.blobs)}::bytea[] as blobs, ${arrays.documents(papers)}::jsonb[]::text[] as papers`)
        const seen = row as Record<string, unknown> & { papers: (string | null)[] }
        expect({ ...seen, papers: seen.papers.map(paper => paper && JSON.parse(paper)) }).toEqual(sent)
      },
    ),
    { numRuns: 60 },
  )
})

test('what is no UUID is refused before it is sent', () => {
  expect(() => arrays.uuids(['019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f0'])).toThrow(RangeError)
  expect(() => arrays.uuids(['019aa1b2-0d11-7c00-8a3e-5b6c7d8e9fxx'])).toThrow(RangeError)
})
