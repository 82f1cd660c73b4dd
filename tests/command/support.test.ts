// @databases stock

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { addDays, dateAt } from '../../service/src/calendar/calendar.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada } from '../rig.ts'
import { codeOf, hookAt } from './place.ts'
import { run, runJson } from './process.ts'
import { type SandboxPartner, startSandbox } from './sandbox.ts'

// Only catches a hang: each test runs many processes, on a machine that may be busy.
const soon = { timeout: 180_000, interval: 100 }

/** A receiver that refuses everything, with the same words. */
const receiver = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(500).end('closed for the holidays'))
})

const sandbox = forAllTests(startSandbox)
let partner: SandboxPartner
beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const hook = hookAt(`http://127.0.0.1:${port}/hook`)
  partner = await sandbox.newPartner(...hook, '--timezone', 'America/Chicago')
  // To the middle of the next month, because at a month's end changes for the boundary are refused.
  const today = new Date()
  const middle = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 10, 15)
  await sandbox.database.query(sql`
    update partners set clock_offset_ms = ${middle - today.getTime()} where partner_id = ${partner.partnerid}`)
})
afterAll(async () => {
  receiver.closeAllConnections()
  await new Promise(resolve => receiver.close(resolve))
})

function json<T>(...words: string[]) {
  return runJson<T>(words, sandbox.place)
}
async function text(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(words, sandbox.place)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}
const instant = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} -0[56]:00/

test('a list without anything says so', async () => {
  expect(await text('deliveries', partner.partnerid, '--user', 'nobody')).toBe('None.\n')
  expect(await text('deliveries', partner.partnerid, '--user', 'nobody', '--json')).toContain(
    '"deliveries":[]',
  )
})

test('deliveries are found by user, event and endpoint, with what was answered last', async () => {
  type Listed = {
    eventid: string
    userid: string
    webhookid: string
    lastattempt: { status: number; answer: string } | null
  }
  const list = (...words: string[]) =>
    json<{ deliveries: Listed[] }>('deliveries', partner.partnerid, ...words).then(
      ({ deliveries }) => deliveries,
    )
  await partner.client.prefillUser({ userid: 'found' })
  await partner.client.prefillUser({ userid: 'other' })
  await partner.client.prefillUser({ userid: 'found' })
  await expect
    .poll(async () => (await list('--user', 'found')).filter(one => one.lastattempt).length, soon)
    .toBe(2)
  const found = await list('--user', 'found')
  expect(found.map(one => [one.userid, one.lastattempt?.status, one.lastattempt?.answer])).toEqual(
    Array(2).fill(['found', 500, 'closed for the holidays']),
  )
  const [{ eventid, webhookid } = { eventid: '', webhookid: '' }] = found
  expect((await list('--event', eventid)).map(one => one.eventid)).toEqual([eventid])
  expect(await list('--event', eventid, '--webhook', eventid)).toEqual([])
  expect((await list('--webhook', webhookid)).length).toBeGreaterThanOrEqual(3)
  expect(await list('--webhook', webhookid, '--user', 'nobody')).toEqual([])
  expect(await text('deliveries', partner.partnerid, '--event', eventid)).toMatch(
    /answered 500: closed for the holidays\n$/,
  )

  // The same without knowing the event's partner, and without the partner's credentials.
  const shown = await json<{
    partnerid: string
    userid: string
    attempts: { status: number; answer: string }[]
    deliveries: { status: string; webhookid: string }[]
  }>('events', 'show', eventid)
  expect(shown).toMatchObject({
    partnerid: partner.partnerid,
    userid: 'found',
    eventid,
    deliveries: [{ status: 'waiting', webhookid }],
  })
  // On a slow machine there is a second attempt already.
  expect(shown.attempts).not.toEqual([])
  for (const attempt of shown.attempts)
    expect(attempt).toMatchObject({ status: 500, answer: 'closed for the holidays', webhookid })
  expect(await text('events', 'show', eventid)).toContain('answered 500: closed for the holidays')
  const noEvent = randomUUID()
  expect(await sandbox.refusal('events', 'show', noEvent)).toMatch(/^No partner has an event of this id/)
  // On record, but not below the partner that the id looks like.
  expect(await sandbox.database.query(sql`select from audit_log where partner_id = ${noEvent}`)).toEqual([])
})

type Found = {
  users: { userid: string; serviceid: string; partnerid: string; foundby: string }[]
  refusedcreates: { requestid: string; partnerid: string }[]
}

