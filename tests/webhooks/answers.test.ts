import type { ServerResponse } from 'node:http'
import { beforeAll, expect, test, vi } from 'vitest'
import { listEntries } from '../../service/src/audit/entries.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { startReceiver } from './receiver.ts'

const HOUR = 3_600_000

const service = forAllTests(startTestService)
const partner = forAllTests(() => service.newPartner())
const receiver = forAllTests(startReceiver)
let webhookid: string
beforeAll(async () => {
  const made = await partner.client.createWebhook({
    url: receiver.url,
    username: 'hook',
    password: 'pass',
    events: ['all'],
  })
  webhookid = made.webhookid
})

function idle() {
  return service.service().dispatcher.idle()
}
function show() {
  return partner.client.getWebhook({ webhookid })
}
async function ping(): Promise<string> {
  const { eventid } = await partner.client.testWebhook({ webhookid })
  await idle()
  return eventid
}
function instant(text: string | null): number {
  return Date.parse(text ?? '')
}

test('an endpoint shows its health: failing with refused credentials and an open breaker, and then well again', async () => {
  const well = {
    status: 'enabled',
    breaker: 'closed',
    credentialsrejected: false,
    nextprobeattimestamp: null,
    failingsincetimestamp: null,
    disablesattimestamp: null,
    pauseduntiltimestamp: null,
  }
  expect(await show()).toMatchObject(well)
  receiver.answer = () => 401
  const before = service.now()
  await ping()
  expect(await show()).toMatchObject({ breaker: 'closed', credentialsrejected: true, waiting: 1 })
  await ping()
  await ping()
  const cutOff = await show()
  expect(cutOff).toMatchObject({ status: 'enabled', breaker: 'open', credentialsrejected: true, waiting: 3 })
  const since = instant(cutOff.failingsincetimestamp)
  expect(since).toBeGreaterThanOrEqual(before)
  expect(since).toBeLessThanOrEqual(service.now())
  expect(instant(cutOff.disablesattimestamp)).toBe(since + 72 * HOUR)
  expect(instant(cutOff.nextprobeattimestamp)).toBeGreaterThanOrEqual(since + 10_000)
  receiver.answer = () => 200
  service.advance(HOUR)
  await idle()
  expect(await show()).toMatchObject({ ...well, waiting: 0 })
})

test('the pause that an endpoint asked for is shown until it is over, and nothing is sent before', async () => {
  receiver.answer = () => response => response.writeHead(503, { 'retry-after': '7200' }).end()
  const before = service.now()
  await ping()
  const until = instant((await show()).pauseduntiltimestamp)
  expect(until).toBeGreaterThanOrEqual(before + 2 * HOUR)
  expect(until).toBeLessThanOrEqual(service.now() + 2 * HOUR)
  receiver.answer = () => 200
  const attempts = receiver.deliveries.length
  service.advance(HOUR)
  await ping()
  expect(receiver.deliveries).toHaveLength(attempts)
  service.advance(HOUR)
  await idle()
  expect(receiver.deliveries).toHaveLength(attempts + 2)
  expect(await show()).toMatchObject({ pauseduntiltimestamp: null, waiting: 0 })
})

test('after a 410 an endpoint is shown as disabled, and POST …/enable enables it and sends the held events', async () => {
  receiver.answer = () => 410
  await ping()
  receiver.answer = () => 200
  await ping()
  const disabled = await show()
  expect(disabled).toMatchObject({ status: 'disabled', disabledreason: 'gone', waiting: 2 })
  expect(instant(disabled.disabledattimestamp)).toBeLessThanOrEqual(service.now())
  expect(disabled.disablesattimestamp).toBeNull()
  const attempts = receiver.deliveries.length
  expect(await partner.client.enableWebhook({ webhookid })).toMatchObject({
    status: 'enabled',
    disabledreason: null,
    disabledattimestamp: null,
    failingsincetimestamp: null,
  })
  await receiver.received(attempts + 2)
  await idle()
  expect(await show()).toMatchObject({ waiting: 0 })
})

test('an endpoint that was disabled while its breaker was open shows no probe, neither under way nor to come', async () => {
  receiver.answer = () => 401
  for (const _ of 'xxx') await ping()
  expect(await show()).toMatchObject({ breaker: 'open' })
  receiver.answer = () => 410
  service.advance(HOUR)
  await idle()
  const gone = { status: 'disabled', disabledreason: 'gone', breaker: 'open', nextprobeattimestamp: null }
  expect(await show()).toMatchObject(gone)
  receiver.answer = () => 200
  const attempts = receiver.deliveries.length
  expect(await partner.client.enableWebhook({ webhookid })).toMatchObject({ breaker: 'closed' })
  await receiver.received(attempts + 3)
  await idle()
})

