import { expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { migrate } from '../../service/src/db/migrate.ts'
import { sql } from '../../service/src/db/sql.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, adaAsks, freshDatabase, startTestService } from '../rig.ts'
import { brief, laterMigrations } from './made-up.ts'

async function openFresh(max = 2): Promise<Database> {
  const { address, drop } = await freshDatabase()
  const database = openDatabase(address, { max, ...patientDatabase })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  return database
}

async function columnsOf(database: Database, table: string): Promise<string[]> {
  const rows = await database.query<{ name: string }>(sql`
    select attname as name from pg_attribute where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped`)
  return rows.map(row => row.name)
}

/** Reads a table in a transaction that stays open, so that nobody can change the table's shape. */
async function holdTable(database: Database): Promise<() => Promise<void>> {
  let letGo = () => {}
  const released = new Promise<void>(resolve => {
    letGo = resolve
  })
  let ended: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    ended = database.transaction(async tx => {
      await tx.query(sql`select set_config('idle_in_transaction_session_timeout', '0', true)`)
      await tx.query(sql`select count(*) from users`)
      resolve()
      await released
    })
    ended.catch(reject)
  })
  onTestFinished(letGo)
  return () => {
    letGo()
    return ended
  }
}

test('a migration that waits for a table lets every request through, and is applied once the table is free', async () => {
  await using service = await startTestService()
  const { client } = await service.newPartner()
  const folder = await laterMigrations({ '900_column.sql': 'alter table users add column made_up integer;' })
  const release = await holdTable(service.database)
  let waited = 0
  const own = openDatabase(service.address, { max: 1, ...patientDatabase })
  const done = migrate(own, { folder, patience: brief, onHeldUp: () => (waited += 1) })
  for (let number = 1; number <= 5; number += 1) {
    const before = waited
    await expect.poll(() => waited).toBeGreaterThan(before)
    expect(await client.prefillUser({ userid: `u${number}`, ...ada })).toBe('prefill saved')
    expect(await client.getBenefits({ userid: `u${number}`, ...adaAsks })).not.toHaveLength(0)
  }
  expect(await columnsOf(service.database, 'users')).not.toContain('made_up')
  await release()
  expect(await done).toEqual(['900_column.sql'])
  expect(await columnsOf(service.database, 'users')).toContain('made_up')
  await own.close()
})

test('a migration whose table is never given up is refused in a sentence and changes nothing', async () => {
  const database = await openFresh(3)
  const folder = await laterMigrations({
    '900_two.sql': 'create table made_up (one integer);\nalter table users add column made_up integer;',
  })
  const release = await holdTable(database)
  await expect(migrate(database, { folder, patience: { ...brief, tries: 3 } })).rejects.toThrow(
    /^900_two\.sql could not be applied: .* at each of 3 attempts\. .*run `enrolment migrate` again\.$/,
  )
  await release()
  expect(await columnsOf(database, 'made_up')).toEqual([])
  expect(await migrate(database, { folder })).toEqual(['900_two.sql'])
  expect(await columnsOf(database, 'made_up')).toEqual(['one'])
})

test('each file is applied whole or not at all, and those before a broken one stay', async () => {
  const database = await openFresh()
  const files = { '900_good.sql': 'create table good (one integer);' }
  const broken = await laterMigrations({
    ...files,
    '901_bad.sql': 'create table bad (one integer);\nalter table nowhere add column one integer;',
  })
  await expect(migrate(database, { folder: broken })).rejects.toMatchObject({ code: '42P01' })
  expect(await columnsOf(database, 'good')).toEqual(['one'])
  expect(await columnsOf(database, 'bad')).toEqual([])
  const mended = await laterMigrations({ ...files, '901_bad.sql': 'create table bad (one integer);' })
  expect(await migrate(database, { folder: mended })).toEqual(['901_bad.sql'])
  expect(await columnsOf(database, 'bad')).toEqual(['one'])
})

test('an index is made concurrently outside a transaction, and one that was broken off is made anew', async () => {
  const database = await openFresh()
  const folder = await laterMigrations({
    '900_table.sql': 'create table made_up (one integer);\ninsert into made_up values (1), (1);',
    '901_index.sql': [
      '-- no transaction',
      '-- Found by what it counts; an invalid one; is left by a run that was broken off.',
      'drop index concurrently if exists made_up_one;',
      'create unique index concurrently made_up_one on made_up (one);',
    ].join('\n'),
  })
  await expect(migrate(database, { folder })).rejects.toMatchObject({ code: '23505' })
  const isValid = async () => {
    const [row] = await database.query<{ valid: boolean }>(
      sql`select indisvalid as valid from pg_index where indexrelid = to_regclass('made_up_one')`,
    )
    return row?.valid
  }
  expect(await isValid()).toBe(false)
  await database.query(sql`delete from made_up where ctid = (select min(ctid) from made_up)`)
  // Two at once: the index must not wait for the one that waits for its turn.
  const both = await Promise.all([migrate(database, { folder }), migrate(database, { folder })])
  expect(both.flat()).toEqual(['901_index.sql'])
  expect(await isValid()).toBe(true)
})

test('a service of the version before goes on, statement by statement, while the next version expands the schema', async () => {
  await using service = await startTestService()
  const { client } = await service.newPartner()
  const work = async (userid: string) => {
    expect(await client.prefillUser({ userid, ...ada })).toBe('prefill saved')
    await client.createUser({ userid, offername: 'starter' })
    expect(await client.getBenefits({ userid, ...adaAsks })).not.toHaveLength(0)
    await client.getUser({ userid })
    await client.cancelUser({ userid })
  }
  // Plans are made and kept before the schema changes.
  for (let number = 1; number <= 6; number += 1) await work(`before${number}`)
  const own = openDatabase(service.address, { max: 1, ...patientDatabase })
  const folder = await laterMigrations({
    '900_expand.sql': [
      ...[
        'users',
        'sealed_records',
        'enrolments',
        'history',
        'events',
        'deliveries',
        'idempotency_keys',
      ].flatMap(table => [
        `alter table ${table} add column made_up integer not null default 7;`,
        `alter table ${table} add constraint made_up_${table} check (made_up > 0) not valid;`,
      ]),
      'create table made_up (partner_id uuid not null, one integer, primary key (partner_id));',
    ].join('\n'),
    '901_index.sql':
      '-- no transaction\ndrop index concurrently if exists made_up_users;\ncreate index concurrently made_up_users on users (partner_id, made_up);\nalter table users validate constraint made_up_users;',
  })
  let isDone = false
  const done = migrate(own, { folder, patience: brief }).finally(() => {
    isDone = true
  })
  let count = 0
  for (; !isDone; count += 1) await work(`during${count}`)
  expect(await done).toEqual(['900_expand.sql', '901_index.sql'])
  for (let number = 1; number <= 6; number += 1) await work(`after${number}`)
  const [row] = await service.database.query<{ made: number }>(
    sql`select count(*) filter (where made_up = 7) as made from users`,
  )
  expect(row?.made).toBe(12 + count)
  await own.close()
})
