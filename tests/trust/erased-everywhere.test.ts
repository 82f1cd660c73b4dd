// @databases citus

import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { noPartner } from '../../service/src/audit/entries.ts'
import { runContext } from '../../service/src/cli/feeds/run-context.ts'
import { insertRequest } from '../../service/src/console/requests/store.ts'
import { inEachCell } from '../../service/src/db/by-cell.ts'
import { sql } from '../../service/src/db/sql.ts'
import { recordAnswers } from '../../service/src/feeds/answer.ts'
import { noteDifferences, subjectOf } from '../../service/src/feeds/difference-store.ts'
import { coversHere } from '../../service/src/feeds/list-here.ts'
import { runFeed } from '../../service/src/feeds/run.ts'
import { publishFeeds } from '../../service/src/feeds/store.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { sealJson } from '../../service/src/membership/records/sealed.ts'
import { NIL_UUID } from '../../service/src/vault/uuid.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/log/clean-up.ts'
import { forAllTests } from '../for-all-tests.ts'
import { newVisitor, recordsAgreed } from '../page/visitor.ts'
import { ada, startTestService } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'

/** The columns by which a row belongs to a user. */
const naming = ['service_id', 'userid', 'userid_hash']

/**
 * What is left in each table that can hold a row of a user, and why. A table that is missing here fails, so whoever
 * adds one decides what an erasure does to it.
 */
const left: Readonly<Record<string, 'nothing' | `kept: ${string}`>> = {
  consents: 'nothing',
  covered_dependants: 'nothing',
  data_keys: 'nothing',
  deliveries: 'nothing',
  enrolments: 'nothing',
  events: 'nothing',
  feed_seen: 'nothing',
  insurer_lines: 'nothing',
  page_languages: 'nothing',
  page_sessions: 'nothing',
  refused_creates: 'nothing',
  sealed_records: 'nothing',
  charged_from: 'kept: the month from which an imported member is charged, by serviceid alone',
  corrected_pasts: 'kept: that something was corrected, until the next month is final',
  held_periods: 'kept: what a month is charged for, by serviceid alone',
  statement_lines: 'kept: what a month was charged for, by serviceid alone',
  audit_log: 'kept: who looked at this serviceid',
  erasures: 'kept: when it was erased',
  history: 'kept: when something changed, and by whom',
  insurer_farewells:
    'kept: the end of the cover, sealed with the key of the partner, until the insurer accepts it',
  feed_differences: 'kept: that the insurer had it otherwise, by serviceid alone, until the next comparison',
  idempotency_keys: 'kept: hashes that answer a repeat, until they lapse',
  operator_requests: 'kept: that operators decided something, without its content',
  retained_records: 'kept: sealed under a key of its own, until its term is over',
  users: 'kept: a keyed hash of the name',
}
/** Written by the erasure itself. */
const madeByErasure = ['erasures', 'retained_records', 'insurer_farewells']

const service = forAllTests(startTestService)
const receiver = forAllTests(startReceiver)
const partner = forAllTests(() => service.newPartner({ retain: '7y' }))

const userid = 'ada.lovelace@userid-canary.example'
const canaries = [
  userid,
  ada.firstname,
  ada.lastname,
  'Childcanary',
  ada.email,
  ada.phone,
  ada.address.addline1,
  'Gracecanary',
  'answer-canary',
  'member-canary',
  'deceased',
]

