// @databases stock

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Database, type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { readMigrations } from '../../service/src/db/migrations.ts'
import { sql } from '../../service/src/db/sql.ts'
import { type Created, clientOf, newWorkplace, type Workplace } from '../command/place.ts'
import { root, run, runJson, runRefused, startProcess } from '../command/process.ts'
import { wholeRunTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, adaAsks } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'

// Only catches a hang: each test runs many processes, on a machine that may be busy.
const catalogue = join(root, 'service/assets/demo-catalogue.yaml')
const names = (await readMigrations()).map(({ name }) => name)
const lastName = names.at(-1) ?? ''

function open(address: DatabaseAddress): Database {
  const database = openDatabase(address, { max: 2, ...patientDatabase })
  onTestFinished(() => database.close())
  return database
}

async function workplace(
  options: { empty?: boolean } = {},
): Promise<{ place: Workplace; database: Database; address: DatabaseAddress }> {
  const { place, address, remove } = await newWorkplace({}, options)
  onTestFinished(remove)
  return { place, address, database: open(address) }
}

async function applied(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(sql`select name from migrations order by name`)
  return rows.map(row => row.name)
}

test('a schema from the future is refused in a sentence by every command, and stays as it is', async () => {
  const { place, database } = await workplace()
  await database.query(sql`insert into migrations values ('999_later.from-99.0.sql', now())`)
  for (const words of [
    ['partner', 'list'],
    ['partner', 'create', '--name', 'Corner Bank'],
    ['migrate'],
    ['maintain'],
  ])
    expect(await runRefused(words, place)).toBe(
      'The schema of this database is newer than this version of the service, which needs what 999_later.from-99.0.sql took away: install the version that made it.',
    )
  const served = await run(['serve', '--port', '0'], place)
  expect(served.code).toBe(1)
  expect(served.stderr).toContain('newer than this version')
  expect(await applied(database)).toEqual([...names, '999_later.from-99.0.sql'])
})

wholeRunTest(
  'an older schema is upgraded by migrate, serve and dev alone; other commands say what to run',
  async () => {
    const { place, database } = await workplace()
    await database.query(sql`update migrations set name = '000_' || name where name = ${lastName}`)
    const before = await applied(database)
    for (const words of [
      ['partner', 'list'],
      ['partner', 'create', '--name', 'Corner Bank'],
      ['catalogue', 'publish', catalogue],
      ['keyring', 'show'],
      ['maintain'],
    ])
      expect(await runRefused(words, place)).toBe(
        `The schema of this database is older than this version of the service (${lastName} is missing): run \`enrolment migrate\`.`,
      )
    expect(await applied(database)).toEqual(before)
  },
)

test('an empty database gets its schema from `partner create` and `catalogue publish`, and from no reading command', async () => {
  for (const words of [
    ['partner', 'create', '--name', 'Corner Bank'],
    ['catalogue', 'publish', catalogue],
  ]) {
    const { place, database } = await workplace({ empty: true })
    expect(await runRefused(['partner', 'list'], place)).toBe(
      'This database is empty: run `enrolment migrate` to make the schema.',
    )
    expect(await runJson(['catalogue', 'check', catalogue], place)).toMatchObject({ ok: true })
    expect(await database.query(sql`select to_regclass('migrations') as name`)).toEqual([{ name: null }])
    await runJson(words, place)
    expect(await applied(database)).toEqual(names)
  }
})

test('migrate says what it applied, and needs no keys', async () => {
  const { place } = await workplace({ empty: true })
  const { code, stdout } = await run(['migrate'], place)
  expect({ code, lines: stdout.trim().split('\n') }).toEqual({
    code: 0,
    lines: [...names.map(name => `Applied ${name}.`), 'The schema is up to date.'],
  })
  expect(await runJson(['migrate'], place)).toEqual({
    ok: true,
    applied: [],
    cells: expect.any(Number),
  })
})

// The everyday run takes it on the embedded database alone: on Citus its roles and partitions have not been tried.
const embeddedTest = process.env['TEST_DATABASE_URL'] ? wholeRunTest : test

embeddedTest('a role that may only read and write rows serves after the owner has migrated', async () => {
  const { place, database, address } = await workplace()
  const admin = open('url' in address ? address : { ...address, user: 'postgres' })
  const [made] = await database.query<{ owner: string; db: string }>(
    sql`select current_user::text as owner, current_database()::text as db`,
  )
  const role = `rows_only_${randomBytes(6).toString('hex')}`
  const { owner = '', db = '' } = made ?? {}
  await admin.script(`
    create role ${role} login;
    grant ${role} to ${owner};
    grant usage on schema public to ${role};
    grant select, insert, update, delete on all tables in schema public to ${role};
    grant usage, select on all sequences in schema public to ${role}`)
  onTestFinished(() =>
    admin.script(`reassign owned by ${role} to ${owner}; drop owned by ${role}; drop role ${role}`),
  )
  // From here on every new session of the user acts as this role.
  const actAs = (name: string) => admin.script(`alter role ${owner} in database ${db} set role = ${name}`)
  await actAs(role)
  onTestFinished(() => actAs('none'))

  const service = await startProcess(['serve', '--port', '0'], {
    ...place,
    env: { ...place.env, ENROLMENT_WEBHOOK_ALLOW: '127.0.0.0/8' },
  })
  await runJson(['catalogue', 'publish', catalogue], place)
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const partner = await runJson<Created>(['partner', 'create', '--name', 'Corner Bank'], place)
  const client = clientOf(service, partner)
  const { webhookid } = await client.createWebhook({
    url: receiver.url,
    username: 'hook',
    password: 'a-long-password',
    events: ['all'],
  })
  expect(await client.prefillUser({ userid: 'u1', ...ada })).toBe('prefill saved')
  await client.createUser({ userid: 'u1', offername: 'starter' })
  expect(await client.getBenefits({ userid: 'u1', ...adaAsks })).not.toHaveLength(0)
  await expect
    .poll(
      async () =>
        (await database.query(sql`select 1 from delivery_attempts where endpoint_id = ${webhookid}`)).length,
    )
    .toBeGreaterThan(0)
  expect(await service.stop()).toBe(0)
  expect(service.log().filter(line => /failed|failure|crashed/.test(line.event))).toEqual([])

  const days = () =>
    database.query(sql`select 1 from pg_inherits where inhparent = 'delivery_attempts'::regclass`)
  expect(await days()).toHaveLength(1)
  expect(await runRefused(['maintain'], place)).toMatch(/^The user of DATABASE_URL does not own the tables/)
  await actAs('none')
  // The default partition already holds today's attempts, so today's rows stay there.
  expect(await runJson(['maintain'], place)).toEqual({
    ok: true,
    daysmade: 60,
    daysdropped: 0,
    keysscrubbed: 0,
  })
  expect(await days()).toHaveLength(61)
})

test('a database with a table of somebody else under a name of ours is refused in a sentence', async () => {
  const { place } = await workplace()
  const theirs = await workplace({ empty: true })
  await theirs.database.script('create table users (id integer)')
  const sentence =
    /^This database has something of somebody else under a name of ours \(.*"users".*\): name an empty database\.$/
  expect(await runRefused(['migrate'], theirs.place)).toMatch(sentence)
  const to = theirs.place.env['DATABASE_URL'] ?? ''
  expect(await runRefused(['copy', '--to', to], place)).toMatch(sentence)
})
