// @databases stock

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Replayed } from '../../contract/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { wholeLog } from '../whole-log.ts'
import { hookAt } from './place.ts'
import { run, runJson } from './process.ts'
import { type SandboxPartner, startSandbox } from './sandbox.ts'

// A partner's receiver that takes everything, or nothing.
let isTaking = true
const arrived: { key: string; body: string }[] = []
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', chunk => {
    body += chunk
  })
  request.on('end', () => {
    if (isTaking) arrived.push({ key: String(request.headers['idempotency-key']), body })
    response.writeHead(isTaking ? 200 : 500).end()
  })
})

const sandbox = forAllTests(startSandbox)
let webhook: readonly string[]
beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  webhook = hookAt(`http://127.0.0.1:${port}/hook`)
})
afterAll(async () => {
  receiver.closeAllConnections()
  await new Promise(resolve => receiver.close(resolve))
})

type Listed = {
  status: string
  eventid: string
  eventname: string
  userid: string
  webhookid: string
  attempts: number
  at: string
}
function list(partner: SandboxPartner, ...words: string[]) {
  return runJson<{ deliveries: Listed[] }>(['deliveries', partner.partnerid, ...words], sandbox.place).then(
    answer => answer.deliveries,
  )
}
function switchTo(verb: 'enable' | 'disable', { partnerid, webhookid = '' }: SandboxPartner) {
  return run(['webhook', verb, partnerid, webhookid], sandbox.place)
}
const soon = { timeout: 180_000, interval: 100 }
const nobody = '01890000-0000-7000-8000-000000000000'

describe('deliveries', () => {
  test('lists what waits and what arrived, by status and number', async () => {
    const partner = await sandbox.newPartner(...webhook)
    const other = await sandbox.newPartner(...webhook)
    await other.client.prefillUser({ userid: 'other' })
    await switchTo('disable', partner)
    for (const userid of ['u1', 'u2', 'u3']) await partner.client.prefillUser({ userid })
    const waiting = await list(partner, '--status', 'waiting')
    expect(waiting).toHaveLength(3)
    expect(waiting[0]).toEqual({
      status: 'waiting',
      eventid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      eventname: 'enrollment_request_received',
      userid: 'u1',
      webhookid: partner.webhookid,
      attempts: 0,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      lastattempt: null,
    })
    expect(await list(partner, '--status', 'delivered')).toEqual([])
    expect(await list(partner, '--limit', '2')).toEqual(waiting.slice(0, 2))
    await switchTo('enable', partner)
    const delivered = () => list(partner, '--status', 'delivered')
    await expect.poll(async () => (await delivered()).length, soon).toBe(3)
    const now = await list(partner)
    expect(new Set(now.map(one => one.eventid))).toEqual(new Set(waiting.map(one => one.eventid)))
    expect(now.every(one => one.status === 'delivered' && one.attempts === 1)).toBe(true)
    const { code, stdout } = await run(['deliveries', partner.partnerid], sandbox.place)
    expect(code).toBe(0)
    const line =
      /^delivered +\S+Z {2}enrollment_request_received {2}[0-9a-f-]{36} {2}to [0-9a-f-]{36} {2}attempts 1 {2}answered 200$/
    expect(stdout.trim().split('\n')).toEqual(Array(3).fill(expect.stringMatching(line)))
  })

  test('of one userid lists all that the whole list has: of an erased user, of the one before, and of tests', async () => {
    const partner = await sandbox.newPartner(...webhook)
    const { client, webhookid = '' } = partner
    await client.testWebhook({ webhookid })
    for (const userid of ['again', 'gone', 'stays']) await client.prefillUser({ userid })
    for (const userid of ['again', 'gone']) await client.eraseUser({ userid })
    await client.prefillUser({ userid: 'again' })
    const all = await list(partner)
    expect(all).toHaveLength(7)
    for (const userid of ['again', 'gone', 'stays', 'webhook-test']) {
      // Deliveries go on meanwhile, so only the events are compared.
      const eventsOf = (listed: readonly Listed[]) => new Set(listed.map(one => one.eventid))
      expect(eventsOf(await list(partner, '--user', userid))).toEqual(
        eventsOf(all.filter(one => one.userid === userid)),
      )
    }
    expect(await list(partner, '--user', 'nobody')).toEqual([])
  })

  wholeRunTest('wrong words are refused in a sentence', async () => {
    const { partnerid } = await sandbox.newPartner()
    expect(await sandbox.refusal('deliveries')).toMatch(/needs PARTNER/)
    expect(await sandbox.refusal('deliveries', nobody)).toMatch(/^There is no partner/)
    expect(await sandbox.refusal('deliveries', partnerid, '--status', 'lost')).toBe(
      '--status must be waiting, dead or delivered; see --help.',
    )
    for (const limit of ['0', 'many', '10001'])
      expect(await sandbox.refusal('deliveries', partnerid, `--limit=${limit}`)).toBe(
        '--limit must be a whole number from 1 to 10000; see --help.',
      )
    expect(await list({ partnerid } as SandboxPartner)).toEqual([])
  })
})