/** A row of the user in every table that can have one. */
async function fillEveryTable(): Promise<string> {
  const { client, partnerId } = partner
  // Refused first, while there is no user of that name.
  await expect(
    client.createUser({ userid, ...ada, dob: '2024-01-01', offername: 'plus' }),
  ).rejects.toMatchObject({ status: 422 })
  receiver.answer = () => response => response.writeHead(422).end('answer-canary')
  await client.createWebhook({ url: receiver.url, username: 'hook', password: 'pass', events: ['all'] })
  await client.prefillUser({ userid, ...ada })
  const { linkurl } = await client.createLinkToken({ userid, offername: 'premier' })
  const visitor = newVisitor(service.baseUrl)
  await visitor.post(linkurl ?? '')
  await visitor.get('/register/benefits')
  await visitor.post('/register/language', { language: 'es', view: 'BENEFITS' })
  await visitor.post('/register/benefits', { benefit: ['identity'], add: 'hospital' })
  const named = await visitor.post('/register/family/hospital', childcanary)
  const covered = /name="cover\.hospital" value="([^"]+)"/.exec(named.html)?.[1] ?? ''
  await visitor.post('/register/benefits', { benefit: ['identity'], 'cover.hospital': covered })
  await visitor.post('/register/beneficiaries/life', { rows: '1', ...gracecanary })
  expect(
    (
      await visitor.post('/register/enrol', {
        ...recordsAgreed,
        'consent.identity': '2026-01',
        'consent.life': '2026-01',
      })
    ).view,
  ).toBe('DONE')
  await client.prefillUser({ userid, ...ada }, { idempotencyKey: 'again' }).catch(() => undefined)
  const { dependants } = await client.getDependants({ userid })
  expect(dependants).toMatchObject([{ dependantid: covered, benefits: [{ name: 'hospital' }] }])
  await client.cancelUser({ userid, reason: 'deceased' })
  const user = await client.getUser({ userid })
  const { serviceid } = user
  await tellInsurer(serviceid)
  await service.database.query(
    insertRequest({
      partner_id: partnerId,
      request_id: randomUUID(),
      action: 'void',
      service_id: serviceid,
      sealed: Buffer.from('sealed'),
      asked_by: randomUUID(),
      asked_at: service.now(),
      expires_at: service.now() + 3_600_000,
    }),
  )
  await service.database.query(sql`
    insert into corrected_pasts (partner_id, service_id, recorded_at)
    select partner_id, service_id, updated_at from users where partner_id = ${partnerId} on conflict do nothing`)
  await service.database.query(sql`
    insert into charged_from (partner_id, service_id, month) values (${partnerId}, ${serviceid}, '2026-01')`)
  await service.database.query(sql`
    insert into statement_lines
    values (${partnerId}, '2026-01', ${serviceid}, 0, 'offer', '', 'premier', '2026-01-01', '2026-01-31', 0, '', 400, 0, '', '')`)
  await service.service().dispatcher.idle()
  return serviceid
}

const gracecanary = {
  'person1.name': 'Gracecanary',
  'person1.relationship': 'spouse',
  'person1.share': '100',
  'person1.kind': 'primary',
}

const childcanary = {
  'person1.firstname': 'Childcanary',
  'person1.lastname': 'King',
  'person1.relationship': 'child',
  'person1.dobmonth': '5',
  'person1.dobday': '4',
  'person1.dobyear': '2019',
}

/** Tells an insurer of the user and the child, by a feed with the name and the birth date; it refuses, and its own list differs. */
async function tellInsurer(serviceid: string): Promise<void> {
  const { database, keyring, now: real } = service
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const columns = ['who', 'firstname', 'lastname', 'dob'].map(value => ({ name: value, value }))
  const feed = {
    feed: 'seaview',
    insurer: 'seaview',
    benefits: ['accident', 'hospital'],
    format: 'json',
    columns,
  } as const
  await publishFeeds(database, { document: { schema: 1, feeds: [feed] }, at: real(), by: 'test' }, [])
  const asked = { by: 'test', full: false, write: async () => undefined }
  const places = { folder: undefined, command: undefined }
  const context = runContext({ database, keyring, real, installation })
  const { run } = await runFeed(context, 'seaview', { asked, places })
  const executor = openCommandExecutor(context)
  const said = {
    run: undefined,
    isAccepted: false,
    code: 'E1',
    text: 'answer-canary',
    memberId: 'member-canary',
  }
  const about = { feed: 'seaview', run: run.run, actor: 'test' }
  const answers = [1, 2, 3].map(line => ({ ...said, line, serviceId: '', benefit: '' }))
  expect(await recordAnswers({ ...context, executor }, answers, about)).toMatchObject({ refused: 3 })
  // A refusal lets the next run compare the user again.
  await runFeed(context, 'seaview', { asked, places })
  const there = { serviceid: '', memberid: 'member-canary', benefit: 'accident' }
  const kept = { benefit: 'accident', subject: subjectOf(keyring, 'seaview', there) }
  const [here] = await coversHere(database, await context.partners(), feed)
  const user = { partnerId: partner.partnerId, serviceId: serviceid }
  const differs = [{ value: 'lastname', ours: ada.lastname, theirs: 'answer-canary' }]
  const sealed = here?.dataKey && sealJson(here.dataKey, differs, 'feed_differences', user)
  await noteDifferences(database, 'seaview', {
    found: [
      { ...kept, partnerId: noPartner, kind: 'unknownhere', serviceId: undefined, sealed: undefined },
      { ...kept, partnerId: partner.partnerId, kind: 'dates', serviceId: serviceid, sealed },
    ],
    partners: [partner.partnerId],
    at: real(),
  })
}

