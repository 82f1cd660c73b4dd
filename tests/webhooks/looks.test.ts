import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { readDue } from '../../service/src/webhooks/delivery/due.ts'
import { beginRead, ownEndpoint, queueItem } from '../../service/src/webhooks/delivery/endpoint-queues.ts'
import { closedBreaker } from '../../service/src/webhooks/endpoint/breaker.ts'
import { credentialsOf } from '../../service/src/webhooks/endpoint/credentials.ts'
import { readEndpoints } from '../../service/src/webhooks/endpoint/endpoint.ts'
import { keepPlans, onOneServer, readByIndexes } from '../kept-plans.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

onOneServer(
  'a query plan made while the tables were empty still looks up each due event by its key, instead of reading all events',
  async () => {
    await using rig = await dispatchRig()
    const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
    const ask = { partnerId: rig.partner.partnerId, endpointId: webhookid, quota: 1000 }
    const look = async () => {
      const found = await readDue(rig.database, [{ ...ask, queue: 'fresh' }], rig.now())
      return [...found.values()].flat()
    }
    await keepPlans(rig.database)
    // From here on plans are kept.
    const before = await readByIndexes(rig.address, ['events_pkey', 'events_position'])
    expect(await look()).toEqual([])
    await rig.raise(Array.from({ length: 300 }, (_, index) => `u${index}`))
    for (let looks = 0; looks < 3; looks += 1) expect(await look()).toHaveLength(300)
    const after = await readByIndexes(rig.address, ['events_pkey', 'events_position'])
    expect(after.scans).toBeGreaterThanOrEqual(before.scans + 900)
    expect((after.read - before.read) / (after.scans - before.scans)).toBeLessThan(2)
  },
)

test('the backlog of an endpoint that accepts nothing is not read again with each new event, and is sent once it accepts', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  await rig.addEndpoint(receiver.url)
  const before = await readByIndexes(rig.address, ['deliveries_due'])
  // A held attempt must not reach the deadline, on however slow a machine.
  const dispatcher = rig.open({}, { deadlineMs: 600_000 })
  await rig.raise(Array.from({ length: 70 }, (_, index) => `early-${index}`))
  dispatcher.nudge()
  await receiver.received(1)
  for (let index = 0; index < 300; index += 1) {
    await rig.raise([`late-${index}`])
    dispatcher.nudge()
  }
  receiver.answer = () => 200
  for (const response of held) response.writeHead(200).end()
  await receiver.received(370)
  await expect.poll(() => rig.count('deliveries'), { timeout: 180_000 }).toBe(0)
  await dispatcher.close()
  const after = await readByIndexes(rig.address, ['deliveries_due'])
  expect(new Set(receiver.deliveries.map(({ key }) => key)).size).toBe(370)
  expect(after.read - before.read).toBeLessThan(15_000)
  await receiver.close()
})

test('endpoints that are nudged together are read by one statement', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  for (let index = 0; index < 20; index += 1) await rig.addEndpoint(receiver.url)
  const asks: number[] = []
  const query = <Row>(statement: Query): Promise<Row[]> => {
    const [partnerIds] = statement.values
    if (statement.text.includes('as ask (partner_id,')) asks.push((partnerIds as string[]).length)
    return rig.database.query<Row>(statement)
  }
  const dispatcher = rig.open({}, { database: { ...rig.database, query } })
  await dispatcher.idle()
  await rig.raise(['u'])
  asks.length = 0
  dispatcher.nudge()
  await receiver.received(20)
  expect(asks[0]).toBe(20 * 3)
  await dispatcher.close()
  await receiver.close()
})

test('what is due at an endpoint that was paused when it was taken is sent once the pause ends, even if that is during a read', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  await rig.addEndpoint('http://127.0.0.1:1/hook')
  await rig.raise(['u'])
  await rig.database.query(sql`
    update endpoint_health set paused_until = ${new Date(rig.now() + 500).toISOString()}
    where endpoint_id = ${webhookid}`)
  const query = async <Row>(statement: Query): Promise<Row[]> => {
    if (statement.text.includes('as ask (partner_id,')) rig.advance(1000)
    return rig.database.query<Row>(statement)
  }
  // There is no poll, and the next beat is far away.
  const dispatcher = rig.open({ pollMs: 600_000, leaseMs: 600_000 }, { database: { ...rig.database, query } })
  await receiver.received(1)
  await dispatcher.close()
  await receiver.close()
})

