// @databases citus

import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Database, Executor } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { disableEndpoint, enableEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

function range(count: number, prefix = 'u') {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`)
}

/** A database that records its statements. */
function counted(rig: DispatchRig) {
  const asked: string[] = []
  const told = (db: Executor): Executor => ({
    query(query) {
      const isList = query.text.includes('as has_due')
      asked.push(isList ? 'list' : query.text.trim().split(/\s+/, 6).join(' '))
      return db.query(query)
    },
  })
  const database: Database = {
    ...rig.database,
    ...told(rig.database),
    transaction: work => rig.database.transaction(tx => work(told(tx))),
  }
  return { asked, database }
}

test('an idle dispatcher asks the database only where something is due, although an endpoint is dead and others wait for retries', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const limping = await startReceiver()
  limping.answer = delivery => (delivery.userid === 'bad' ? 422 : 200)
  await rig.addEndpoint(receiver.url)
  await rig.addEndpoint(limping.url)
  await rig.addEndpoint('http://127.0.0.1:1/hook')
  const first = rig.open()
  await rig.raise(['bad', ...range(8)])
  await first.idle()
  // So often that both are left alone for minutes from now on.
  for (const wait of [11, 31, 61, 121, 301, 601]) {
    rig.advance(wait * 1000)
    await first.idle()
  }
  await first.close()
  expect(await rig.count('deliveries')).toBeGreaterThan(8)

  const { asked, database } = counted(rig)
  const dispatcher = rig.open({}, { database })
  await dispatcher.idle()
  asked.length = 0
  await expect.poll(() => asked.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(6)
  expect(new Set(asked)).toEqual(new Set(['list']))
  // It also finds events that another process has committed.
  const before = receiver.deliveries.length
  await rig.raise(['late'])
  await receiver.received(before + 1)
  await receiver.close()
  await limping.close()
})

test('a slow endpoint, retries and replays stay within their shares of the slots while new events of others arrive', async () => {
  await using rig = await dispatchRig()
  const slow = await startReceiver()
  const quick = await startReceiver()
  const held: (() => void)[] = []
  let mostHeld = 0
  slow.answer = () => response => {
    held.push(() => response.writeHead(200).end())
    mostHeld = Math.max(mostHeld, held.length)
  }
  const partner = await rig.newPartner('Slow')
  const { webhookid } = await rig.addEndpoint(slow.url, { partner })
  await rig.addEndpoint(quick.url)
  // The state after an outage: every waiting delivery is a retry or a replay.
  await rig.raise(range(60, 's'), { partner })
  const [middle] = await rig.database.query<{ event_id: string }>(sql`
    select event_id from deliveries where endpoint_id = ${webhookid} order by event_id offset 30 limit 1`)
  await rig.database.query(sql`
    update deliveries set work = case when event_id < ${middle?.event_id} then 'retry' else 'replay' end, attempts = 1
    where endpoint_id = ${webhookid}`)
  // A held attempt is held for longer than the test lasts.
  const dispatcher = rig.open({ slots: 16, endpointSlots: 16 }, { deadlineMs: 600_000 })
  await slow.received(1)
  // None of its attempts ends, and still each round of the other partner's events arrives.
  for (let round = 1; round <= 10; round += 1) {
    await rig.raise(range(20, `q${round}-`))
    dispatcher.nudge()
    await quick.received(round * 20)
  }
  expect(quick.deliveries.length).toBe(200)
  // An unknown endpoint may use at most four slots.
  expect(mostHeld).toBeLessThanOrEqual(4)
  slow.answer = () => 200
  for (const answer of held) answer()
  await slow.received(60)
  await dispatcher.idle()
  expect(await rig.count('deliveries')).toBe(0)
  await slow.close()
  await quick.close()
})

test('unreadable secrets of an endpoint are logged when the fault begins and when it ends, not at every look', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  const secrets = async (change: 'take' | 'give') =>
    rig.database.query(
      change === 'take'
        ? sql`update webhook_endpoints set sealed_secrets = substr(sealed_secrets, 2)`
        : sql`update webhook_endpoints set sealed_secrets = ${kept}`,
    )
  const [row] = await rig.database.query<{ sealed_secrets: Buffer }>(
    sql`select sealed_secrets from webhook_endpoints`,
  )
  const kept = row?.sealed_secrets
  const told = () =>
    rig.logged.filter(({ fields }) => fields['webhookid'] === webhookid).map(({ event }) => event)
  const { asked, database } = counted(rig)
  const lists = async (count: number) => {
    const until = asked.filter(text => text === 'list').length + count
    const counted = () => asked.filter(text => text === 'list').length
    await expect.poll(counted, { timeout: 30_000 }).toBeGreaterThanOrEqual(until)
  }
  await secrets('take')
  rig.open({}, { database })
  await rig.raise(['u'])
  await expect.poll(told).toEqual(['webhook_not_opened'])
  await lists(3)
  expect(told()).toEqual(['webhook_not_opened'])
  await secrets('give')
  await receiver.received(1)
  expect(told()).toEqual(['webhook_not_opened', 'webhook_opened'])
  await secrets('take')
  await rig.database.query(sql`update webhook_endpoints set version = version + 1`)
  await expect.poll(() => told().slice(2)).toEqual(['webhook_not_opened'])
  await lists(3)
  expect(told().slice(2)).toEqual(['webhook_not_opened'])
  await receiver.close()
})

test('an endpoint that is deleted with its partner during an attempt there hinders no other', async () => {
  await using rig = await dispatchRig()
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const leaving = await rig.newPartner('Leaving')
  await rig.addEndpoint(receiver.url, { partner: leaving })
  await rig.addEndpoint(other.url)
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  const dispatcher = rig.open({}, { deadlineMs: 600_000 })
  await rig.raise(['held'], { partner: leaving })
  dispatcher.refresh()
  await receiver.received(1)
  const { partnerId } = leaving
  await rig.database.query(sql`delete from deliveries where partner_id = ${partnerId}`)
  await rig.database.query(sql`delete from endpoint_health where partner_id = ${partnerId}`)
  await rig.database.query(sql`delete from webhook_endpoints where partner_id = ${partnerId}`)
  for (const response of held) response.writeHead(410).end()
  await expect.poll(() => dispatcher.inventory().underWay).toBe(0)
  await dispatcher.idle()
  await rig.raise(['u'])
  await dispatcher.idle()
  expect(other.deliveries.map(({ userid }) => userid)).toEqual(['u'])
  expect(rig.logged).toEqual([])
  expect(dispatcher.inventory().endpoints).toBe(1)
  await receiver.close()
  await other.close()
})

test('however many processes there are, a broken endpoint gets one probe at a time', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  receiver.answer = () => 500
  const first = rig.open()
  await rig.raise(range(20))
  await first.idle()
  const failed = receiver.deliveries.length
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  const others = [first, rig.open({}, { deadlineMs: 600_000 }), rig.open({}, { deadlineMs: 600_000 })]
  await Promise.all(others.slice(1).map(each => each.idle()))
  rig.advance(11_000)
  for (let round = 0; round < 20; round += 1) {
    for (const each of others) each.refresh()
    await receiver.received(failed + 1)
    await Promise.all(others.map(() => rig.count('deliveries')))
  }
  expect(receiver.deliveries).toHaveLength(failed + 1)
  // The others learn of its success, and the backlog goes out.
  receiver.answer = () => 200
  for (const response of held) response.writeHead(200).end()
  await expect.poll(() => rig.count('deliveries'), { timeout: 60_000 }).toBe(0)
  await receiver.close()
})

test('a probe that a process leaves undone when it stops is made by the next process at once', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  receiver.answer = () => 500
  const stopping = rig.open({ graceMs: 0 }, { deadlineMs: 600_000 })
  await rig.raise(range(20))
  await stopping.idle()
  const failed = receiver.deliveries.length
  receiver.answer = () => () => {}
  rig.advance(11_000)
  stopping.nudge()
  await receiver.received(failed + 1)
  await stopping.close()
  receiver.answer = () => 200
  await rig.open().idle()
  expect(await rig.count('deliveries')).toBe(0)
  await receiver.close()
})

test('an attempt from before the breaker opened that fails beside the probe makes no room for a second probe', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const [one, two] = [1, 2].map(() => rig.open({ pollMs: 600_000 }, { deadlineMs: 600_000 }))
  if (!one || !two) throw new Error('no dispatchers')
  await rig.raise(['known'])
  await one.idle()
  await two.idle()
  const held: ServerResponse[] = []
  receiver.answer = ({ userid }) => (userid === 'early' ? response => held.push(response) : 500)
  await rig.raise(['early'])
  two.nudge()
  await receiver.received(2)
  await rig.raise(range(5))
  await one.idle()
  expect(receiver.deliveries).toHaveLength(7)
  receiver.answer = () => response => held.push(response)
  rig.advance(11_000)
  one.nudge()
  await receiver.received(8)
  const [early, probe] = held
  early?.writeHead(500).end()
  await expect.poll(() => two.inventory().underWay).toBe(0)
  for (let round = 0; round < 10; round += 1) {
    two.refresh()
    await expect.poll(() => rig.count('delivery_attempts')).toBe(7)
  }
  expect(receiver.deliveries).toHaveLength(8)
  // The probe's own failure does, once the breaker is due for another.
  probe?.writeHead(500).end()
  await expect.poll(() => one.inventory().underWay).toBe(0)
  rig.advance(31_000)
  two.refresh()
  await receiver.received(9)
  await receiver.close()
})

test('a failure that would disable an endpoint, but for a success that another process has seen, holds nothing back there', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  await rig.database.query(sql`
    update endpoint_health set failing_since = ${new Date(rig.now() - 73 * 3_600_000).toISOString()}`)
  await rig.raise(['u'])
  const dispatcher = rig.open({ pollMs: 600_000 }, { deadlineMs: 600_000 })
  await receiver.received(1)
  await rig.database.query(sql`update endpoint_health set failing_since = null, revision = revision + 1`)
  for (const response of held) response.writeHead(500).end()
  await expect.poll(() => dispatcher.inventory().underWay).toBe(0)
  receiver.answer = () => 200
  await rig.raise(['next'])
  dispatcher.nudge()
  await receiver.received(2)
  await receiver.close()
})

test('an endpoint that another process has disabled is left alone at once, although this one does not know', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  const { asked, database } = counted(rig)
  const dispatcher = rig.open({ pollMs: 600_000 }, { database })
  await dispatcher.idle()
  const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  await disableEndpoint(rig.database, target, { reason: 'operator', at: rig.now() })
  await rig.raise(['u'])
  asked.length = 0
  dispatcher.nudge()
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  for (let turn = 0; turn < 30; turn += 1) await rig.count('deliveries')
  // It claims, and reads the endpoint.
  expect(asked).toHaveLength(2)
  expect(dispatcher.inventory().endpoints).toBe(0)
  expect(receiver.deliveries).toEqual([])
  await receiver.close()
})

test('a dispatcher rests while slow endpoints, with more to do, have all slots but the reserve', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  for (const username of range(3)) await rig.addEndpoint(receiver.url, { username })
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  let looks = 0
  const real = () => {
    looks += 1
    return rig.now()
  }
  await rig.raise(range(10))
  const dispatcher = rig.open({ slots: 8, pollMs: 600_000 }, { deadlineMs: 600_000, real })
  await receiver.received(6)
  for (let turn = 0; turn < 10; turn += 1) await rig.count('deliveries')
  looks = 0
  for (let turn = 0; turn < 30; turn += 1) await rig.count('deliveries')
  expect(looks).toBe(0)
  receiver.answer = () => 200
  for (const response of held) response.writeHead(200).end()
  await receiver.received(30)
  await dispatcher.idle()
  expect(await rig.count('deliveries')).toBe(0)
  await receiver.close()
})

test('however many processes there are, a rate holds for all of them together', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url, { ratelimit: 10 })
  const others = [rig.open(), rig.open(), rig.open()]
  await Promise.all(others.map(each => each.idle()))
  await rig.raise(range(12))
  for (let round = 1; round <= 12; round += 1) {
    for (const each of others) each.nudge()
    await receiver.received(round)
    for (const each of others) await each.idle()
    expect(receiver.deliveries.length).toBeLessThanOrEqual(round + 1)
    rig.advance(100)
  }
  expect(new Set(receiver.deliveries.map(({ key }) => key)).size).toBe(12)
  await receiver.close()
})

test('a rate below one delivery a day counts as one a day, and hinders no other endpoint', async () => {
  await using rig = await dispatchRig()
  const [rare, other] = [await startReceiver(), await startReceiver()]
  await rig.addEndpoint(rare.url, { ratelimit: 1e-13 })
  await rig.addEndpoint(other.url)
  const dispatcher = rig.open()
  await rig.raise(range(2))
  await dispatcher.idle()
  expect([rare.deliveries.length, other.deliveries.length]).toEqual([1, 2])
  rig.advance(86_401_000)
  await dispatcher.idle()
  expect(rare.deliveries).toHaveLength(2)
  await rare.close()
  await other.close()
})

test('an endpoint that is disabled and enabled again during an attempt gets that event once, and then what else is due', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  const { asked, database } = counted(rig)
  const dispatcher = rig.open({}, { deadlineMs: 600_000, database })
  const lists = async (count: number) => {
    asked.length = 0
    for (let done = 0; done < count; done += 1) {
      dispatcher.refresh()
      await expect.poll(() => asked.filter(one => one === 'list').length).toBeGreaterThan(done)
    }
  }
  await rig.raise(['held'])
  dispatcher.refresh()
  await receiver.received(1)
  await disableEndpoint(rig.database, target, { reason: 'operator', at: rig.now() })
  await lists(3)
  await enableEndpoint(rig.database, target, rig.now())
  await rig.raise(['next'])
  await lists(3)
  receiver.answer = () => 200
  for (const response of held) response.writeHead(200).end()
  await receiver.received(2)
  await dispatcher.idle()
  expect(receiver.deliveries.map(({ userid }) => userid)).toEqual(['held', 'next'])
  await receiver.close()
})