type Column = { table: string; column: string }

/** The tables with a column that names a user. */
async function namingTables(): Promise<ReadonlyMap<string, readonly string[]>> {
  const columns = await service.database.query<Column>(
    sql`
    select c.relname as table, a.attname as column from pg_attribute a
    join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any (current_schemas(false)) and c.relkind in ('r', 'p') and not c.relispartition and a.attname = any(${naming}::text[])
    order by 1, 2`,
  )
  const tables = new Map<string, string[]>()
  for (const { table, column } of columns) tables.set(table, [...(tables.get(table) ?? []), column])
  return tables
}

/** How many rows of the partner each of these tables has; all are of the one user, but for notices about endpoints. */
async function countRows(tables: Iterable<string>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const name of tables) {
    const [row] = await service.database.query<{ count: number }>({
      name: '',
      text: `select count(*)::int as count from "${name}" t where partner_id = '${partner.partnerId}'
        and t::text not like '%${NIL_UUID}%'`,
      values: [],
    })
    counts[name] = row?.count ?? 0
  }
  return counts
}

/** What of the canaries stands in any table, as text or in hexadecimal. */
async function canariesFound(): Promise<string[]> {
  const tables = await service.database.query<{ name: string }>(
    sql`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any (current_schemas(false)) and c.relkind = 'r'`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await service.database.query<{ text: string }>({
      name: '',
      text: `select t::text as text from "${name}" t`,
      values: [],
    })
    // The catalogue speaks of nobody, and has words of its own.
    if (name === 'catalogue_versions') continue
    for (const canary of canaries)
      for (const form of [canary, Buffer.from(canary).toString('hex')])
        if (rows.some(({ text }) => text.includes(form))) found.push(`${name}: ${canary}`)
  }
  return found
}

test('an erasure reaches every table that can hold a row of a user, and nothing is left that names the person', async () => {
  const serviceid = await fillEveryTable()
  const tables = await namingTables()
  expect([...tables.keys()].sort()).toEqual(Object.keys(left).sort())
  const before = await vi.waitFor(
    async () => {
      const counts = await countRows(tables.keys())
      // Entries of the audit log and refused creates are written apart from their requests.
      expect(
        Object.entries(counts).filter(([name, count]) => count === 0 && !madeByErasure.includes(name)),
      ).toEqual([])
      return counts
    },
    { timeout: 120_000, interval: 100 },
  )
  expect(before['delivery_attempts']).toBeUndefined()
  // What the search looks for is really found while the user is there.
  expect(await canariesFound()).toContain(`users: ${userid}`)

  receiver.answer = () => 200
  expect(await partner.client.eraseUser({ userid })).toMatchObject({ serviceid, status: 'erased' })
  // Deliveries that were refused once are tried again, and then nothing waits any more.
  service.advance(3_600_000)
  await vi.waitFor(
    async () => {
      await service.service().dispatcher.idle()
      expect((await countRows(['deliveries']))['deliveries']).toBe(0)
    },
    { timeout: 120_000, interval: 100 },
  )
  await inEachCell(service.database, cell => cleanUpWebhooks(cell, service.now() + 86_400_000))
  const after = await countRows(tables.keys())
  const wanted = Object.entries(left).map(([name, what]) => [name, what === 'nothing'])
  expect(Object.entries(after).map(([name, count]) => [name, count === 0])).toEqual(
    wanted.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  )
  expect(await canariesFound()).toEqual([])
  // The hash is still found: the erasure is repeated by its name, and so is its answer.
  expect(await partner.client.eraseUser({ userid })).toMatchObject({ serviceid, status: 'erased' })
  expect(await partner.client.getUser({ userid })).toMatchObject({ serviceid, status: 'erased' })
})