test('a dispatcher whose leases have ended reads nothing until they are renewed, although something is due', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  await rig.addEndpoint(receiver.url)
  let reads = 0
  let isCut = false
  const query = <Row>(statement: Query): Promise<Row[]> => {
    if (statement.text.includes('as ask (partner_id,')) reads += 1
    // On a cluster a beat is no transaction.
    if (isCut && /(update|into) dispatchers/.test(statement.text)) return Promise.reject(new Error('no beat'))
    return rig.database.query<Row>(statement)
  }
  const transaction: Database['transaction'] = work =>
    isCut ? Promise.reject(new Error('no beat')) : rig.database.transaction(work)
  const dispatcher = rig.open(
    { leaseMs: 1500, endpointSlots: 1 },
    { deadlineMs: 600_000, database: { ...rig.database, query, transaction } },
  )
  await rig.raise(['first', 'second'])
  dispatcher.refresh()
  await receiver.received(1)
  isCut = true
  const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
  await pause(1500)
  const before = reads
  await pause(500)
  expect(reads).toBe(before)
  isCut = false
  receiver.answer = () => 200
  for (const response of held) response.writeHead(200).end()
  await receiver.received(2)
  await dispatcher.close()
  await receiver.close()
})

test('an event that is raised while others of its endpoint wait for a slot is sent with them, although no attempt there ends', async () => {
  await using rig = await dispatchRig()
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const eventname = 'offer_cancel_successful'
  await rig.addEndpoint(receiver.url, { events: [eventname] })
  await rig.addEndpoint(other.url, { events: ['offer_activiation_successful'] })
  // There is no poll, and the next beat is far away.
  const wide = { slots: 128, endpointSlots: 128, pollMs: 600_000, leaseMs: 600_000 }
  const dispatcher = rig.open(wide, { deadlineMs: 600_000 })
  await rig.raise(['first'], { eventname })
  await rig.raise(['first'])
  await dispatcher.idle()
  const held: ServerResponse[] = []
  other.answer = () => response => held.push(response)
  receiver.answer = () => () => {}
  await rig.raise(Array.from({ length: 128 }, (_, index) => `other-${index}`))
  dispatcher.nudge()
  await other.received(1 + 96)
  await rig.raise(
    Array.from({ length: 64 }, (_, index) => `early-${index}`),
    { eventname },
  )
  dispatcher.nudge()
  for (let index = 0; index < 20; index += 1) {
    await rig.raise([`late-${index}`], { eventname })
    dispatcher.nudge()
  }
  other.answer = () => 200
  for (const response of held) response.writeHead(200).end()
  await receiver.received(1 + 64 + 20)
  await dispatcher.close()
  await receiver.close()
  await other.close()
})

test('a backlog that is longer than what is read ahead arrives whole, each event once, although nothing asks for more', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  // There is no poll, and the next beat is far away.
  const dispatcher = rig.open({ pollMs: 600_000, leaseMs: 600_000 })
  await dispatcher.idle()
  const ids = await rig.raise(Array.from({ length: 2500 }, (_, index) => `u${index}`))
  dispatcher.nudge()
  await receiver.received(2500)
  await expect.poll(() => rig.count('deliveries'), { timeout: 180_000 }).toBe(0)
  expect(receiver.deliveries.map(({ key }) => key).sort()).toEqual([...ids].sort())
  await dispatcher.close()
  await receiver.close()
})

test('at least half of what a read asks for is new, however small the quota is; a probe is one', async () => {
  await using rig = await dispatchRig()
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  const [endpoint] = await readEndpoints(rig.database, [
    { partnerId: rig.partner.partnerId, endpointId: webhookid },
  ])
  if (!endpoint) throw new Error('the endpoint is missing')
  const credentials = credentialsOf({
    current: { kind: 'bearer', token: 't' },
    next: null,
    signing: [],
    headers: {},
    client: null,
  })
  const owned = ownEndpoint({ endpoint, credentials }, 1)
  for (let index = 0; index < 60; index += 1) {
    const about = { event_id: `e${index}`, attempts: 0, due_at: 0, created_at: 0 }
    queueItem(owned, { ...about, queue: 'fresh', body: Buffer.alloc(0) })
  }
  owned.queues.fresh.waiting.splice(0)
  const quotas = () => beginRead(owned, { limit: 64, quota: 8, now: rig.now() }).map(ask => ask.quota)
  expect(quotas()).toEqual([60 + 60, 8, 8])
  owned.health = {
    ...owned.health,
    breaker: { ...closedBreaker(), open: { level: 0, until: 0, since: 0, by: 'endpoint' } },
  }
  expect(quotas()).toEqual([60 + 1, 1, 1])
})
