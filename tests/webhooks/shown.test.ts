import { beforeAll, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
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
    events: ['user_erased'],
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
