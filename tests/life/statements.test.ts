import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { StatementLine } from '../../client/src/index.ts'
import { memberContext } from '../../service/src/cli/operator/members.ts'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner, requirePartner } from '../../service/src/partners/administer.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { finalizeMonths } from '../../service/src/statements/finalize.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { fileOf, type TestCatalogue } from './catalogue.ts'
import { openCorrections } from './corrections.ts'
import { instant, lives, newStagePartner, type StagePartner } from './stage.ts'

// Monthly statements (contract §16). The rule of one user's month is tested beside it, in service/src/statements.

const zone = 'America/New_York'
const taken = { by: 'partner', how: { en: 'From your payout', es: 'De su pago' } } as const
const priced = {
  benefits: [
    { name: 'base' },
    { name: 'art', cost: { cents: 1000, per: 'month', taken }, premium: { cents: 700, per: 'month' } },
    { name: 'care', cost: { cents: 500, per: 'month', taken } },
  ],
  offers: [
    {
      offer: 'low',
      rank: 10,
      fixed: ['base'],
      selectable: ['art', 'care'],
      slots: 2,
      prices: { fee: { cents: 300, per: 'month' }, firstmonth: 'daily', lastmonth: 'daily' },
    },
  ],
} satisfies TestCatalogue

const service = forAllTests(() =>
  startTestService({ ...lives, startAt: instant('2026-11-11T12:00'), catalogue: fileOf(priced) }),
)

async function linesOf({ client }: StagePartner, month: string): Promise<StatementLine[]> {
  const lines: StatementLine[] = []
  for await (const line of client.eachStatementLine({ month })) lines.push(line)
  return lines
}
async function statement({ client }: StagePartner, month: string) {
  const { statements } = await client.listStatements({})
  return statements.find(one => one.month === month)
}
function amounts(lines: readonly StatementLine[], userid?: string) {
  return lines
    .filter(line => userid === undefined || line.userid === userid)
    .map(({ kind, name, offer, personcents, partnercents, about }) =>
      [kind, name || offer, personcents, partnercents, about].filter(Boolean).join(' '),
    )
}

test('the running month is always listed, and counts what is in force, each first month by its days', async () => {
  const partner = await newStagePartner(service, zone)
  const nothing = { users: 0, personcents: 0, partnercents: 0, finalizedat: null }
  expect(await partner.client.listStatements({})).toEqual({
    statements: [{ month: '2026-11', status: 'open', ...nothing }],
  })
  await partner.create('u', { benefits: ['art'], moredetails: { costcenter: '17' } })
  // From November 11 on, 20 of 30 days.
  expect(await linesOf(partner, '2026-11')).toMatchObject([
    {
      userid: 'u',
      kind: 'benefit',
      name: 'art',
      offer: 'low',
      fromdate: '2026-11-11',
      todate: '2026-11-30',
      personcents: 667,
      takenby: 'partner',
      partnercents: 0,
      about: '',
      moredetails: { costcenter: '17' },
      days: 20,
    },
    { kind: 'benefit', name: 'base', personcents: 0, takenby: '' },
    { kind: 'offer', name: '', offer: 'low', personcents: 0, partnercents: 200 },
  ])
  expect(await statement(partner, '2026-11')).toMatchObject({ users: 1, personcents: 667, partnercents: 200 })
  await partner.client.declineBenefit({ userid: 'u', name: 'art', reason: 'no' }).catch(() => undefined)
  await partner.create('later', { effectivedate: '2026-11-21' })
  expect(amounts(await linesOf(partner, '2026-11'), 'later')).toEqual(['benefit base', 'offer low 100'])
  expect(await statement(partner, '2026-11')).toMatchObject({ users: 2, partnercents: 300 })
})

