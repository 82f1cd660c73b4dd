// @prism

import { expect, test } from 'vitest'
import { webhooks } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'
import { wholeLog } from '../whole-log.ts'
import { type Delivery, startReceiver } from './receiver.ts'

const service = forAllTests(() => startTestService({ startAt: Date.now() }))
const receiver = forAllTests(startReceiver)

function idle() {
  return service.service().dispatcher.idle()
}
const credentials = { username: 'hook', password: 'pässword' }
function endpointOf(partner: TestPartner, more: object = {}) {
  return partner.client.createWebhook({ url: receiver.url, ...credentials, ...more })
}
function sent(eventid: string) {
  return receiver.deliveries.filter(one => one.key === eventid)
}

test('a partner can look up a delivery by its key and have it sent again with key and bytes unchanged', async () => {
  const partner = await service.newPartner()
  const made = await endpointOf(partner, { events: ['all'] })
  await partner.client.prefillUser({ userid: 'held', ...ada })
  await idle()
  const [delivery] = receiver.deliveries.filter(one => one.userid === 'held')
  if (!delivery) throw new Error('nothing was delivered')
  const secrets = { secret: made.webhooksecret ?? '', now: service.now() }
  const { idempotencyKey, event } = await webhooks.verify(delivery, secrets)
  expect(delivery.headers['webhook-id']).toBe(idempotencyKey)
  expect(idempotencyKey).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  const logged = await partner.client.getEvent({ eventid: idempotencyKey })
  expect(logged).toMatchObject({ eventid: idempotencyKey, userid: 'held', body: event })
  expect((await partner.client.listEvents({ userid: 'held' })).events).toMatchObject([
    { eventid: idempotencyKey },
  ])
  expect(await partner.client.replayEvent({ eventid: idempotencyKey })).toMatchObject({ count: 1 })
  await idle()
  expect(sent(idempotencyKey).map(one => one.body)).toEqual([delivery.body, delivery.body])
})

test('a test event reaches the endpoint whatever its filter, verifies, and shows its attempt', async () => {
  const partner = await service.newPartner()
  const { webhookid, webhooksecret = '' } = await endpointOf(partner, { events: ['user_erased'] })
  const { eventid } = await partner.client.testWebhook({ webhookid })
  await idle()
  const [delivery] = sent(eventid) as [Delivery]
  expect(JSON.parse(delivery.body)).toEqual({
    userid: 'webhook-test',
    eventname: 'webhook_test',
    currentofferdetails: {
      offer: '',
      updatedat: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      serviceid: '00000000-0000-0000-0000-000000000000',
    },
  })
  const verified = await webhooks.verify(
    { headers: delivery.headers, body: delivery.body },
    { ...credentials, secret: webhooksecret },
  )
  expect(verified.idempotencyKey).toBe(delivery.key)
  expect((await partner.client.listAttempts({ eventid })).attempts).toMatchObject([
    {
      webhookid,
      attempt: 1,
      status: 200,
      error: null,
      credentials: 'current',
      address: '127.0.0.1',
      answer: null,
    },
  ])
  expect(await partner.client.getEvent({ eventid })).toMatchObject({
    eventname: 'webhook_test',
    userid: 'webhook-test',
    deliveries: [],
  })
})

test('a replayed test event goes to its own endpoint, and to no other that subscribes to all events', async () => {
  const partner = await service.newPartner()
  const { webhookid } = await endpointOf(partner)
  await endpointOf(partner, { events: ['all'] })
  await endpointOf(partner, { events: ['webhook_test'] })
  const { eventid } = await partner.client.testWebhook({ webhookid })
  await idle()
  expect(await partner.client.replayEvent({ eventid })).toMatchObject({ count: 1 })
  await idle()
  const { attempts } = await partner.client.listAttempts({ eventid })
  expect(attempts.map(one => one.webhookid)).toEqual([webhookid, webhookid])
})

test('events go to the endpoints that subscribe to them, and the more specific event comes first in the log', async () => {
  const partner = await service.newPartner()
  await endpointOf(partner)
  await partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  await idle()
  const { events, next } = await wholeLog(partner.client)
  expect(events.map(event => event.eventname)).toEqual([
    'enrollment_successful',
    'offer_activiation_successful',
  ])
  const [successful, activated] = events.map(event => event.eventid) as [string, string]
  expect(sent(successful)).toEqual([])
  expect(JSON.parse(sent(activated)[0]?.body ?? '')).toEqual(events[1]?.body)
  expect(await partner.client.listEvents({ after: next })).toEqual({ events: [], next })
  expect((await partner.client.listEvents({ eventname: 'enrollment_successful' })).events).toHaveLength(1)
  expect((await partner.client.listEvents({ userid: 'nobody' })).events).toEqual([])
  await expect(partner.client.listEvents({ after: 'x' })).rejects.toMatchObject({
    code: 'bad_request',
    errors: [{ field: 'after' }],
  })
  const before = receiver.deliveries.length
  expect(await partner.client.replayEvent({ eventid: activated })).toEqual({
    count: 1,
    dryrun: false,
    complete: true,
    continuefrom: null,
  })
  await idle()
  const [again] = receiver.deliveries.slice(before) as [Delivery]
  expect([again.key, again.body]).toEqual([sent(activated)[0]?.key, sent(activated)[0]?.body])
})