test('the first 1 KiB of an answer other than 2xx is shown, with deceptive characters escaped', async () => {
  receiver.answer = () => response =>
    response.writeHead(422).end(`\u001b[2Ja\u202eb\u2028é\t${'x'.repeat(2000)}`)
  const { attempts } = await partner.client.listAttempts({ eventid: await ping() })
  const [answer = ''] = attempts.map(one => one.answer ?? '')
  expect(answer).toMatch(/^\\u\{1b\}\[2Ja\\u\{202e\}b\\u\{2028\}é\\u\{9\}x+$/)
  expect(answer.replace(/^[^x]*/, '').length).toBeLessThanOrEqual(1024)
})

test('nothing of the body of a 2xx is kept', async () => {
  receiver.answer = () => response => response.writeHead(201).end('stored Ada Rivera')
  const eventid = await ping()
  expect((await partner.client.listAttempts({ eventid })).attempts).toMatchObject([
    { status: 201, answer: null },
  ])
  const rows = await service.database.query(sql`
    select 1 from delivery_attempts where event_id = ${eventid} and sealed_answer is not null`)
  expect(rows).toEqual([])
})

test('each duration of an attempt is shown under its name', async () => {
  const eventid = await ping()
  await service.database.query(sql`
    update delivery_attempts set dns_ms = 1, connect_ms = 2, tls_ms = 3, first_byte_ms = 4, total_ms = 5
    where event_id = ${eventid}`)
  expect((await partner.client.listAttempts({ eventid })).attempts).toMatchObject([
    { dnsms: 1, connectms: 2, tlsms: 3, firstbytems: 4, totalms: 5 },
  ])
})

test('a partner cannot say where a delivery comes from: such a header is refused by its field', async () => {
  const more = { headers: { 'x-forwarded-for': '10.0.0.1' } }
  const wish = { url: receiver.url, username: 'hook', password: 'pass' }
  const saves = await Promise.allSettled([
    partner.client.createWebhook({ ...wish, ...more }),
    partner.client.updateWebhook({ webhookid, ...more }),
  ])
  for (const { status, ...rest } of saves) {
    expect(status).toBe('rejected')
    expect(rest).toMatchObject({
      reason: { status: 400, code: 'bad_request', errors: [{ field: 'headers' }] },
    })
  }
})

/** Raises one event of a user, has it attempted once with this answer, and returns the event's id. */
async function raise(userid: string, answer: (response: ServerResponse) => void): Promise<string> {
  const before = receiver.deliveries.length
  receiver.answer = () => answer
  await partner.client.prefillUser({ userid, ...ada })
  await service.service().dispatcher.idle()
  const eventid = receiver.deliveries[before]?.key ?? ''
  // A success in between, so that refusals of different events do not open the breaker.
  receiver.answer = () => 200
  await partner.client.testWebhook({ webhookid })
  await service.service().dispatcher.idle()
  return eventid
}
function refuse(text: string) {
  return (response: ServerResponse) => {
    response.writeHead(422).end(text)
  }
}
async function answersOf(eventid: string) {
  return (await partner.client.listAttempts({ eventid })).attempts.map(({ answer }) => answer)
}
/** Every row of the log of attempts, as text: bytes in hexadecimal. */
async function stored(): Promise<string> {
  const rows = await service.database.query<{ row: string }>(
    sql`select a::text as row from delivery_attempts a`,
  )
  return rows.map(({ row }) => row).join('\n')
}

test('the answer to a failed attempt is shown unchanged, and is stored nowhere in clear', async () => {
  const texts = [
    '',
    ' ',
    'NULL',
    '{}',
    '{"a","b"}',
    '\\',
    '"',
    '\\"',
    "it's",
    'a,b',
    'ñ €',
    '$1',
    'Adacanary',
  ]
  for (const [index, text] of texts.entries()) {
    const eventid = await raise(`text-${index}`, refuse(text))
    expect(await answersOf(eventid)).toEqual([text === '' ? null : text])
  }
  const rows = await stored()
  expect(rows).toContain('422')
  for (const form of ['Adacanary', Buffer.from('Adacanary').toString('hex')]) expect(rows).not.toContain(form)
})

test('who was shown an answer is on record, by credential, network and user, and who saw attempts without one is not', async () => {
  const accepted = await raise('answered-well', response => void response.writeHead(204).end())
  const refused = await raise('answered-badly', refuse('Adacanary is unknown here'))
  expect(await answersOf(accepted)).toEqual([null])
  expect(await answersOf(refused)).toEqual(['Adacanary is unknown here'])
  const { serviceid } = await partner.client.getUser({ userid: 'answered-badly' })
  const { partnerId } = partner
  const shown = await vi.waitFor(
    async () => {
      const rows = await listEntries(service.database, {
        partnerId,
        from: 0,
        until: service.now() + 86_400_000,
      })
      // Noted after the reads of attempts, so nothing of them is still to be written.
      expect(rows.map(({ action }) => action)).toContain('getUser')
      return rows.filter(({ action, service_id }) => action === 'listAttempts' && service_id === serviceid)
    },
    { timeout: 120_000 },
  )
  expect(shown).toHaveLength(1)
  expect(shown[0]).toMatchObject({ actor_kind: 'credential', result: 'shown' })
  expect(shown[0]?.source).toHaveLength(16)
  const [good] = await service.database.query<{ times: number }>(sql`
    select count(*)::int as times from audit_log a join events e using (partner_id, service_id)
    where e.event_id = ${accepted}::uuid and a.action = 'listAttempts'`)
  expect(good).toEqual({ times: 0 })
})

test('an erasure makes stored answers unreadable, because it deletes the key that opens them', async () => {
  const eventid = await raise('erased', refuse('Riveracanary is unknown here'))
  expect(await answersOf(eventid)).toEqual(['Riveracanary is unknown here'])
  receiver.answer = () => refuse('Riveracanary again')
  await partner.client.eraseUser({ userid: 'erased' })
  expect(await answersOf(eventid)).toEqual([null])
  // The answer to an attempt that ends after the erasure has no key to be sealed with, so nothing of it is kept.
  await service.service().dispatcher.idle()
  const [row] = await service.database.query<{ attempted: number; kept: number }>(sql`
    select count(*) as attempted, count(*) filter (where sealed_answer is not null) as kept
    from delivery_attempts a join events e using (partner_id, event_id) where e.eventname = 'user_erased'`)
  expect(row).toEqual({ attempted: 1, kept: 0 })
})

test('where the key of a user cannot be opened, an attempt is recorded without its answer instead of being made for ever', async () => {
  const eventid = await raise('unopened', response => void response.writeHead(200).end())
  await service.database.query(sql`
    update data_keys k set wrapped_key = '\\x00' from users u
    where u.partner_id = k.partner_id and u.service_id = k.service_id and u.userid = 'unopened'`)
  receiver.answer = () => refuse('not now')
  await partner.client.replayEvent({ eventid })
  await service.service().dispatcher.idle()
  const { attempts } = await partner.client.listAttempts({ eventid })
  expect(attempts).toMatchObject([{ status: 200 }, { status: 422, answer: null }])
})

test('an answer copied to another attempt cannot be opened there', async () => {
  const first = await raise('moved', refuse('of the first'))
  const second = await raise('moved', refuse('of the second'))
  expect(await answersOf(second)).toEqual(['of the second'])
  const [copied] = await service.database.query<{ sealed_answer: Buffer }>(sql`
    select sealed_answer from delivery_attempts where event_id = ${first} and sealed_answer is not null`)
  await service.database.query(sql`
    update delivery_attempts set sealed_answer = ${copied?.sealed_answer} where event_id = ${second}`)
  await expect(partner.client.listAttempts({ eventid: second })).rejects.toMatchObject({ status: 500 })
})

test('the trace of a request goes out with its webhooks and stands in the log, and is no part of the event', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const traced = partner.connect({
    fetch: (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('traceparent', traceparent)
      return service.conformance.fetch(input, { ...init, headers })
    },
  })
  const before = receiver.deliveries.length
  receiver.answer = () => 200
  await traced.prefillUser({ userid: 'traced', ...ada })
  await traced.createUser({ userid: 'traced', ...ada, offername: 'starter' })
  await partner.client.cancelUser({ userid: 'traced' })
  await service.service().dispatcher.idle()
  const arrived = receiver.deliveries.slice(before)
  expect(arrived.length).toBeGreaterThan(2)
  const traces = arrived.map(({ headers }) => headers['traceparent'])
  expect(traces.at(-1)).toBeUndefined()
  expect(new Set(traces.slice(0, -1))).toEqual(new Set([traceparent]))
  const { data } = await partner.client.getEvent({ eventid: arrived[0]?.key ?? '' })
  expect(data).not.toHaveProperty('traceparent')
  const requests = service.logged.filter(({ event }) => event === 'request')
  expect(
    requests.filter(({ fields }) => fields?.['trace'] === traceparent.slice(3, 35)).length,
  ).toBeGreaterThan(1)
})