test('a month is final three days after its end, and nothing changes it; a correction is an adjustment in the oldest open month', async () => {
  const partner = await newStagePartner(service, zone)
  const correct = openCorrections(service, { partnerId: partner.partnerId, zone })
  await partner.create('u', { benefits: ['art'] })
  await partner.to('2026-12-04T04:59')
  expect(await statement(partner, '2026-11')).toMatchObject({ status: 'open' })
  await partner.to('2026-12-04T05:00')
  const final = await statement(partner, '2026-11')
  expect(final).toMatchObject({ status: 'final', personcents: 667, finalizedat: '2026-12-04T05:00:00.000Z' })
  const lines = await linesOf(partner, '2026-11')
  expect(amounts(await linesOf(partner, '2026-12'))).toEqual([
    'benefit art 1000',
    'benefit base',
    'offer low 300',
  ])
  await correct('u', { op: 'void', b: 'art' })
  expect(await linesOf(partner, '2026-11')).toEqual(lines)
  expect(await statement(partner, '2026-11')).toEqual(final)
  const corrected = ['benefit base', 'offer low 300', 'adjustment art -667 2026-11']
  expect(amounts(await linesOf(partner, '2026-12'))).toEqual(corrected)
  expect(await statement(partner, '2026-12')).toMatchObject({ personcents: -667, partnercents: 300 })
  expect((await linesOf(partner, '2026-12')).map(one => one.days)).toEqual([31, 31, 0])
  await partner.to('2027-01-04T05:00')
  expect(amounts(await linesOf(partner, '2026-12'))).toEqual(corrected)
  expect((await linesOf(partner, '2026-12')).map(one => one.days)).toEqual([31, 31, 0])
  expect(amounts(await linesOf(partner, '2027-01'))).toEqual(['benefit base', 'offer low 300'])
})

test('who is erased in the middle keeps the lines, without a name', async () => {
  const partner = await newStagePartner(service, zone)
  const { serviceid } = await partner.create('u', { benefits: ['art'], moredetails: { costcenter: '17' } })
  await partner.to('2026-11-15T12:00')
  await partner.client.eraseUser({ userid: 'u' })
  const lines = await linesOf(partner, '2026-11')
  expect(amounts(lines)).toEqual(['benefit art 167', 'benefit base', 'offer low 50'])
  for (const line of lines) expect(line).toMatchObject({ userid: '', serviceid, moredetails: {} })
  await partner.to('2026-12-05T12:00')
  expect(await linesOf(partner, '2026-11')).toEqual(lines)
  expect(await linesOf(partner, '2026-12')).toEqual([])
})

test('a reinstate with a gap counts the days of both windows', async () => {
  const partner = await newStagePartner(service, zone)
  await partner.create('u', { benefits: ['art'] })
  await partner.to('2026-11-12T12:00')
  await partner.client.cancelUser({ userid: 'u', effective: 'immediate' })
  await partner.to('2026-11-21T12:00')
  await partner.client.reinstateUser({ userid: 'u' })
  // November 11, 12 and 21 to 30.
  expect((await linesOf(partner, '2026-11')).map(one => one.days)).toEqual([12, 12, 12])
  expect(amounts(await linesOf(partner, '2026-11'))).toEqual([
    'benefit art 400',
    'benefit base',
    'offer low 120',
  ])
})

test('the open month has the last day that an operator gave a benefit before its first', async () => {
  const partner = await newStagePartner(service, zone)
  const correct = openCorrections(service, { partnerId: partner.partnerId, zone })
  await partner.create('u', { benefits: ['art'], effectivedate: '2026-11-21' })
  expect(await correct('u', { op: 'moveend', b: 'art', days: 11 })).toEqual({})
  const [art] = await linesOf(partner, '2026-11')
  expect(art).toMatchObject({ fromdate: '2026-11-21', todate: '2026-11-22', days: 2, personcents: 67 })
  await partner.to('2026-11-21T12:00')
  expect((await linesOf(partner, '2026-11'))[0]).toEqual(art)
})

test('a price that has changed holds for newcomers only', async () => {
  const partner = await newStagePartner(service, zone)
  await partner.create('early', { benefits: ['art'], effectivedate: '2026-11-30' })
  const [art, ...others] = [priced.benefits[1], priced.benefits[0], priced.benefits[2]]
  const dearer = { ...art, cost: { cents: 9000, per: 'month', taken } }
  await service.publish(fileOf({ ...priced, benefits: [...others, dearer] } as TestCatalogue))
  service.advance(1001)
  await partner.create('late', { benefits: ['art'], effectivedate: '2026-11-30' })
  const lines = await linesOf(partner, '2026-11')
  expect(amounts(lines, 'early')[0]).toBe('benefit art 33')
  expect(amounts(lines, 'late')[0]).toBe('benefit art 300')
  await service.publish(fileOf(priced))
  service.advance(1001)
})

