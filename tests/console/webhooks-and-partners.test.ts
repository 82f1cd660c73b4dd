import { beforeAll, describe, expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { rotateKey } from '../../service/src/partners/administer.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { makeQuiet } from '../../service/src/quiet.ts'
import { addEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { reasonedDeedsOf } from './deeds.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const receiver = forAllTests(startReceiver)
let endpoint = ''
beforeAll(async () => {
  const [row] = await findPartners(service.database, [partner.partnerId])
  if (!row) throw new Error('the partner is missing')
  const wish = {
    partner: partnerOf(row, service.keyring),
    url: receiver.url,
    username: 'harbor',
    password: 'pilot',
    events: 'all',
  } as const
  const made = await addEndpoint(service.database, wish, {
    rules: { sandbox: true, allow: [] },
    real: service.now,
  })
  if ('refused' in made) throw new Error(JSON.stringify(made.refused))
  endpoint = made.webhookid
  service.service().dispatcher.refresh()
})
const admin = forAllTests(() => signIn(service, 'admin'))
const viewer = forAllTests(() => signIn(service, 'viewer'))

function newUser(userid: string) {
  return partner.client.createUser({ ...ada, userid, offername: 'starter', benefits: ['telehealth'] })
}

describe('webhooks', () => {
  test('an endpoint is paused and enabled for a reason, and its events are held meanwhile', async () => {
    expect((await admin.post(`/webhooks/${endpoint}/pause`, {})).status).toBe(422)
    const paused = await admin.post(`/webhooks/${endpoint}/pause`, { reason: 'partner asked' })
    expect(paused.text).toContain('paused by an operator')
    expect(paused.text).toMatch(/paused by an operator, <time[^>]*>[^<]*<span class="clock">[^<]* E[SD]T</)
    await newUser('held-1')
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(service.now())
    const range = { what: 'range', from: today, until: today }
    expect((await admin.post(`/webhooks/${endpoint}/replay`, range)).text).toMatch(
      /What waits already is not counted: it is sent once this endpoint is enabled\./,
    )
    expect((await admin.get('/webhooks')).text).toMatch(/disabled<\/span>/)
    const before = receiver.deliveries.length
    const enabled = await admin.post(`/webhooks/${endpoint}/enable`, { reason: 'partner is back' })
    expect(enabled.text).not.toContain('paused by an operator')
    await receiver.received(before + 1)
    expect(await reasonedDeedsOf(service, admin)).toEqual(
      expect.arrayContaining(['pause webhook', 'enable webhook']),
    )
  })

  test('events are counted before they are sent again, with the same key', async () => {
    await newUser('again-1')
    await receiver.received(1)
    await service.service().dispatcher.idle()
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(service.now())
    const range = { what: 'range', from: day, until: day }
    const sent = receiver.deliveries.length
    const counted = await admin.post(`/webhooks/${endpoint}/replay`, range)
    expect(counted.text).toMatch(/(\d+) events of \w+ \d+, \d{4} would be sent again/)
    expect(counted.text).toContain(`name="from" type="date" value="${day}"`)
    expect(receiver.deliveries).toHaveLength(sent)
    const none = await admin.post(`/webhooks/${endpoint}/replay`, { what: 'dead' })
    expect(none.text).toContain('There are no events that were given up to send again.')
    expect((await admin.post(`/webhooks/${endpoint}/replay`, { ...range, sure: 'yes' })).status).toBe(422)
    const again = await admin.post(`/webhooks/${endpoint}/replay`, {
      ...range,
      sure: 'yes',
      reason: 'they lost a day',
    })
    expect(again.text).toMatch(/\d+ events are sent again/)
    await receiver.received(sent + 1)
    expect(await reasonedDeedsOf(service, admin)).toContain('replay')
    expect(
      (await admin.post(`/webhooks/${endpoint}/replay`, { what: 'range', from: 'x', until: day })).status,
    ).toBe(422)
  })

  test('events that are sent again to a paused endpoint are said to wait', async () => {
    await admin.post(`/webhooks/${endpoint}/pause`, { reason: 'partner asked' })
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(service.now())
    const range = { what: 'range', from: day, until: day }
    const held = 'This endpoint is disabled: they wait until it is enabled.'
    expect((await admin.post(`/webhooks/${endpoint}/replay`, range)).text).toContain(held)
    const sure = { ...range, sure: 'yes', reason: 'they lost a day' }
    expect((await admin.post(`/webhooks/${endpoint}/replay`, sure)).text).toContain(held)
    await admin.post(`/webhooks/${endpoint}/enable`, { reason: 'partner is back' })
    await service.service().dispatcher.idle()
  })

  test('an endpoint that refuses is shown with what it said and since when', async () => {
    receiver.answer = () => response => response.writeHead(422).end('no such rider')
    const { serviceid } = await newUser('refused-1')
    await vi.waitFor(async () => expect((await viewer.get('/webhooks')).text).toContain('HTTP 422'), {
      timeout: 120_000,
    })
    const seen = await viewer.get(`/webhooks/${endpoint}`)
    expect(seen.text).toContain('enrollment_successful')
    expect(seen.text).not.toContain('no such rider')
    expect((await admin.get(`/webhooks/${endpoint}`)).text).toContain(
      'first line: <code>no such rider</code>',
    )
    expect((await viewer.get(`/users/${serviceid}`)).text).not.toContain('no such rider')
    const shown = await admin.get(`/users/${serviceid}`)
    expect(shown.text).toContain('no such rider')
    expect(shown.text).toContain('waiting after HTTP 422')
    receiver.answer = () => 200
  })

  test('an event that is due and not sent says so, with the way to its endpoint, which says when it is tried', async () => {
    receiver.answer = () => 422
    for (const userid of ['refused-2', 'refused-3']) await newUser(userid)
    await vi.waitFor(
      async () =>
        expect((await viewer.get(`/webhooks/${endpoint}`)).text).toMatch(
          /one event is tried at a time, the oldest that is due, not before <time/,
        ),
      { timeout: 120_000 },
    )
    const { serviceid } = await newUser('held-2')
    const { text } = await viewer.get(`/users/${serviceid}`)
    expect(text).toMatch(
      new RegExp(`due since <time[^>]*>.*?</time>: <a href="/webhooks/${endpoint}">the endpoint</a> fails`),
    )
    receiver.answer = () => 200
  })

  test('of a partner that the operator does not work for is not there', async () => {
    const other = await service.newPartner({ name: 'Other' })
    const own = await signIn(service, 'admin', [other.partnerId])
    expect((await own.get(`/webhooks/${endpoint}`)).status).toBe(404)
    expect((await own.post(`/webhooks/${endpoint}/pause`, { reason: 'not mine' })).status).toBe(404)
    expect((await own.get('/webhooks')).text).toContain('No endpoint of this kind')
  })
})

describe('what is due', () => {
  test('is listed by day and kind, with who, and exported with harmless cells', async () => {
    const userid = '=1+1'
    const { serviceid } = await newUser(userid)
    await partner.client.cancelUser({ userid, reason: 'voluntary' })
    const page = await admin.get(`/due?partner=${partner.partnerId}&days=30`)
    expect(page.text).toContain('membership ends')
    expect(page.text).toContain('benefit ends')
    expect(page.text).toContain('Nothing is late')
    const csv = await admin.get(`/due.csv?partner=${partner.partnerId}&days=30&kind=membership+ends`)
    const line = csv.text.split('\r\n').find(one => one.includes(serviceid))
    expect(line).toContain(`,'=1+1,${serviceid}`)
    const masked = await viewer.get(`/due?partner=${partner.partnerId}&days=30`)
    expect(masked.text).toContain(serviceid)
    expect(masked.text).not.toContain('1+1')
  })

  test('and late is said aloud', async () => {
    const { serviceid } = await newUser('late-1')
    await service.database.query(sql`
      update users set cancel_at = ${new Date(service.now() - 600_000)}, cancel_requested_at = now(),
        cancel_reason = 'mistake', due_at = ${new Date(service.now() - 600_000)}
      where service_id = ${serviceid}`)
    expect((await admin.get(`/due?partner=${partner.partnerId}`)).text).toMatch(
      /(person was|people were) due and nothing has happened/,
    )
  })
})

describe('partners', () => {
  test('a credential is revoked for a reason, and nobody makes one at the console: that needs no second person by the API', async () => {
    const other = await service.newPartner({ name: 'Rotating' })
    const { secret } = await rotateKey(other.partnerId, 'client_secret', service.manage)
    let asked = 0
    const asks = (clientSecret: string) => {
      asked += 1
      return other.connect({ clientSecret }).prefillUser({ ...ada, userid: `rotating-${asked}` })
    }
    await asks(secret)
    const made = await admin.post(`/partners/${other.partnerId}/rotate`, { kind: 'api_key', reason: 'mine' })
    expect(made.status).toBe(405)
    const page = await admin.get(`/partners/${other.partnerId}`)
    expect(page.text).not.toContain(secret)
    expect(page.text).toContain(
      'the tokens that it got are refused. Those with the partner&#39;s other one go on.',
    )
    expect(page.text).toContain('requests with it are refused. The partner has no other that lasts: without')
    // The id of a credential follows the partner's in its secret.
    const old = /^enr_cs_sandbox_\w{22}(\w{10})_/.exec(other.clientSecret)?.[1] ?? ''
    await admin.post(`/partners/${other.partnerId}/revoke`, { credential: old, reason: 'changed over' })
    await expect(asks(other.clientSecret)).rejects.toMatchObject({ status: 401 })
    await asks(secret)
    expect(await reasonedDeedsOf(service, admin)).toContain('revoke credential')
  })

  test('shows the first steps of a partner', async () => {
    const other = await service.newPartner({ name: 'Beginner' })
    const steps = async () =>
      (await viewer.get(`/partners/${other.partnerId}`)).text.match(/tag good">done/g)?.length ?? 0
    expect(await steps()).toBe(0)
    await other.client.prefillUser({ ...ada, userid: 'first-1' })
    await vi.waitFor(async () => expect(await steps()).toBe(2), { timeout: 120_000 })
  })
})

test('on a quiet copy everything can be looked at, and nothing changed', async () => {
  await using copy = await startTestService({ console: true })
  const mine = await copy.newPartner({ name: 'Copied' })
  const { serviceid } = await mine.client.createUser({ ...ada, userid: 'copied-1', offername: 'starter' })
  await makeQuiet(copy.database, copy.now())
  await copy.restart()
  const operator = await signIn(copy, 'admin')
  expect((await operator.post('/find', { what: 'copied-1' })).path).toBe(`/users/${serviceid}`)
  for (const path of [`/partners/${mine.partnerId}/disable`, `/users/${serviceid}/link`]) {
    const refused = await operator.post(path, { reason: 'by mistake' })
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('Nothing can be changed now')
  }
  expect((await operator.get(`/partners/${mine.partnerId}`)).text).not.toContain('Disabled since')
})