describe('replay', () => {
  const replay = ({ partnerid, webhookid = '' }: SandboxPartner, ...words: string[]) =>
    runJson<Replayed>(['replay', partnerid, webhookid, ...words], sandbox.place)
  const one = { count: 1, complete: true, dryrun: false, continuefrom: null }
  /** A partner with an event for each userid, all delivered, and with the results of their attempts written. */
  const withEvents = async (...userids: string[]) => {
    const partner = await sandbox.newPartner(...webhook)
    for (const userid of userids) await partner.client.prefillUser({ userid })
    const left = () =>
      sandbox.database.query(sql`select 1 from deliveries where partner_id = ${partner.partnerid}`)
    await expect.poll(left, soon).toEqual([])
    return partner
  }
  const copiesOf = (userid: string) => arrived.filter(({ body }) => JSON.parse(body).userid === userid)

  test('sends chosen events again, with the same key and bytes; --dry-run only counts', async () => {
    const partner = await withEvents('again1', 'again2')
    const { events } = await wholeLog(partner.client)
    const chosen = ['--event', events.find(({ userid }) => userid === 'again1')?.eventid ?? '']
    expect(await replay(partner, ...chosen, '--dry-run')).toEqual({ ...one, dryrun: true })
    expect(await replay(partner, ...chosen)).toEqual(one)
    await expect.poll(() => copiesOf('again1').length, soon).toBe(2)
    const [first, second] = copiesOf('again1')
    expect(second).toEqual(first)
    expect(copiesOf('again2')).toHaveLength(1)
  })

  test('sends a range of time again', async () => {
    const partner = await withEvents('range1', 'range2')
    const from = ['--from', new Date(Date.now() - 3_600_000).toISOString()]
    const past = new Date(Date.now() - 1_800_000).toISOString()
    expect(await replay(partner, ...from, '--to', past)).toMatchObject({ count: 0 })
    const { code, stdout } = await run(
      ['replay', partner.partnerid, partner.webhookid ?? '', ...from],
      sandbox.place,
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2 will be sent again.\n' })
    await expect.poll(() => [copiesOf('range1').length, copiesOf('range2').length], soon).toEqual([2, 2])
  })

  test('sends again what was given up, and it is listed as such no more', async () => {
    const partner = await sandbox.newPartner(...webhook)
    await switchTo('disable', partner)
    await partner.client.prefillUser({ userid: 'dead' })
    // The state after thirty days without a success.
    await sandbox.database.query(sql`
      with given_up as (delete from deliveries where partner_id = ${partner.partnerid} returning *)
      insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
      select partner_id, event_id, endpoint_id, 12, 'age', queued_at from given_up`)
    await switchTo('enable', partner)
    expect(await list(partner)).toMatchObject([{ status: 'dead', attempts: 12 }])
    expect(await replay(partner, '--status', 'dead', '--dry-run')).toMatchObject({ count: 1, dryrun: true })
    expect(await list(partner)).toMatchObject([{ status: 'dead' }])
    expect(await replay(partner, '--status', 'dead')).toMatchObject({ count: 1, dryrun: false })
    await expect.poll(() => copiesOf('dead').length, soon).toBe(1)
    expect(await list(partner, '--status', 'dead')).toEqual([])
  })

  test('sends what waits for a later try at once', async () => {
    isTaking = false
    try {
      const partner = await sandbox.newPartner(...webhook)
      await partner.client.prefillUser({ userid: 'late' })
      const waiting = () => replay(partner, '--status', 'waiting', '--dry-run')
      await expect.poll(async () => (await waiting()).count, soon).toBe(1)
      isTaking = true
      await replay(partner, '--status', 'waiting')
      await expect.poll(() => copiesOf('late').length, soon).toBe(1)
    } finally {
      isTaking = true
    }
  })

  wholeRunTest(
    'wrong words are refused in a sentence, and another partner’s webhook is as an unknown one',
    async () => {
      const { partnerid, webhookid = '' } = await sandbox.newPartner(...webhook)
      const other = await sandbox.newPartner(...webhook)
      const refused = (...words: string[]) => sandbox.refusal('replay', partnerid, webhookid, ...words)
      const which = 'Say which events: --status dead, or --from TIME [--to TIME], or --event ID; see --help.'
      expect(await refused()).toBe(which)
      expect(await refused('--status', 'dead', '--event', nobody)).toBe(which)
      expect(await refused('--status', 'delivered')).toBe('--status must be dead or waiting; see --help.')
      expect(await refused('--event', 'e1')).toBe('--event must be an event id; see --help.')
      expect(await refused('--from', 'yesterday')).toMatch(
        /^--from must look like 2026-11-20 or 2026-11-20T15:04:05\.000Z; see --help\.$/,
      )
      const from = ['--from', '2026-11-20T15:04:05.000Z']
      expect(await refused(...from, '--to', 'now')).toMatch(/^--to must look like/)
      const order = '--to, or now where it is not given, must be after --from; see --help.'
      expect(await refused(...from, '--to', '2026-11-20T15:04:05.000Z')).toBe(order)
      expect(await refused('--from', '9999-01-01T00:00:00.000Z')).toBe(order)
      const dead = ['--status', 'dead']
      const to = ['--to', '2026-11-20T15:04:05.000Z']
      for (const words of [dead, ['--event', nobody]])
        expect(await refused(...words, ...to)).toBe('--to goes with --from only; see --help.')
      for (const id of [other.webhookid ?? '', 'none'])
        expect(await sandbox.refusal('replay', partnerid, id, ...dead)).toBe(
          `There is no webhook ${id} of this partner: see \`enrolment webhook list ${partnerid}\`.`,
        )
      expect(await sandbox.refusal('replay', nobody, webhookid, ...dead)).toMatch(/^There is no partner/)
      expect(await sandbox.refusal('replay', partnerid)).toMatch(/needs PARTNER and WEBHOOK/)
    },
  )
})