test('the sum of a month follows a new catalogue, by which an offer that is still to come is priced', async () => {
  const partner = await newStagePartner(service, zone)
  const withHigh = (cents: number): TestCatalogue => ({
    ...priced,
    offers: priced.offers.flatMap(low => {
      const prices = { ...low.prices, fee: { cents, per: 'month' } } as const
      return [low, { ...low, offer: 'high', rank: 20, prices }]
    }),
  })
  await service.publish(fileOf(withHigh(600)))
  service.advance(1001)
  await partner.create('u', { effectivedate: '2026-11-21' })
  await partner.client.changeOffer({ userid: 'u', offername: 'high' })
  // What changed within the last two seconds is counted anew anyway.
  service.advance(2001)
  // A third of the month.
  expect(await statement(partner, '2026-11')).toMatchObject({ partnercents: 200 })
  await service.publish(fileOf(withHigh(900)))
  service.advance(1001)
  expect(amounts(await linesOf(partner, '2026-11'))).toEqual(['benefit base', 'offer high 300'])
  expect(await statement(partner, '2026-11')).toMatchObject({ partnercents: 300 })
  await service.publish(fileOf(priced))
  service.advance(1001)
})

test('a disabled partner’s months become final, too, and a sandbox moved by three years has each of its months', async () => {
  const partner = await newStagePartner(service, zone)
  await partner.create('u')
  await partner.to('2029-11-11T12:00')
  const { statements } = await partner.client.listStatements({})
  expect(statements).toHaveLength(24)
  expect(statements.map(({ status }) => status)).toEqual(['open', ...statements.slice(1).map(() => 'final')])
  expect(new Set(statements.map(({ partnercents }) => partnercents))).toEqual(new Set([300]))
  await expect(partner.client.listStatementLines({ month: '2027-11' })).rejects.toMatchObject({
    status: 404,
    code: 'statement_not_found',
  })
  await changePartner(partner.partnerId, { isDisabled: true }, service.manage)
  await partner.lateTo('2029-12-11T12:00')
  await finalize(partner)
  const [row] = await service.database.query<{ count: number }>(sql`
    select count(*)::integer as count from statements where partner_id = ${partner.partnerId} and finalized_at is not null`)
  expect(row?.count).toBe(37)
})

async function finalize({ partnerId }: StagePartner, database = service.database) {
  const { keyring, now: real } = service
  const partner = partnerOf(await requirePartner(service.database, partnerId), keyring)
  const context = memberContext({ database, installation: { sandbox: true }, real } as never)
  return finalizeMonths(context, partner, { which: 'due', mayGoOn: () => true })
}

test('a kill between any two statements of finalizing changes nothing', async () => {
  const whole = await newStagePartner(service, zone)
  const killed = await newStagePartner(service, zone)
  for (const partner of [whole, killed]) {
    for (const userid of ['a', 'b', 'c']) await partner.create(userid, { benefits: ['art'] })
    // More than a slice has.
    await addMany(partner, 'a')
    await partner.lateTo('2026-12-10T12:00')
  }
  await finalize(whole)
  let statements = 0
  for (let kill = 1; ; kill += 1) {
    let left = kill
    const dying = dyingAfter(service.database, () => left-- > 0)
    statements = kill
    const outcome = await finalize(killed, dying).then(
      () => 'done',
      () => 'killed',
    )
    if (outcome === 'done') break
    const { finalizedat: _, ...shown } = (await statement(killed, '2026-11')) ?? {}
    expect(shown).toMatchObject({ users: 603, personcents: 2001, partnercents: 603 * 200 })
  }
  expect(statements).toBeGreaterThan(3)
  expect(await statement(killed, '2026-11')).toEqual(await statement(whole, '2026-11'))
  const sorted = async (partner: StagePartner) => amounts(await linesOf(partner, '2026-11')).sort()
  expect(await sorted(killed)).toEqual(await sorted(whole))
  const { months } = await finalize(killed)
  expect(months).toEqual([])
})

/** Adds 600 users like this one, who have the offer alone. */
async function addMany({ partnerId }: StagePartner, userid: string) {
  await service.database.query(sql`
    insert into users (partner_id, service_id, userid, status, created_at, updated_at, offer, offer_since, offer_version,
      offer_in_force)
    select partner_id, gen_random_uuid(), '=many' || n, status, created_at, updated_at, offer, offer_since, offer_version, true
    from users, generate_series(1, 600) as n where partner_id = ${partnerId} and userid = ${userid}`)
  await service.database.query(sql`
    insert into held_periods (partner_id, service_id, name, starts_at, ends_at, catalogue_version, is_offer)
    select partner_id, service_id, 'low', offer_since, null, offer_version, true from users
    where partner_id = ${partnerId} and userid like '=many%'`)
}

