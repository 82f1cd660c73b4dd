import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import {
  changeEndpoint,
  type EndpointChanges,
  getEndpoint,
} from '../../service/src/webhooks/endpoint/endpoints.ts'
import { queueAgain } from '../../service/src/webhooks/log/replay.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig, failOldest } from './rig.ts'

const SECOND = 1000
function range(count: number, prefix: string) {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`)
}

test('events that an endpoint always rejects keep their schedule and others arrive in between, although together they open the breaker', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = delivery => (delivery.userid.startsWith('bad') ? 500 : 200)
  await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open()
  await rig.raise(range(6, 'bad'))
  await dispatcher.idle()
  const steps = 90
  for (let step = 0; step < steps; step += 1) {
    await rig.raise([`good${step}`])
    rig.advance(5 * SECOND)
    await dispatcher.idle()
  }
  // By its schedule a delivery has four attempts in these seven and a half minutes; a short outage adds at most one.
  const rows = await rig.database.query<{ attempts: number }>(
    sql`select attempts from deliveries where attempts > 0`,
  )
  expect(rows).toHaveLength(6)
  for (const { attempts } of rows) expect(attempts).toBeLessThanOrEqual(5)
  // The others wait only for the ten seconds of an outage.
  const arrived = receiver.deliveries.filter(one => one.userid.startsWith('good'))
  expect(arrived.length).toBeGreaterThan(steps - 4)
  await receiver.close()
})

test('an endpoint that answers again, even by refusing the probe, gets at once the events that waited during its outage', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = () => 503
  await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open()
  await failOldest(rig, dispatcher)
  await rig.raise(['refused', ...range(5, 'u')])
  const failed = receiver.deliveries.length
  expect(failed).toBe(5)
  receiver.answer = delivery => (delivery.userid === 'refused' ? 400 : 200)
  rig.advance(11 * SECOND)
  await dispatcher.idle()
  const released = receiver.deliveries.slice(failed).map(one => one.userid)
  expect(released.slice(0, 2)).toEqual(['refused', 'oldest'])
  expect(new Set(released)).toEqual(new Set(['refused', 'oldest', 'opener', ...range(5, 'u')]))
  expect(await rig.count('deliveries')).toBe(1)
  await receiver.close()
})

test('the end of an outage releases the replays that were attempted during it, and no others', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  const dispatcher = rig.open()
  const ids = await rig.raise(['stubborn', 'oldest', 'opener', 'probe'])
  await dispatcher.idle()
  const replay = async (...indexes: number[]) => {
    const events = indexes.map(index => ({ ...target, eventId: ids[index] ?? '' }))
    await queueAgain(rig.database, events, rig.now())
    await dispatcher.idle()
  }
  const stateOf = (index: number) =>
    rig.database.query(sql`select work, attempts from deliveries where event_id = ${ids[index]}`)
  // Refused because of the event itself, and more often than the outage will have time for.
  receiver.answer = () => 400
  await replay(0)
  for (const wait of [6, 36, 144, 720]) {
    rig.advance(wait * SECOND + 10)
    await dispatcher.idle()
  }
  receiver.answer = () => 200
  await rig.raise(['good'])
  await dispatcher.idle()
  receiver.answer = () => 503
  await replay(1)
  for (const wait of [6, 36, 144]) {
    rig.advance(wait * SECOND + 10)
    await dispatcher.idle()
  }
  await replay(2)
  // The state after a replay that ran at the same time as the giving up.
  await rig.database.query(sql`
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    values (${target.partnerId}, ${ids[1]}, ${webhookid}, 12, 'attempts', ${new Date(rig.now()).toISOString()})`)
  const failed = receiver.deliveries.length
  await replay(3)
  expect(receiver.deliveries).toHaveLength(failed)
  receiver.answer = () => 200
  rig.advance(11 * SECOND)
  await dispatcher.idle()
  const released = receiver.deliveries.slice(failed).map(one => one.userid)
  expect(new Set(released)).toEqual(new Set(['oldest', 'opener', 'probe']))
  expect(await stateOf(0)).toEqual([{ work: 'replay', attempts: 5 }])
  expect(await rig.count('deliveries')).toBe(1)
  // Released as a replay, it removes the delivery from the list of dead ones.
  expect(await rig.count('dead_deliveries')).toBe(0)
  await receiver.close()
})

test('the result of an attempt at an address that has changed since affects only its delivery', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const other = await startReceiver()
  let held: ServerResponse[] = []
  const { webhookid } = await rig.addEndpoint(receiver.url)
  // A held attempt is held for longer than the test lasts.
  const dispatcher = rig.open({}, { deadlineMs: 600_000 })
  const look = () => getEndpoint(rig.database, rig.partner.partnerId, webhookid)
  const change = (changes: EndpointChanges) =>
    rig.database.transaction(async tx => {
      const context = { rules: { sandbox: true, allow: [] }, real: rig.now }
      await changeEndpoint(tx, { partner: rig.partner, endpointId: webhookid, changes }, context)
    })
  // An endpoint that is known to answer may have more than a few attempts under way.
  await rig.raise(['known'])
  await dispatcher.idle()
  receiver.answer = () => response => held.push(response)
  await rig.raise(range(8, 'u'))
  await receiver.received(9)
  await change({ url: other.url, credentials: { username: 'hook', password: 'pass' } })
  // A new address begins with one attempt at a time; attempts at the old address do not count.
  await rig.raise(['new'])
  dispatcher.refresh()
  await other.received(1)
  const [gone, paused, ...broken] = held
  paused?.writeHead(429, { 'retry-after': '3600' }).end()
  for (const response of broken) response.writeHead(500).end()
  gone?.writeHead(410).end()
  await dispatcher.idle()
  expect(await look()).toMatchObject({
    disabled_at: null,
    waiting: 8,
    health: { pausedUntil: undefined, failingSince: undefined, breaker: { open: null, endpointInRow: 0 } },
  })
  expect(await rig.database.query(sql`select distinct work, attempts from deliveries`)).toEqual([
    { work: 'retry', attempts: 1 },
  ])
  rig.advance(7 * SECOND)
  await dispatcher.idle()
  expect(other.deliveries).toHaveLength(9)

  // A success with credentials that were replaced meanwhile says nothing about the new ones.
  held = []
  other.answer = () => response => held.push(response)
  await change({ credentials: { username: 'hook', password: 'first' } })
  await rig.raise(['trial'])
  dispatcher.refresh()
  await other.received(10)
  await change({ credentials: { username: 'hook', password: 'second' } })
  await rig.raise(['after'])
  dispatcher.refresh()
  await other.received(11)
  const [trial, after] = held
  trial?.writeHead(200).end()
  await expect.poll(() => rig.count('deliveries')).toBe(1)
  after?.writeHead(422).end()
  await dispatcher.idle()
  expect(await look()).toMatchObject({ health: { acceptedPair: 'current', nextAcceptedAt: undefined } })
  await receiver.close()
  await other.close()
})

test('a 410 from an address that has changed since is not logged as disabling the endpoint, even when the sender does not know of the change yet', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  const { webhookid } = await rig.addEndpoint(receiver.url)
  // No poll informs it earlier.
  const dispatcher = rig.open({ pollMs: 600_000 })
  await rig.raise(['u'])
  dispatcher.refresh()
  await receiver.received(1)
  await rig.database.transaction(tx =>
    changeEndpoint(
      tx,
      { partner: rig.partner, endpointId: webhookid, changes: { url: `${receiver.url}/other` } },
      { rules: { sandbox: true, allow: [] }, real: rig.now },
    ),
  )
  held[0]?.writeHead(410).end()
  await expect.poll(() => rig.count('delivery_attempts')).toBe(1)
  await dispatcher.idle()
  expect(await getEndpoint(rig.database, rig.partner.partnerId, webhookid)).toMatchObject({
    disabled_at: null,
  })
  expect(rig.logged.filter(line => line.event === 'webhook.disabled')).toEqual([])
  receiver.answer = () => 200
  rig.advance(7 * SECOND)
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(2)
  await receiver.close()
})

test.each([
  ['asks for a pause', 429, 1],
  ['is gone', 410, 1],
  ['refuses our credentials, of which three failures open the breaker', 401, 3],
])(
  'of what was being claimed when its endpoint %s, only so many are sent as it may get, and the rest keeps its place',
  async (_name, status, sent) => {
    await using rig = await dispatchRig()
    const receiver = await startReceiver()
    const held: ServerResponse[] = []
    receiver.answer = ({ userid }) => (userid === 'bad' ? 422 : response => held.push(response))
    await rig.addEndpoint(receiver.url)
    const database: Database = {
      ...rig.database,
      query: async <Row>(query: Query) => {
        const rows = await rig.database.query<Row>(query)
        const isClaim = query.text.includes('with ask as materialized')
        if (isClaim && rows.length > 0 && held.length > 0) {
          held.pop()?.writeHead(status, { 'retry-after': '3600' }).end()
          await expect.poll(() => rig.count('delivery_attempts')).toBe(2)
        }
        return rows
      },
    }
    // No poll finds what is given back.
    const dispatcher = rig.open({ pollMs: 600_000 }, { database, deadlineMs: 600_000 })
    // By an answer it is known to be quick, and may get many at a time.
    await rig.raise(['bad'])
    await dispatcher.idle()
    await rig.raise(['first'])
    dispatcher.nudge()
    await receiver.received(2)
    await rig.raise(range(3, 'claimed'))
    dispatcher.nudge()
    await expect.poll(() => rig.count('delivery_attempts')).toBe(2)
    const due = sql`select from deliveries where due_at <= ${new Date(rig.now()).toISOString()}`
    await expect.poll(() => rig.database.query(due)).toHaveLength(4 - sent)
    await receiver.received(1 + sent)
    expect(receiver.deliveries).toHaveLength(1 + sent)
    receiver.answer = () => 200
    for (const response of held.splice(0)) response.writeHead(200).end()
    if (sent > 1) await receiver.received(5)
    await receiver.close()
  },
)
