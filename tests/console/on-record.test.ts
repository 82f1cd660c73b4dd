import { beforeAll, expect, test } from 'vitest'
import { writePolicy } from '../../service/src/console/requests/store.ts'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { checkTables } from '../trust/canaries.ts'
import { deedsOf } from './deeds.ts'
import { type Shown, signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
let serviceid = ''
let leavingid = ''
let eventid = ''
let webhookid = ''
let enrolment = ''
beforeAll(async () => {
  const made = await partner.client.createWebhook({
    url: 'http://127.0.0.1:9/hook',
    username: 'harbor',
    password: 'pilot',
    events: ['all'],
  })
  webhookid = made.webhookid
  const newUser = (userid: string) =>
    partner.client.createUser({ ...ada, userid, offername: 'starter', benefits: ['telehealth'] })
  serviceid = (await newUser('recorded-1')).serviceid
  leavingid = (await newUser('recorded-2')).serviceid
  const { events } = await partner.client.listEvents({ userid: 'recorded-1' })
  eventid = events[0]?.eventid ?? ''
  const [row] = await service.database.query<{ enrolment_id: string }>(sql`
    select enrolment_id from enrolments where service_id = ${serviceid} and benefit = 'telehealth'`)
  enrolment = row?.enrolment_id ?? ''
  for (const action of ['void', 'erase'] as const) await writePolicy(service.database, action, false)
})
const admin = forAllTests(() => signIn(service, 'admin'))

/** What the acts below change. */
async function state() {
  const [row] = await service.database.query<Record<string, unknown>>(sql`
    select (select count(*)::int from page_sessions) as links,
      (select count(*)::int from deliveries where work = 'replay') as again,
      (select array_agg(disabled_at is null) from webhook_endpoints) as endpoints,
      (select array_agg(locale) from partners) as partners,
      (select array_agg(disabled_at is null) from partners) as enabled,
      (select array_agg(revoked_at is null order by credential_id) from credentials) as credentials,
      (select array_agg(status order by service_id) from users) as users,
      (select count(*)::int from operator_requests) as requests,
      (select array_agg(state order by enrolment_id) from enrolments) as enrolments`)
  return row
}

/** Sends the second form of an act, as the page of the first one has it. */
async function twice(path: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
  const { text } = await admin.post(path, fields)
  const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? ''
  return admin.post(path, { ...fields, sure: 'yes', seen, reason: 'ticket 1' })
}

type Case = readonly [action: string, act: () => Promise<Shown>]

function cases(): readonly Case[] {
  const reason = 'ticket 1'
  const user = `/users/${serviceid}`
  const webhook = `/webhooks/${webhookid}`
  const ofPartner = `/partners/${partner.partnerId}`
  const credential = /^enr_ak_sandbox_\w{22}(\w{10})_/.exec(partner.apiKey)?.[1] ?? ''
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(service.now())
  const replay = { what: 'range', from: today, until: today, sure: 'yes', reason }
  return [
    ['make link', () => admin.post(`${user}/link`, { purpose: 'benefits', reason })],
    ['pause webhook', () => admin.post(`${webhook}/pause`, { reason })],
    ['resend event', () => admin.post(`${user}/resend/${eventid}`, { reason })],
    ['replay', () => admin.post(`${webhook}/replay`, replay)],
    ['enable webhook', () => admin.post(`${webhook}/enable`, { reason })],
    ['void user', () => twice(`${user}/act/void`, { enrolment })],
    ['cancel user', () => twice(`${user}/act/cancel`, { effective: 'immediate', cause: 'mistake' })],
    ['ask for move', () => twice(`/users/${leavingid}/act/move`, moved)],
    [
      'erase user',
      async () => {
        const { text } = await admin.get(`/users/${leavingid}/act/erase`)
        const seen = (/name="seen" value="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"')
        return admin.post(`/users/${leavingid}/act/erase`, { seen, reason })
      },
    ],
    [
      'change partner',
      async () => {
        const { text } = await admin.get(`${ofPartner}/settings`)
        const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? ''
        return admin.post(`${ofPartner}/settings`, { locale: 'es', seen, reason })
      },
    ],
    ['revoke credential', () => admin.post(`${ofPartner}/revoke`, { credential, reason })],
    ['disable partner', () => admin.post(`${ofPartner}/disable`, { reason })],
    ['enable partner', () => admin.post(`${ofPartner}/enable`, { reason })],
  ]
}
const moved: Record<string, string> = {}

test('an act is committed with the record of it: where none can be written, nothing is done', async () => {
  const [row] = await service.database.query<{ enrolment_id: string }>(sql`
    select enrolment_id from enrolments where service_id = ${leavingid} and benefit = 'telehealth'`)
  const lastday = new Date(service.now() + 2 * 86_400_000).toISOString().slice(0, 10)
  Object.assign(moved, { enrolment: row?.enrolment_id ?? '', lastday })
  for (const [action, act] of cases()) {
    const before = await state()
    // As a process would leave it that is killed between the act and its record.
    await service.database.query(sql`
      alter table audit_log add constraint nothing_recorded
      check (actor_kind <> 'operator' or action like 'look%') not valid`)
    const refused = await act()
    expect([action, refused.status, await state()]).toEqual([action, 500, before])
    await service.database.query(sql`alter table audit_log drop constraint nothing_recorded`)
    const done = await act()
    expect([action, done.status]).toEqual([action, 200])
    expect([action, await state()]).not.toEqual([action, before])
  }
  const deeds = await deedsOf(service, admin)
  expect(deeds.filter(({ because }) => because).map(deed => deed.action)).toEqual(
    cases().map(([action]) => action),
  )
})

test('why a partner was stopped is sealed, is gone when it is let in again, and no viewer sees it', async () => {
  const path = `/partners/${partner.partnerId}`
  const viewer = await signIn(service, 'viewer')
  const stopped = await admin.post(`${path}/disable`, { reason: 'fraud, ticket 77' })
  expect(stopped.text).toContain('fraud, ticket 77')
  const seen = await viewer.get(path)
  expect(seen.text).toContain('Disabled since')
  expect(seen.text).not.toContain('ticket 77')
  await checkTables(service.database, ['ticket 77'])
  service.advance(2 * 60_000)
  for (const isDisabled of [false, true])
    await changePartner(partner.partnerId, { isDisabled }, service.manage)
  expect((await admin.get(path)).text).not.toContain('ticket 77')
})

test('the page of a form that shows a user is on record before it is shown', async () => {
  const newcomer = await signIn(service, 'support')
  const other = await service.newPartner({ name: 'Corner Bank' })
  const { serviceid: id } = await other.client.createUser({
    ...ada,
    userid: 'looked-at',
    offername: 'starter',
  })
  for (const form of ['act/cancel', 'link', 'export', 'act/erase'])
    expect((await newcomer.get(`/users/${id}/${form}`)).text).toContain('looked-at')
  const look = { action: 'look at user', result: 'shown', serviceId: id, because: false }
  expect(await deedsOf(service, newcomer)).toEqual(expect.arrayContaining([look, look, look, look]))
  expect((await deedsOf(service, newcomer)).filter(({ serviceId }) => serviceId === id)).toHaveLength(4)
})

test('what an operator does and sees is on record with the network of the request, as one hash for one network', async () => {
  const other = await service.newPartner()
  const support = await signIn(service, 'support')
  const { serviceid: id } = await other.client.createUser({
    ...ada,
    userid: 'from-where',
    offername: 'plus',
  })
  await support.get(`/users/${id}`)
  await support.post(`/users/${id}/link`, { purpose: 'benefits', reason: 'ticket 2' })
  const rows = await service.database.query<{ action: string; source: Buffer | null }>(sql`
    select action, source from audit_log where actor = ${support.operatorId} order by entry_id`)
  expect(rows.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['sign in', 'look at user', 'make link']),
  )
  expect(new Set(rows.map(({ source }) => source?.length))).toEqual(new Set([16]))
  expect(new Set(rows.map(({ source }) => source?.toString('hex'))).size).toBe(1)
  expect(JSON.stringify(rows)).not.toContain('127.0.0.1')
})

test('an act that another operator confirmed says nothing of the network of the one who asked for it', async () => {
  const other = await service.newPartner()
  const [asker, confirmer] = [await signIn(service, 'support'), await signIn(service, 'support')]
  const { serviceid: id } = await other.client.createUser({
    ...ada,
    userid: 'asked-and-confirmed',
    offername: 'plus',
    benefits: ['telehealth'],
  })
  const [row] = await service.database.query<{ enrolment_id: string }>(sql`
    select enrolment_id from enrolments where service_id = ${id} and benefit = 'telehealth'`)
  await writePolicy(service.database, 'void', true)
  const fields = { enrolment: row?.enrolment_id ?? '' }
  const { text } = await asker.post(`/users/${id}/act/void`, fields)
  const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const asked = await asker.post(`/users/${id}/act/void`, {
    ...fields,
    sure: 'yes',
    seen,
    reason: 'ticket 3',
  })
  expect((await confirmer.post(`${asked.path}/confirm`, { reason: 'read it' })).status).toBe(200)
  const rows = await service.database.query<{ action: string; actor: string; known: boolean }>(sql`
    select action, actor, source is not null as known from audit_log
    where service_id = ${id} and action like '%void%' order by entry_id`)
  expect(rows).toEqual(
    expect.arrayContaining([
      { action: 'ask for void', actor: asker.operatorId, known: true },
      { action: 'void on request', actor: asker.operatorId, known: false },
      { action: 'confirm void', actor: confirmer.operatorId, known: true },
    ]),
  )
})