/** A database that cuts its connection instead of sending the statement at which it may no more go on. */
function dyingAfter<T extends typeof service.database>(database: T, mayGoOn: () => boolean): T {
  const cut = sql`select pg_terminate_backend(pg_backend_pid())`
  const guard = (query: T['query']) =>
    ((asked: Parameters<T['query']>[0]) => query(mayGoOn() ? asked : cut)) as T['query']
  return new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name === 'query') return guard(database.query.bind(database))
      if (name === 'transaction')
        return (work: (tx: unknown) => Promise<unknown>) =>
          database.transaction(tx => work({ ...tx, query: guard(tx.query.bind(tx)) }))
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('many lines', () => {
  const partner = forAllTests(() => newStagePartner(service, zone))

  test('come 500 a page, each once, and as CSV the same in one file', async () => {
    await partner.create('u', { benefits: ['art'] })
    await addMany(partner, 'u')
    const first = await partner.client.listStatementLines({ month: '2026-11' })
    expect(first.lines).toHaveLength(500)
    const lines = await linesOf(partner, '2026-11')
    expect(lines).toHaveLength(603)
    expect(new Set(lines.map(line => `${line.serviceid} ${line.name}`)).size).toBe(603)
    const headers = {
      authorization: `Bearer ${await partner.token()}`,
      'x-api-key': partner.apiKey,
      accept: 'text/csv',
    }
    const answer = await fetch(`${service.baseUrl}/statements/2026-11/lines`, { headers })
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const rows = (await answer.text()).trimEnd().split('\r\n')
    expect(rows[0]).toBe(
      'userid,serviceid,kind,name,offer,fromdate,todate,personcents,takenby,partnercents,about,moredetails,days',
    )
    // A program reads the file, so no spreadsheet's formula is feared.
    expect(rows.filter(row => /^=many.*,20$/.test(row))).toHaveLength(600)
    const refused = { ...headers, accept: 'application/json, text/csv;q=0' }
    const asJson = await fetch(`${service.baseUrl}/statements/2026-11/lines`, { headers: refused })
    expect(asJson.headers.get('content-type')).toContain('application/json')
    expect(rows.slice(1).map(row => row.split(',')[1])).toEqual(lines.map(({ serviceid }) => serviceid))
  })

  test.skipIf(spawnSync('python3', ['-c', 'import sqlite3']).status !== 0)(
    'are recounted by SQLite from users and lines, to the same totals',
    async () => {
      const users = []
      for await (const user of partner.client.eachUser()) users.push(user)
      const input = JSON.stringify({ users, lines: await linesOf(partner, '2026-11') })
      const { stdout, stderr } = spawnSync('python3', ['-c', recount], { input, encoding: 'utf8' })
      expect(stderr).toBe('')
      const { users: counted, personcents, partnercents } = (await statement(partner, '2026-11')) ?? {}
      expect(JSON.parse(stdout)).toEqual([counted, personcents, partnercents, 0])
    },
  )
})

/** Adds up the lines, and counts the lines of benefits in force that no listed user holds. */
const recount = `
import json, sqlite3, sys
given = json.load(sys.stdin)
db = sqlite3.connect(':memory:')
db.execute('create table lines (serviceid, kind, name, personcents, takenby, partnercents)')
db.execute('create table held (serviceid, name)')
db.executemany('insert into lines values (:serviceid, :kind, :name, :personcents, :takenby, :partnercents)', given['lines'])
db.executemany('insert into held values (?, ?)', [(u['serviceid'], b['name']) for u in given['users'] for b in u['benefits']])
sums = db.execute('''select count(distinct serviceid), sum(case when takenby = 'partner' then personcents else 0 end),
  sum(partnercents) from lines''').fetchone()
strange = db.execute('''select count(*) from lines where kind = 'benefit'
  and not exists (select 1 from held where held.serviceid = lines.serviceid and held.name = lines.name)''').fetchone()
print(json.dumps([*sums, *strange]))
`