test('an endpoint gets the events that are raised after its creation, by default of one name, and `all` includes names that are added later', async () => {
  const partner = await service.newPartner()
  await partner.client.createUser({ userid: 'before', ...ada, offername: 'starter' })
  const byDefault = await endpointOf(partner)
  const all = await endpointOf(partner, { events: ['all'] })
  expect([byDefault.events, all.events]).toEqual([['offer_activiation_successful'], ['all']])
  await partner.client.createUser({ userid: 'after', ...ada, offername: 'starter' })
  await idle()
  const got = (webhook: { webhookid: string }) =>
    service.database.query<{ eventname: string; userid: string }>(sql`
      select e.eventname, e.userid from delivery_attempts d join events e using (partner_id, event_id)
      where d.partner_id = ${partner.partnerId} and d.endpoint_id = ${webhook.webhookid} order by e.position`)
  const activated = { eventname: 'offer_activiation_successful', userid: 'after' }
  expect(await got(byDefault)).toEqual([activated])
  expect(await got(all)).toEqual([{ eventname: 'enrollment_successful', userid: 'after' }, activated])
  // A later version brings a name that the database has never seen; what an endpoint wants is not kept as a list of names.
  const [stored] = await service.database.query(sql`
    select all_events, events from webhook_endpoints
    where partner_id = ${partner.partnerId} and endpoint_id = ${all.webhookid}`)
  expect(stored).toEqual({ all_events: true, events: [] })
})

test('a range, a list and the dead deliveries can be replayed, and a dry run sends nothing', async () => {
  const partner = await service.newPartner()
  const { webhookid } = await endpointOf(partner, { events: ['user_update_successful'] })
  const from = new Date(service.now()).toISOString()
  await partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  for (const phone of ['3055550111', '3055550112', '3055550113'])
    await partner.client.updateUser({ userid: 'u1', phone })
  await idle()
  const to = new Date(service.now() + 1000).toISOString()
  const before = receiver.deliveries.length
  expect(await partner.client.replayWebhook({ webhookid, from, to, dryrun: true })).toMatchObject({
    count: 3,
    dryrun: true,
  })
  await idle()
  expect(receiver.deliveries.length).toBe(before)
  expect(await partner.client.replayWebhook({ webhookid, from, to })).toMatchObject({
    count: 3,
    complete: true,
  })
  await idle()
  expect(receiver.deliveries.length).toBe(before + 3)
  const { events } = await wholeLog(partner.client)
  const ids = events.slice(0, 2).map(event => event.eventid)
  expect(await partner.client.replayWebhook({ webhookid, ids: [...ids, webhookid] })).toMatchObject({
    count: 2,
  })
  await idle()
  expect(receiver.deliveries.length).toBe(before + 5)
  await expect(partner.client.replayWebhook({ webhookid })).rejects.toMatchObject({ code: 'bad_request' })
  await expect(partner.client.replayWebhook({ webhookid, from })).rejects.toMatchObject({
    errors: [{ field: 'to' }],
  })
  // The least date of other systems is taken; a year 0000, which no calendar of ours has, is no timestamp.
  const ever = { webhookid, from: '0001-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z', dryrun: true }
  expect(await partner.client.replayWebhook(ever)).toMatchObject({ complete: true })
  await expect(
    partner.client.replayWebhook({ ...ever, from: '0000-01-01T00:00:00.000Z' }),
  ).rejects.toMatchObject({ code: 'bad_request', errors: [{ field: 'from', code: 'format' }] })
  expect(await partner.client.replayWebhook({ webhookid, status: 'dead' })).toMatchObject({ count: 0 })
})

test('both secrets sign during a rotation, and the older one ends after 24 hours', async () => {
  const partner = await service.newPartner()
  const { webhookid, webhooksecret: old = '' } = await endpointOf(partner)
  const { webhooksecret: fresh = '', oldsecretuntiltimestamp } = await partner.client.updateWebhook({
    webhookid,
    rotatesecret: true,
  })
  expect(fresh).not.toBe(old)
  expect(oldsecretuntiltimestamp).not.toBeNull()
  const verify = async (secret: string) => {
    const { eventid } = await partner.client.testWebhook({ webhookid })
    await idle()
    const [delivery] = sent(eventid) as [Delivery]
    return webhooks.verify({ headers: delivery.headers, body: delivery.body }, { secret, now: service.now() })
  }
  await verify(old)
  await verify(fresh)
  service.advance(25 * 3_600_000)
  await verify(fresh)
  await expect(verify(old)).rejects.toMatchObject({ code: 'webhook_invalid' })
})

test('new credentials are used first and the present ones right after a 401, and the API shows which were accepted', async () => {
  const partner = await service.newPartner()
  const { webhookid } = await endpointOf(partner)
  const basic = (password: string) => `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`
  let accepted = basic('pässword')
  const other = await startReceiver()
  other.answer = delivery => (delivery.authorization === accepted ? 200 : 401)
  await partner.client.updateWebhook({ webhookid, url: other.url, username: 'hook', password: 'pässword' })
  await partner.client.updateWebhook({ webhookid, password: 'newer' })
  const attempt = async () => {
    const { eventid } = await partner.client.testWebhook({ webhookid })
    await idle()
    const { attempts } = await partner.client.listAttempts({ eventid })
    const { acceptedcredentials } = await partner.client.getWebhook({ webhookid })
    return { attempts: attempts.map(one => [one.credentials, one.status]), acceptedcredentials }
  }
  expect(await attempt()).toEqual({
    attempts: [
      ['next', 401],
      ['current', 200],
    ],
    acceptedcredentials: 'current',
  })
  accepted = basic('newer')
  expect(await attempt()).toEqual({ attempts: [['next', 200]], acceptedcredentials: 'next' })
  accepted = basic('pässword')
  expect((await attempt()).attempts).toEqual([
    ['next', 401],
    ['current', 200],
  ])
  accepted = basic('newer')
  await attempt()
  // A day after the new credentials were first accepted, the old ones are no longer sent.
  service.advance(25 * 3_600_000)
  accepted = basic('pässword')
  expect((await attempt()).attempts).toEqual([['next', 401]])
  await other.close()
})
