// @databases citus stock

import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { failureOf, isUnavailable } from '../../service/src/db/failure.ts'
import { migrate } from '../../service/src/db/migrate.ts'
import { spreadState } from '../../service/src/db/spread.ts'
import { sql } from '../../service/src/db/sql.ts'
import { tableDistribution } from '../../service/src/db/table-distribution.ts'
import { ensureAttemptDays } from '../../service/src/webhooks/log/attempt-days.ts'
import { databaseUrl, onNode } from '../cluster.ts'
import { newWorkplace } from '../command/place.ts'
import { runJson } from '../command/process.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase, startTestService } from '../rig.ts'
import { laterMigrations } from './made-up.ts'

// Only catches a hang: spreading moves many tables.
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

/** Citus's name for the parts of a table on a node. */
const shardName = '_[0-9]{6,}$'

async function tablesOf(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(sql`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname !~ ${shardName}`)
  return rows.map(row => row.name)
}

test('every table has its distribution on a cluster, and none is kept for a table that is gone', async () => {
  const database = await openFresh()
  expect([...tableDistribution.keys()].sort()).toEqual((await tablesOf(database)).sort())
})

test('what is spread by partner has the partner first in its primary key', async () => {
  const database = await openFresh()
  const rows = await database.query<{ name: string; first: string }>(sql`
    select i.indrelid::regclass::text as name, a.attname as first
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indisprimary and i.indrelid::regclass::text = any (${[...tableDistribution.keys()]}::text[])`)
  const first = new Map(rows.map(row => [row.name, row.first]))
  for (const [name, distribution] of tableDistribution)
    if (distribution === 'by partner') expect([name, first.get(name)]).toEqual([name, 'partner_id'])
})

test.runIf(isCluster)(
  'a node that is stopped while rows are copied to it is a database that is away, and a key taken there a lost race',
  async () => {
    const database = await openFresh()
    const server = inject('testServer')
    const [{ name } = { name: '' }] = await database.query<{ name: string }>(
      sql`select current_database() as name`,
    )
    const [coordinator = '', ...workers] = (server.kind === 'cluster' ? server.cluster : []).map(node =>
      databaseUrl(node, name),
    )
    await database.script(`
      create table copied (partner_id uuid, number int, primary key (partner_id, number));
      select create_distributed_table('copied', 'partner_id')`)
    const partners = [crypto.randomUUID(), crypto.randomUUID()]
    const copy = () =>
      database.query(sql`
        insert into copied select partner_id, 1 from unnest(${partners}::uuid[]) as given (partner_id)`)
    const holder = new pg.Client({ connectionString: coordinator })
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query('begin')
    await holder.query('insert into copied values ($1, 1)', [partners[0]])
    const failed = expect(copy()).rejects.toSatisfy(error => {
      const { code, message } = error as pg.DatabaseError
      // Otherwise the coordinator reports it as what it is, and this test shows nothing.
      expect([code, message]).toEqual(['XX000', 'terminating connection due to administrator command'])
      return isUnavailable(error)
    })
    const end = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    const ended = async () => (await Promise.all(workers.map(worker => onNode(worker, end)))).flat().length
    await expect.poll(ended, { timeout: 60_000 }).toBe(1)
    await failed
    await holder.query('commit')
    await expect(copy()).rejects.toSatisfy(error => failureOf(error).lostRace)
  },
)

test.runIf(!isCluster)('plain PostgreSQL is told apart', async () => {
  const { place, remove } = await newWorkplace()
  onTestFinished(remove)
  expect(await runJson(['migrate'], place)).toEqual({ ok: true, applied: [], layout: 'plain' })
})

async function distributionOf(database: Database): Promise<Record<string, string>> {
  const rows = await database.query<{ name: string; distribution: string }>(sql`
    select t.name, case when d.partmethod = 'n' then 'on every node'
      when d.partmethod = 'h' and d.colocationid =
        (select colocationid from pg_dist_partition where logicalrelid = 'users'::regclass) then 'by partner'
      when d.partmethod is null then 'on the coordinator' else 'elsewhere' end as distribution
    from unnest(${[...tableDistribution.keys()]}::text[]) as t (name)
    left join pg_dist_partition d on d.logicalrelid = t.name::regclass`)
  return Object.fromEntries(rows.map(row => [row.name, row.distribution]))
}
function foreignKeys(database: Database) {
  return database.query(sql`
    select conrelid::regclass::text as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace
      and conrelid::regclass::text !~ ${shardName}
    order by 1, 2`)
}

test.runIf(isCluster)('migrate distributes every table as it makes it, foreign keys included', async () => {
  const database = await openFresh({ empty: true })
  await migrate(database)
  expect(await spreadState(database)).toBe('spread')
  expect(await distributionOf(database)).toEqual(Object.fromEntries(tableDistribution))
  expect((await foreignKeys(database)).length).toBeGreaterThan(3)
})

test.runIf(isCluster)('the days of the log of attempts are made and dropped on every node', async () => {
  const database = await openFresh()
  await ensureAttemptDays(database, Date.UTC(2030, 0, 1), 3)
  const days = await database.query(sql`
    select 1 from pg_dist_partition where logicalrelid::text like 'delivery_attempts_2030%'`)
  expect(days).toHaveLength(4)
})

test.runIf(isCluster)(
  'a later migration spreads the table it makes, beside a service that serves',
  async () => {
    await using service = await startTestService()
    const own = openDatabase(service.address, { max: 1, ...patientDatabase })
    onTestFinished(() => own.close())
    const folder = await laterMigrations({
      '900_more.sql':
        'alter table users add column made_up integer;\ncreate index made_up on users (partner_id, made_up);',
    })
    expect(await migrate(own, { folder })).toEqual(['900_more.sql'])
    const { client } = await service.newPartner()
    expect(await client.prefillUser({ userid: 'u1' })).toBe('prefill saved')
  },
)
