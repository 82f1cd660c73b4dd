// @databases citus stock

import { expect, test } from 'vitest'
import { webhooks } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { type Delivery, type Receiver, startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

function range(count: number, prefix = 'u') {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`)
}

/** Only catches a hang; asking less often leaves the processor to the dispatchers. */
const hangsOnly = { timeout: 240_000, interval: 250 }

/**
 * Each event came to each endpoint, told apart by their user names. More often than once only where an attempt failed, as its
 * answer came too late: no attempt is made twice.
 */
function expectEachOnEach(receiver: Receiver, usernames: readonly string[], eventIds: readonly string[]) {
  const arrived = receiver.deliveries.map(({ authorization, key, attempt }) => {
    const [username = ''] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')
    return { pair: `${username} ${key}`, attempt }
  })
  expect(new Set(arrived.map(({ pair }) => pair))).toEqual(
    new Set(usernames.flatMap(username => eventIds.map(id => `${username} ${id}`))),
  )
  const attempts = arrived.map(({ pair, attempt }) => `${pair} ${attempt}`)
  expect(attempts).toEqual([...new Set(attempts)])
}

test('every event reaches the endpoint once, with the documented headers and bytes', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const endpoint = await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open()
  await dispatcher.idle()
  await rig.raise(range(1000))
  dispatcher.nudge()
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(1000)
  expect(new Set(receiver.deliveries.map(delivery => delivery.key)).size).toBe(1000)
  const [first] = receiver.deliveries as [Delivery]
  expect(first.authorization).toBe(`Basic ${Buffer.from('hook:pass').toString('base64')}`)
  expect(first.attempt).toBe(1)
  expect(first.headers['content-type']).toBe('application/json')
  expect(Object.keys(JSON.parse(first.body))).toEqual(['userid', 'eventname', 'currentofferdetails'])
  const { headers, body } = first
  expect(await webhooks.verify({ headers, body }, { secret: endpoint.webhooksecret })).toMatchObject({
    idempotencyKey: first.key,
  })
  expect(await rig.count('deliveries')).toBe(0)
  expect(await rig.count('delivery_attempts')).toBe(1000)
  await receiver.close()
})

test('a failed attempt is repeated with the same key and the same bytes', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  receiver.answer = delivery => (delivery.attempt < 3 ? 500 : 200)
  const dispatcher = rig.open()
  await rig.raise(['u1'])
  await dispatcher.idle()
  expect(receiver.deliveries.map(delivery => delivery.attempt)).toEqual([1])
  rig.advance(7000)
  await dispatcher.idle()
  rig.advance(37_000)
  await dispatcher.idle()
  expect(receiver.deliveries.map(delivery => delivery.attempt)).toEqual([1, 2, 3])
  expect(new Set(receiver.deliveries.map(delivery => delivery.key + delivery.body)).size).toBe(1)
  expect(await rig.count('deliveries')).toBe(0)
  await receiver.close()
})

test('with ordering "user" one user\'s events arrive in order, and nobody else waits for them', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  const names = Array.from({ length: 60 }, (_, index) => `u${index % 6}`)
  const bodies: string[] = []
  // The first event of u0 fails twice.
  let failures = 2
  receiver.answer = delivery => {
    if (delivery.userid === 'u0' && failures > 0) {
      failures -= 1
      return 500
    }
    bodies.push(`${delivery.userid} ${delivery.key}`)
    return 200
  }
  const ids = await rig.raise(names)
  const keys = await rig.database.query<{ event_id: string; userid: string }>({
    name: '',
    text: 'select event_id, userid from events order by event_id',
    values: [],
  })
  expect(keys.map(row => row.event_id)).toEqual(ids)
  const dispatcher = rig.open()
  await dispatcher.idle()
  expect(bodies.filter(body => body.startsWith('u0 '))).toEqual([])
  expect(bodies).toHaveLength(50)
  rig.advance(7000)
  await dispatcher.idle()
  rig.advance(37_000)
  await dispatcher.idle()
  expect(bodies).toHaveLength(60)
  for (const user of range(6)) {
    expect(bodies.filter(body => body.startsWith(`${user} `))).toEqual(
      keys.filter(row => row.userid === user).map(row => `${user} ${row.event_id}`),
    )
  }
  await receiver.close()
})

test('two dispatchers send each event to each endpoint once, and one goes on alone when the other has closed', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const endpoints = range(6, 'hook')
  for (const username of endpoints) await rig.addEndpoint(receiver.url, { username })
  const [one, two] = [rig.open(), rig.open()]
  await Promise.all([one.idle(), two.idle()])
  const early = await rig.raise(range(50))
  for (const each of [one, two]) each.nudge()
  await expect.poll(() => rig.count('deliveries'), hangsOnly).toBe(0)
  expectEachOnEach(receiver, endpoints, early)
  await one.close()
  expect(one.inventory()).toEqual({ endpoints: 0, underWay: 0, unwritten: 0, timers: 0 })
  const late = await rig.raise(range(50))
  two.nudge()
  await expect.poll(() => rig.count('deliveries'), hangsOnly).toBe(0)
  expectEachOnEach(receiver, endpoints, [...early, ...late])
  await receiver.close()
}, 600_000)

test('a process that drains claims nothing, and one that closes leaves nothing claimed', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const draining = rig.open({ graceMs: 100 }, { deadlineMs: 600_000 })
  receiver.answer = () => () => {}
  await rig.raise(range(2))
  draining.refresh()
  await receiver.received(2)
  draining.drain()
  const late = await rig.raise(['late'])
  draining.nudge()
  draining.refresh()
  await draining.close()
  expect(await rig.database.query(sql`select 1 from deliveries where held_from is not null`)).toEqual([])
  expect(receiver.deliveries).toHaveLength(2)
  // Another process sends at once what the closed one did not see arrive.
  receiver.answer = () => 200
  await rig.open().idle()
  expect(await rig.count('deliveries')).toBe(0)
  expect(receiver.deliveries.slice(2).map(({ key }) => key)).toContain(late[0])
  await receiver.close()
})