test('who was refused is found by user show, with the request and the rules, and is forgotten by an erasure', async () => {
  type Shown = {
    user: { userid: string } | null
    refusedcreates: {
      at: string
      code: string
      requestid: string
      reasons: { field: string; code: string }[]
    }[]
  }
  const refuse = (userid: string) =>
    codeOf(partner.client.createUser({ userid, ...ada, state: 'NY', offername: 'top' }))
  expect(await refuse('refused')).toBe('ineligible')
  const show = () => json<Shown>('user', 'show', partner.partnerid, 'refused')
  const shownOnce = await vi.waitFor(show, soon)
  expect(shownOnce).toEqual({
    user: null,
    refusedcreates: [
      {
        at: expect.any(String),
        requestid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        code: 'ineligible',
        reasons: [{ field: expect.any(String), code: expect.any(String) }],
      },
    ],
  })
  const [{ requestid = '' } = {}] = shownOnce.refusedcreates
  expect(await text('user', 'show', partner.partnerid, 'refused')).toContain(`ineligible`)
  expect(await text('user', 'show', partner.partnerid, 'refused')).toContain(`request ${requestid}`)
  const byRequest = await json<Found>('user', 'find', requestid)
  expect(byRequest).toMatchObject({
    users: [],
    refusedcreates: [{ requestid, partnerid: partner.partnerid }],
  })
  expect(await text('user', 'find', requestid)).toMatch(
    /^There is no such user: each attempt to create one was refused\./,
  )
  // Nothing of the person is kept, not even the name that was sent.
  const rows = await sandbox.database.query(sql`select * from refused_creates`)
  expect(JSON.stringify(rows)).not.toMatch(/refused"|canary|NY/i)

  // A body that does not match the description is recorded too, without names that the caller made up.
  const misshapen = { userid: 'misshapen', ...ada, offername: 'low', dob: 5, Adacanary: 1 } as never
  expect(await codeOf(partner.client.createUser(misshapen))).toBe('bad_request')
  const misread = await vi.waitFor(() => json<Shown>('user', 'show', partner.partnerid, 'misshapen'), soon)
  expect(misread.refusedcreates).toMatchObject([{ code: 'bad_request' }])
  expect(misread.refusedcreates[0]?.reasons.map(({ field }) => field).toSorted()).toEqual(['body', 'dob'])
  expect(JSON.stringify(await sandbox.database.query(sql`select * from refused_creates`))).not.toMatch(
    /misshapen|canary/i,
  )

  await partner.client.createUser({ userid: 'refused', ...ada, state: 'NY', offername: 'low' })
  expect(await show()).toMatchObject({ user: { userid: 'refused' }, refusedcreates: [{ requestid }] })
  const { users } = await json<Found>('user', 'find', requestid, '--partner', partner.partnerid)
  expect(users).toMatchObject([{ userid: 'refused', partnerid: partner.partnerid, foundby: 'request' }])
  for (const [what, foundby] of [
    ['refused', 'userid'],
    [users[0]?.serviceid ?? '', 'serviceid'],
    [ada.email.toUpperCase(), 'email or phone'],
  ])
    expect((await json<Found>('user', 'find', what ?? '')).users).toContainEqual({ ...users[0], foundby })
  const other = await sandbox.newPartner()
  const elsewhere = await sandbox.refusal('user', 'find', requestid, '--partner', other.partnerid)
  expect(elsewhere).toMatch(/^Nobody was found/)
  // An unset variable of a shell must not make it a search of all partners.
  expect(await sandbox.refusal('user', 'find', requestid, '--partner', '')).toContain('no partner')
  // Not below the partner that an id looks like.
  const records = await sandbox.database.query(sql`
    select from audit_log where action = 'user find' and partner_id = ${requestid}`)
  expect(records).toEqual([])
  await partner.client.eraseUser({ userid: 'refused' })
  expect(await sandbox.database.query(sql`select * from refused_creates`)).toHaveLength(1)
})

test('user show tells times in the zone that is asked for, also the partner’s own', async () => {
  await partner.client.createUser({ userid: 'zoned', ...ada, offername: 'low' })
  const shown = await text('user', 'show', partner.partnerid, 'zoned', '--timezone', 'partner')
  expect(shown).toMatch(new RegExp(`status .*\\(at ${instant.source}\\)`))
  expect(shown.split('Timeline')[1]).toMatch(instant)
  expect(shown).not.toMatch(/\dZ\b/)
  expect(await text('user', 'show', partner.partnerid, 'zoned', '--timezone', 'Asia/Kolkata')).toMatch(
    / \+05:30/,
  )
  expect(await text('user', 'show', partner.partnerid, 'zoned')).toMatch(/\dZ\b/)
})

test('who starts, changes and ends by a day is listed, by the partner’s clock, as lines and as CSV', async () => {
  type Coming = { at: string; what: string; name: string; next: string; userid: string; partnerid: string }
  const { client } = partner
  await client.createUser({ userid: 'leaver', ...ada, offername: 'low' })
  const { effectiveattimestamp: boundary } = await client.cancelUser({ userid: 'leaver' })
  await client.createUser({ userid: 'riser', ...ada, state: 'NY', offername: 'low' })
  await client.changeOffer({ userid: 'riser', offername: 'mid' }).catch(() => undefined)
  await client.createUser({ userid: 'faller', ...ada, state: 'NY', offername: 'mid' })
  const { pendingoffer } = await client.changeOffer({ userid: 'faller', offername: 'low' })
  const list = async (kind: string, by: string, ...words: string[]) =>
    (await json<Record<string, Coming[]>>('users', kind, '--by', by, ...words))[kind] ?? []
  // The period ends with the last day of the month, at the first instant of the next month.
  const first = new Date(Date.parse(boundary) - 6 * 3_600_000)
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate()))
  const day = (days: number) => new Date(last.getTime() + days * 86_400_000).toISOString().slice(0, 10)
  const lastDay = first.getUTCDate() === 1 ? day(-1) : day(0)
  const dayBefore = first.getUTCDate() === 1 ? day(-2) : day(-1)
  const dayAfter = first.getUTCDate() === 1 ? day(0) : day(1)

  const ending = await list('ending', lastDay)
  expect(ending.filter(one => one.userid === 'leaver').map(one => [one.at, one.what])).toContainEqual([
    boundary,
    'benefit',
  ])
  expect((await list('ending', dayBefore)).map(one => one.userid)).not.toContain('leaver')
  expect(await list('changing', lastDay, '--partner', partner.partnerid)).toEqual([])
  const changing = await list('changing', dayAfter, '--partner', partner.partnerid)
  expect(changing.map(({ userid, what, name, next, at }) => ({ userid, what, name, next, at }))).toEqual(
    expect.arrayContaining([
      { userid: 'leaver', what: 'cancel', name: 'low', next: 'voluntary', at: boundary },
      { userid: 'faller', what: 'offer', name: 'mid', next: 'low', at: pendingoffer?.effectiveattimestamp },
    ]),
  )
  const csv = await text('users', 'changing', '--by', dayAfter, '--partner', partner.partnerid, '--csv')
  const [head, ...lines] = csv.trimEnd().split('\r\n')
  expect(head).toBe('at,what,name,next,userid,serviceid,partnerid')
  expect(lines).toHaveLength(changing.length)
  expect(csv).toContain(`${boundary},cancel,low,voluntary,leaver,`)

  const later = day(20)
  await client.createUser({ userid: 'starter', ...ada, offername: 'low', effectivedate: later })
  const starting = await list('starting', later)
  expect(starting.filter(one => one.userid === 'starter').length).toBeGreaterThan(0)
  expect((await list('starting', day(19))).filter(one => one.userid === 'starter')).toEqual([])
  expect(csv + JSON.stringify(starting)).not.toMatch(/canary/i)
})

test('replay takes a day, which begins and ends by the partner’s clock on the wall', async () => {
  // In that zone the date differs from UTC now, which shows by which of them a day is read.
  const zone = new Date().getUTCHours() < 10 ? 'Pacific/Pago_Pago' : 'Pacific/Kiritimati'
  const other = await sandbox.newPartner(...hookAt('http://127.0.0.1:1/hook'), '--timezone', zone)
  const { webhookid = '' } = other
  for (const userid of ['u1', 'u2']) await other.client.prefillUser({ userid })
  const day = (days: number) => addDays(dateAt(Date.now(), zone), days)
  const count = async (...words: string[]) =>
    (await json<{ count: number }>('replay', other.partnerid, webhookid, ...words, '--dry-run')).count
  // An event that still waits for its first attempt does not count as sent again.
  await expect.poll(() => count('--from', day(0), '--to', day(1)), soon).toBe(2)
  expect(await count('--from', day(-1), '--to', day(0))).toBe(0)
  expect(await sandbox.refusal('replay', other.partnerid, webhookid, '--from', day(1))).toMatch(
    /--to, or now where it is not given, must be after --from/,
  )
})
