import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { ada, startTestService } from '../rig.ts'

const hour = 3_600_000

test('a service on an embedded database rewrites the table of keys by itself, within a day of an erasure', async () => {
  await using service = await startTestService({ rewritesKeys: true })
  const { database } = service
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'stays', ...ada, offername: 'plus' })
  const fileOf = async () => {
    const [row] = await database.query<{ file: string; scrubbed: boolean[] }>(sql`
      select pg_relation_filepath('data_keys') as file,
        (select array_agg(scrubbed_at is not null order by erased_at) from erasures) as scrubbed`)
    return row
  }
  const unused = await fileOf()
  await client.createUser({ userid: 'erased', ...ada, offername: 'plus' })
  await client.eraseUser({ userid: 'erased' })
  const passed = async (hours: number) => {
    service.advance(hours * hour)
    await service.service().runDue()
    return fileOf()
  }
  // A table without deleted keys is left alone, and erasures of half a day share one rewrite.
  expect(await passed(11)).toEqual({ file: unused?.file, scrubbed: [false] })
  const after = await passed(12)
  expect(after?.scrubbed).toEqual([true])
  expect(after?.file).not.toBe(unused?.file)
  expect(await passed(24)).toEqual(after)
  expect(await client.getUser({ userid: 'stays' })).toMatchObject({ status: 'active' })
})
