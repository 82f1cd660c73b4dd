import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { uuidsIn } from '../../service/src/db/binary-array.ts'
import type { Database } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { claimDue } from '../../service/src/webhooks/delivery/claim.ts'
import { targetOf } from '../../service/src/webhooks/delivery/target.ts'
import { readEndpoints } from '../../service/src/webhooks/endpoint/endpoint.ts'
import { keepPlans, onOneServer, readByIndexes } from '../kept-plans.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

onOneServer(
  'a query plan made while the tables were empty still looks up each due event by its key, instead of reading all events',
  async () => {
    await using rig = await dispatchRig()
    const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
    const [row] = await readEndpoints(rig.database, [
      { partnerId: rig.partner.partnerId, endpointId: webhookid },
    ])
    if (!row) throw new Error('the endpoint is missing')
    const target = targetOf(row, rig.partner)
    const look = async () => {
      const { items } = await claimDue(rig.database, [{ target, room: 1000 }], {
        now: rig.now(),
        aheadMs: rig.now() - Date.now(),
      })
      await rig.database.query(sql`update deliveries set due_at = held_from, held_from = null`)
      return items
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
  await expect.poll(() => rig.count('deliveries')).toBe(0)
  await dispatcher.close()
  const after = await readByIndexes(rig.address, ['deliveries_due'])
  expect(new Set(receiver.deliveries.map(({ key }) => key)).size).toBe(370)
  expect(after.read - before.read).toBeLessThan(15_000)
  await receiver.close()
})

test('endpoints that are nudged together are claimed from by one statement', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  for (let index = 0; index < 20; index += 1) await rig.addEndpoint(receiver.url)
  const asks: number[] = []
  const query = <Row>(statement: Query): Promise<Row[]> => {
    const ids = statement.values.find(Buffer.isBuffer)
    if (ids && statement.text.includes('with ask as materialized')) asks.push(uuidsIn(ids).length)
    return rig.database.query<Row>(statement)
  }
  const watched: Database = { ...rig.database, query, of: () => watched, cells: () => [watched] }
  const dispatcher = rig.open({}, { database: watched })
  await dispatcher.idle()
  await rig.raise(['u'])
  asks.length = 0
  dispatcher.nudge()
  await receiver.received(20)
  expect(asks[0]).toBe(20)
  await dispatcher.close()
  await receiver.close()
})

test('an event that is raised while others of its endpoint wait for a slot is sent with them, although no attempt there ends', async () => {
  await using rig = await dispatchRig()
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const eventname = 'offer_cancel_successful'
  await rig.addEndpoint(receiver.url, { events: [eventname] })
  await rig.addEndpoint(other.url, { events: ['offer_activiation_successful'] })
  // No poll helps.
  const wide = { slots: 128, endpointSlots: 128, pollMs: 600_000 }
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

test('a backlog that is longer than what is claimed at once arrives whole, each event once, although nothing asks for more', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  // No poll helps.
  const dispatcher = rig.open({ pollMs: 600_000 })
  await dispatcher.idle()
  const ids = await rig.raise(Array.from({ length: 2500 }, (_, index) => `u${index}`))
  dispatcher.nudge()
  await receiver.received(2500)
  await expect.poll(() => rig.count('deliveries')).toBe(0)
  expect(receiver.deliveries.map(({ key }) => key).sort()).toEqual([...ids].sort())
  await dispatcher.close()
  await receiver.close()
})
