import { expect, inject, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { migrate, schemaState } from '../../service/src/db/migrate.ts'
import { readMigrations, tablesOf, tablesOfCells } from '../../service/src/db/migrations.ts'
import { sql } from '../../service/src/db/sql.ts'
import { ensureAttemptDays } from '../../service/src/webhooks/log/attempt-days.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, adaAsks, freshDatabase, startTestService } from '../rig.ts'
import { laterMigrations } from './made-up.ts'

const isCluster = inject('testServer').kind === 'cluster'

async function openFresh(options: { empty?: boolean } = {}): Promise<Database> {
  const { address, drop } = await freshDatabase(options)
  const database = openDatabase(address, { max: 3, ...patientDatabase })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  return database
}

test('what is in cells has the partner first in its primary key', async () => {
  const database = await openFresh()
  const inCells = await tablesOfCells()
  const rows = await database.query<{ name: string; first: string }>(sql`
    select distinct c.relname as name, a.attname as first
    from pg_index i join pg_class c on c.oid = i.indrelid
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indisprimary and c.relname = any (${inCells}::text[])`)
  const others = rows.filter(({ name, first }) => name !== 'dispatchers' && first !== 'partner_id')
  expect(rows).toHaveLength(inCells.length)
  expect(others).toEqual([])
})

test.runIf(isCluster)(
  'migrate makes the cells of a cluster, each whole on one node, and what all share on every node',
  async () => {
    const database = await openFresh({ empty: true })
    const all = (await readMigrations()).map(({ name }) => name)
    expect(await migrate(database, { cells: 1 })).toEqual(all)
    expect(await migrate(database, { cells: 2 })).toEqual(all)
    expect(await schemaState(database)).toEqual({ kind: 'current' })
    expect(await migrate(database, { cells: 2 })).toEqual([])
    const rows = await database.query<{ name: string; schema: string; kind: string }>(sql`
    select c.relname as name, n.nspname as schema, t.partmethod::text || t.repmodel::text as kind
    from pg_dist_partition t join pg_class c on c.oid = t.logicalrelid join pg_namespace n on n.oid = c.relnamespace
    where not c.relispartition`)
    const schemasOf = (table: string) => rows.filter(({ name }) => name === table).map(({ schema }) => schema)
    const wanted = {
      'in each cell': ['cell_1', 'cell_2'],
      'on every node': ['public'],
    }
    for (const [table, place] of tablesOf(await readMigrations()))
      expect([table, schemasOf(table).sort()]).toEqual([table, wanted[place]])
    const nodes = await database.query<{ cell: string; nodes: number }>(sql`
    select split_part(table_name::text, '.', 1) as cell, count(distinct nodeport)::integer as nodes
    from citus_shards where table_name::text like 'cell%' group by 1 order by 1`)
    expect(nodes).toEqual([
      { cell: 'cell_1', nodes: 1 },
      { cell: 'cell_2', nodes: 1 },
    ])
  },
)

test.runIf(isCluster)('a cell that is still being made is on no map', async () => {
  const database = await openFresh({ empty: true })
  await migrate(database, { cells: 2 })
  const seen = async () => {
    await database.learnCells()
    return database.cells().map(({ cell }) => cell)
  }
  expect(await seen()).toEqual(['cell_1', 'cell_2'])
  await database.query(sql`delete from migrations where name like 'cell_2/%'`)
  expect(await seen()).toEqual(['cell_1'])
})

test.runIf(isCluster)(
  'a later migration changes every cell, and days of the log are made, beside a service that serves',
  async () => {
    await using service = await startTestService({ cells: 2 })
    const own = openDatabase(service.address, { max: 1, ...patientDatabase })
    onTestFinished(() => own.close())
    const folder = await laterMigrations({
      '900_more.sql':
        '-- In each cell of a cluster.\nalter table users add column made_up integer;\ncreate index made_up on users (partner_id, made_up);',
    })
    expect(await migrate(own, { folder })).toEqual(['900_more.sql'])
    await own.learnCells()
    for (const cell of own.cells()) expect(await ensureAttemptDays(cell, Date.UTC(2030, 0, 1), 3)).toBe(4)
    for (let count = 0; count < 2; count += 1) {
      const { client } = await service.newPartner()
      expect(await client.prefillUser({ userid: 'u1' })).toBe('prefill saved')
    }
  },
)

test.runIf(isCluster)(
  'a userid that is the id of a partner of another cell is a userid like any other',
  async () => {
    await using service = await startTestService({ cells: 2 })
    const { client } = await service.newPartner()
    const { partnerId: userid } = await service.newPartner()
    const { serviceid } = await client.createUser({ ...ada, userid, offername: 'plus' })
    expect(await client.getUser({ userid })).toMatchObject({ userid, serviceid })
    expect(await client.getBenefits({ ...adaAsks, userid })).toBeDefined()
    expect(await client.createLinkToken({ userid, purpose: 'benefits' })).toBeDefined()
    expect((await client.listEvents({})).events.length).toBeGreaterThan(0)
  },
)
