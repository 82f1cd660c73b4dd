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

/** What a heartbeat logs when it fails. */
const faults = new Set(['webhook_leases_not_renewed'])

/** A database that records its statements. */
function counted(rig: DispatchRig) {
  const asked: string[] = []
  const told = (db: Executor): Executor => ({
    query(query) {
      // A beat reports that this process is alive (again, if it is late), and reads its endpoints and the size of its
      // share.
      const isBeat = /update dispatchers|insert into dispatchers|where l\.owner = /.test(query.text)
      asked.push(isBeat ? 'beat' : query.text.trim().split(/\s+/, 6).join(' '))
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

test('an idle dispatcher sends only its heartbeat to the database, although an endpoint is dead and others wait for retries', async () => {
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
  const dispatcher = rig.open({ leaseMs: 600 }, { database })
  await dispatcher.idle()
  asked.length = 0
  await expect.poll(() => asked.length).toBeGreaterThanOrEqual(6)
  expect(new Set(asked)).toEqual(new Set(['beat']))
  // The beat also finds events that another process has committed.
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

test('unreadable secrets of an endpoint are logged when the fault begins and when it ends, not at every heartbeat', async () => {
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
  const beats = async (count: number) => {
    const until = asked.filter(text => text === 'beat').length + count
    await expect.poll(() => asked.filter(text => text === 'beat').length).toBeGreaterThanOrEqual(until)
  }
  await secrets('take')
  rig.open({ leaseMs: 150 }, { database })
  await rig.raise(['u'])
  await expect.poll(told).toEqual(['webhook_not_opened'])
  await beats(6)
  expect(told()).toEqual(['webhook_not_opened'])
  await secrets('give')
  await receiver.received(1)
  expect(told()).toEqual(['webhook_not_opened', 'webhook_opened'])
  await secrets('take')
  await rig.database.query(sql`update webhook_endpoints set version = version + 1`)
  await expect.poll(() => told().slice(2)).toEqual(['webhook_not_opened'])
  await beats(6)
  expect(told().slice(2)).toEqual(['webhook_not_opened'])
  await receiver.close()
})

test('an endpoint that is deleted with its partner just before it is taken fails no heartbeat, and keeps no other from being taken', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const leaving = await rig.newPartner('Leaving')
  await rig.addEndpoint('http://127.0.0.1:1/hook', { partner: leaving })
  await rig.addEndpoint(receiver.url)
  let deletions = 0
  const deleteFirst = async () => {
    deletions += 1
    const { partnerId } = leaving
    await rig.database.query(sql`delete from endpoint_health where partner_id = ${partnerId}`)
    await rig.database.query(sql`delete from webhook_endpoints where partner_id = ${partnerId}`)
  }
  const database: Database = {
    ...rig.database,
    transaction: work =>
      rig.database.transaction(tx =>
        work({
          ...tx,
          query: async query => {
            if (deletions === 0 && query.text.includes('insert into endpoint_leases')) await deleteFirst()
            return tx.query(query)
          },
        }),
      ),
  }
  const dispatcher = rig.open({}, { database })
  await rig.raise(['u'])
  await dispatcher.idle()
  expect(receiver.deliveries.map(({ userid }) => userid)).toEqual(['u'])
  expect(deletions).toBe(1)
  expect(rig.logged.filter(({ event }) => faults.has(event))).toEqual([])
  await receiver.close()
})

test('an endpoint that is deleted with its partner just before it is given up fails no heartbeat', async () => {
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
  // An endpoint whose secrets cannot be opened is given up once nothing is under way there.
  await rig.database.query(sql`
    update webhook_endpoints set sealed_secrets = substr(sealed_secrets, 2), version = version + 1
    where partner_id = ${partnerId}`)
  dispatcher.refresh()
  const told = () => rig.logged.map(({ event }) => event)
  await expect.poll(told, { timeout: 180_000 }).toContain('webhook_not_opened')
  await rig.database.query(sql`delete from deliveries where partner_id = ${partnerId}`)
  await rig.database.query(sql`delete from endpoint_leases where partner_id = ${partnerId}`)
  await rig.database.query(sql`delete from endpoint_health where partner_id = ${partnerId}`)
  await rig.database.query(sql`delete from webhook_endpoints where partner_id = ${partnerId}`)
  for (const response of held) response.writeHead(200).end()
  await expect.poll(() => dispatcher.inventory().underWay, { timeout: 180_000 }).toBe(0)
  await dispatcher.idle()
  await rig.raise(['u'])
  await dispatcher.idle()
  expect(other.deliveries.map(({ userid }) => userid)).toEqual(['u'])
  expect(told().filter(event => faults.has(event))).toEqual([])
  expect(dispatcher.inventory().endpoints).toBe(1)
  await receiver.close()
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
  const beats = async (count: number) => {
    asked.length = 0
    for (let done = 0; done < count; done += 1) {
      dispatcher.refresh()
      await expect
        .poll(() => asked.filter(one => one === 'beat').length, { timeout: 180_000 })
        .toBeGreaterThan(done * 2)
    }
  }
  await rig.raise(['held'])
  dispatcher.refresh()
  await receiver.received(1)
  await disableEndpoint(rig.database, target, { reason: 'operator', at: rig.now() })
  await beats(3)
  await enableEndpoint(rig.database, target, rig.now())
  await rig.raise(['next'])
  await beats(3)
  receiver.answer = () => 200
  for (const response of held) response.writeHead(200).end()
  await receiver.received(2)
  await dispatcher.idle()
  expect(receiver.deliveries.map(({ userid }) => userid)).toEqual(['held', 'next'])
  await receiver.close()
})
