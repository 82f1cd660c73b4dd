import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { fragment, sql } from '../../service/src/db/sql.ts'
import { databaseUrl } from '../cluster.ts'
import { ada, startTestService, type TestService } from '../rig.ts'

const hour = 3_600_000
/** On a cluster the rows are in a table of the cell's node. */
const fileOfTable =
  inject('testServer').kind === 'cluster'
    ? fragment`(select result from run_command_on_placements('data_keys', $$ select pg_relation_filepath('%s') $$))`
    : fragment`pg_relation_filepath('data_keys')`

test('a service on an embedded database rewrites the table of keys by itself, within a day of an erasure', async () => {
  await using service = await startTestService({ rewritesKeys: true })
  const { database } = service
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'stays', ...ada, offername: 'plus' })
  const fileOf = async () => {
    const [row] = await database.query<{ file: string; scrubbed: boolean[] }>(
      sql`
      select ${fileOfTable} as file,
        (select array_agg(scrubbed_at is not null order by erased_at) from erasures) as scrubbed`,
    )
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
  // Each hour, until no open transaction can see the key any more; on a busy machine an `analyze` may be under way.
  let after = await passed(2)
  for (let hours = 14; hours < 24 && after?.scrubbed[0] === false; hours += 1) after = await passed(1)
  expect(after?.scrubbed).toEqual([true])
  expect(after?.file).not.toBe(unused?.file)
  expect(await passed(24)).toEqual(after)
  expect(await client.getUser({ userid: 'stays' })).toMatchObject({ status: 'active' })
})

test('a transaction that can still see a deleted key delays its removal to the next hour, and that is told', async () => {
  await using service = await startTestService({ rewritesKeys: true })
  const { database, logged } = service
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'erased', ...ada, offername: 'plus' })
  const isScrubbed = async () => {
    const [row] = await database.query<{ is_done: boolean }>(sql`
      select bool_and(scrubbed_at is not null) as is_done from erasures`)
    return row?.is_done
  }
  const passed = async (hours: number) => {
    service.advance(hours * hour)
    await service.service().runDue()
    return { isScrubbed: await isScrubbed(), oldest: Math.floor((await oldestOf(service)) / 3600) }
  }
  const end = await seeAllRows(service)
  await client.eraseUser({ userid: 'erased' })
  expect(await passed(13)).toEqual({ isScrubbed: false, oldest: 13 })
  expect(logged.filter(({ event }) => event === 'scrub_failed')).toHaveLength(1)
  await end()
  for (let hours = 14; hours < 24 && !(await isScrubbed()); hours += 1) await passed(1)
  expect(await passed(0)).toEqual({ isScrubbed: true, oldest: 0 })
})

test('each step of the clean-up is done although others fail, which log and metrics tell', async () => {
  await using service = await startTestService({ rewritesKeys: true })
  const { database, logged } = service
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'erased', ...ada, offername: 'plus' })
  await client.eraseUser({ userid: 'erased' })
  // For each step that is to fail, one of its tables is taken away.
  for (const table of ['webhook_endpoints', 'idempotency_keys', 'refused_creates', 'operator_links'])
    await database.script(`alter table ${table} rename to away_${table}`)
  const left = async () => {
    const [row] = await database.query(sql`
      select (select count(*) from erasures where scrubbed_at is null) as keys,
        (select count(*) from erasures where events_removed_at is null) as erasures_with_events,
        (select count(*) from access_tokens) as tokens`)
    return row
  }
  expect(await left()).toEqual({ keys: 1, erasures_with_events: 1, tokens: 1 })
  for (let hours = 26; hours < 36; hours += 1) {
    service.advance((hours === 26 ? 26 : 1) * hour)
    await service.service().runDue()
  }
  expect(await left()).toEqual({ keys: 0, erasures_with_events: 0, tokens: 0 })
  const failed = logged.filter(({ event }) => event === 'clean_up_failed').map(({ fields }) => fields['task'])
  expect(new Set(failed)).toEqual(new Set(['expired', 'webhooks', 'refused creates', 'console']))
  const metrics = await service.service().metrics()
  expect(metrics).toContain('clean_up_failing{task="webhooks"} 1')
  expect(metrics).toContain('clean_up_failing{task="erased keys"} 0')
})

/**
 * Begins a transaction that can see all rows as they are now, on each node of a cluster, and returns what ends them. A
 * transaction that begins at the coordinator sees nothing of the nodes that it does not ask.
 */
async function seeAllRows({ address }: TestService): Promise<() => Promise<void>> {
  const server = inject('testServer')
  const nodes =
    server.kind === 'cluster' && 'url' in address
      ? server.cluster.map(node => ({ url: databaseUrl(node, new URL(address.url).pathname.slice(1)) }))
      : [address]
  const clients = await Promise.all(
    nodes.map(async node => {
      const client = new pg.Client('url' in node ? { connectionString: node.url } : node)
      await client.connect()
      await client.query('begin isolation level repeatable read')
      await client.query('select 1 from pg_class')
      return client
    }),
  )
  return async () => {
    await Promise.all(clients.map(client => client.end()))
  }
}

/** The metric of the oldest erasure whose key may still be in the files. */
async function oldestOf(service: TestService): Promise<number> {
  return Number(/^erased_keys_oldest_seconds (\S+)$/m.exec(await service.service().metrics())?.[1])
}
