import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada } from '../rig.ts'
import { run } from './process.ts'
import { startSandboxProcess } from './sandbox.ts'

const hook = ['--webhook-url', 'http://127.0.0.1:9/hook', '--webhook-username', 'harbor']
const sandbox = forAllTests(startSandboxProcess)
const partner = forAllTests(() =>
  sandbox.newPartner(...hook, '--webhook-password', 'pilot', '--events', 'all'),
)
/** Disabled, so that it can be deleted. */
const leaving = forAllTests(() => sandbox.newPartner())
beforeAll(async () => {
  for (const userid of ['wrong', 'leaving'])
    await partner.client.createUser({ userid, ...ada, offername: 'mid', benefits: ['art', 'books'] })
  await leaving.client.createUser({ userid: 'theirs', ...ada, offername: 'mid', benefits: ['art', 'books'] })
  await run(['partner', 'disable', leaving.partnerid], sandbox.place)
})

/** What the commands below change. */
async function state() {
  const [row] = await sandbox.database.query<Record<string, unknown>>(sql`
    select
      (select count(*)::int from enrolments where partner_id = ${partner.partnerid} and state = 'void') as voided,
      (select count(*)::int from users where partner_id = ${partner.partnerid} and status = 'erased') as erased,
      (select count(*)::int from webhook_endpoints) as endpoints,
      (select clock_offset_ms from partners where partner_id = ${partner.partnerid}) as clock,
      (select count(*)::int from users where partner_id = ${leaving.partnerid} and status <> 'erased') as theirs,
      (select count(*)::int from partners) as partners,
      (select count(*)::int from partners where disabled_at is not null) as disabled,
      (select count(*)::int from credentials where partner_id = ${partner.partnerid}) as credentials,
      (select array_agg(name order by name) from operators where disabled_at is null) as operators,
      (select count(*)::int from operator_links) as links,
      (select operator_policy from installation) as policy`)
  return { ...row, keyring: await readFile(join(sandbox.place.cwd, 'data', 'keyring.json'), 'utf8') }
}

const inAMonth = new Date(Date.now() + 31 * 86_400_000).toISOString()

/** Commands that take more than one transaction; they are on record twice: when they begin, and when they are done. */
const twice = ['keyring rotate', 'partner delete']

function lines(): readonly (readonly string[])[] {
  const { partnerid } = partner
  return [
    ['user', 'correct', partnerid, 'wrong', '--benefit', 'art', '--void', '--alone', '--reason', 'ticket 1'],
    ['user', 'erase', partnerid, 'leaving', '--alone', '--reason', 'letter 2'],
    ['key', 'rotate', partnerid, '--kind', 'api_key'],
    ['operator', 'add', 'Recorded', '--role', 'viewer'],
    ['operator', 'disable', 'demo'],
    ['operator', 'policy', 'void', 'off'],
    ['webhook', 'add', partnerid, '--url', 'http://127.0.0.1:9/second', '--username', 'a', '--password', 'b'],
    ['clock', 'advance', partnerid, inAMonth],
    ['keyring', 'rotate', 'root'],
    ['keyring', 'rotate', 'pepper'],
    ['partner', 'disable', partnerid],
    ['partner', 'delete', leaving.partnerid, '--name', 'Partner', '--reason', 'contract 3'],
  ]
}

test('what a command does is committed with the record of it: where none can be written, nothing is done', async () => {
  const before = await state()
  // As a process would leave it that is killed between the act and its record.
  await sandbox.database.query(sql`
    alter table audit_log add constraint nothing_recorded check (actor_kind <> 'command') not valid`)
  for (const words of lines()) {
    const { code } = await run(words, sandbox.place)
    expect([words, code === 0]).toEqual([words, false])
    expect([words, await state()]).toEqual([words, before])
  }
  await sandbox.database.query(sql`alter table audit_log drop constraint nothing_recorded`)
  const [{ entry_id: since = '' } = {}] = await sandbox.database.query<{ entry_id?: string }>(sql`
    select entry_id from audit_log order by entry_id desc limit 1`)
  let last = before
  for (const words of lines()) {
    const { code, stderr } = await run(words, sandbox.place)
    const warned = words.includes('--password') ? /stays in the history of your shell/ : /^$/
    expect([words, code, stderr]).toEqual([words, 0, expect.stringMatching(warned)])
    const now = await state()
    expect([words, now]).not.toEqual([words, last])
    last = now
  }
  const actions = [
    'user correct alone',
    'user erase alone',
    'key rotate',
    'operator add',
    'operator disable',
    'operator policy void off',
    'webhook add',
    'clock advance',
    'keyring rotate',
    'keyring rotate',
    'partner disable',
    'partner delete',
  ]
  const recorded = await sandbox.database.query<{ action: string; result: string; times: number }>(sql`
    select regexp_replace(action, '( viewer)? [-0-9a-f]{36}$', '') as action, result, times from audit_log
    where actor_kind = 'command' and regexp_replace(action, '( viewer)? [-0-9a-f]{36}$', '') = any(${actions})
      and entry_id > ${since}::uuid order by entry_id`)
  expect(recorded).toEqual(
    actions.flatMap(action =>
      (twice.includes(action) ? ['begun', 'done'] : ['done']).map(result => ({ action, result, times: 1 })),
    ),
  )
})

test('who is covered is on record before it is shown: where nothing can be recorded, nothing is shown', async () => {
  const feed = {
    feed: 'seaview',
    insurer: 'seaview',
    benefits: ['art'],
    format: 'csv',
    columns: [{ name: 'WHO', value: 'lastname' }],
  }
  await sandbox.database.query(sql`
    insert into feed_versions (version, document, published_at, published_by)
    values (1000, ${JSON.stringify({ schema: 1, feeds: [feed] })}::jsonb, statement_timestamp(), 'test')`)
  await sandbox.database.query(
    sql`insert into feeds (feed, published_at) values ('seaview', statement_timestamp()) on conflict do nothing`,
  )
  const words = ['feed', 'run', 'seaview', '--dry-run', '--stdout']
  await sandbox.database.query(sql`
    alter table audit_log add constraint nothing_recorded check (actor_kind <> 'command') not valid`)
  const refused = await run(words, sandbox.place)
  expect([refused.code === 0, refused.stdout]).toEqual([false, ''])
  await sandbox.database.query(sql`alter table audit_log drop constraint nothing_recorded`)
  expect((await run(words, sandbox.place)).stdout).toContain('WHO')
})

test('what a command found nothing to do for is on record as well', async () => {
  const again = await run(
    ['user', 'erase', partner.partnerid, 'leaving', '--alone', '--reason', 'asked once more'],
    sandbox.place,
  )
  expect(again.code).toBe(0)
  const rows = await sandbox.database.query<{ result: string; because: boolean }>(sql`
    select result, sealed_reason is not null as because from audit_log
    where action = 'user erase alone' order by entry_id desc limit 1`)
  expect(rows).toEqual([{ result: 'done', because: true }])
})
