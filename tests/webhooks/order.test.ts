import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/log/clean-up.ts'
import { queueAgain } from '../../service/src/webhooks/log/replay.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig, newWriter } from './rig.ts'

const HOUR = 3_600_000

test('with ordering "user" events arrive in the order in which they were raised, although the clocks of two writers differ by an hour', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  const accepted: string[] = []
  // The first, the second and the fifth event fail twice each.
  let failures = 0
  receiver.answer = delivery => {
    if ([0, 1, 4].includes(accepted.length) && failures < 2) {
      failures += 1
      return 500
    }
    failures = 0
    accepted.push(delivery.key)
    return 200
  }
  const writers = [await newWriter(0), await newWriter(-HOUR)]
  const ids: string[] = []
  for (let turn = 0; turn < 4; turn += 1)
    for (const writer of writers) ids.push(...(await rig.raise(['u', 'u'], { writer })))
  expect([...ids].sort()).not.toEqual(ids)
  const dispatcher = rig.open()
  for (const pause of [0, 7000, 37_000, 7000, 37_000, 7000, 37_000]) {
    rig.advance(pause)
    await dispatcher.idle()
  }
  expect(accepted).toEqual(ids)
  expect(receiver.deliveries).toHaveLength(ids.length + 6)
  await receiver.close()
})

test('a replayed event is sent at the place in the order at which it was raised', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url, { ordering: 'user' })
  const writers = [await newWriter(0), await newWriter(-HOUR)]
  const ids: string[] = []
  const raise = async () => {
    for (const writer of writers) ids.push(...(await rig.raise(['u'], { writer })))
  }
  await raise()
  const first = rig.open()
  await first.idle()
  await first.close()
  expect(receiver.deliveries).toHaveLength(2)
  await raise()
  const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  const again = ids.slice(0, 2).map(eventId => ({ ...target, eventId }))
  expect(await queueAgain(rig.database, again, rig.now())).toBe(2)
  const second = rig.open()
  await second.idle()
  expect(receiver.deliveries.map(one => one.key)).toEqual([...ids.slice(0, 2), ...ids])
  await receiver.close()
})

test('an event that is being sent while an earlier one is replayed is sent once', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url, { ordering: 'user' })
  const dispatcher = rig.open({}, { deadlineMs: 600_000 })
  const [first = ''] = await rig.raise(['u'])
  await dispatcher.idle()
  let release = () => {}
  receiver.answer = ({ key }) =>
    key === first ? 200 : response => (release = () => response.writeHead(200).end())
  const [second = ''] = await rig.raise(['u'])
  dispatcher.nudge()
  await receiver.received(2)
  await queueAgain(
    rig.database,
    [{ partnerId: rig.partner.partnerId, endpointId: webhookid, eventId: first }],
    rig.now(),
  )
  dispatcher.nudge()
  await receiver.received(3)
  await expect.poll(() => rig.count('deliveries')).toBe(1)
  receiver.answer = () => 200
  const [third = ''] = await rig.raise(['u'])
  dispatcher.nudge()
  release()
  await receiver.received(4)
  await dispatcher.idle()
  expect(receiver.deliveries.map(({ key }) => key)).toEqual([first, second, first, third])
  expect(await rig.count('deliveries')).toBe(0)
  await receiver.close()
})

test('what stands behind an event that is given up after 30 days is sent then', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  receiver.answer = ({ userid }) => (userid === 'u' ? 422 : 200)
  const sent = () => receiver.deliveries.filter(({ userid }) => userid === 'u').map(({ key }) => key)
  const dispatcher = rig.open()
  const [head = ''] = await rig.raise(['u', 'other'])
  await dispatcher.idle()
  await rig.database.query(sql`update deliveries set due_at = due_at + interval '60 days'`)
  rig.advance(29 * 24 * HOUR)
  const followers = await rig.raise(['u', 'u'])
  await dispatcher.idle()
  expect(sent()).toEqual([head])
  rig.advance(25 * HOUR)
  receiver.answer = () => 200
  expect((await cleanUpWebhooks(rig.database, rig.now())).died).toBe(1)
  await dispatcher.idle()
  expect(sent()).toEqual([head, ...followers])
  await receiver.close()
})

test('what stands behind a failed event of its user is looked at once, not with each new event', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  receiver.answer = ({ userid }) => (userid === 'blocked' ? 422 : 200)
  const dispatcher = rig.open()
  await rig.raise(Array.from({ length: 300 }, () => 'blocked'))
  await dispatcher.idle()
  const held = () =>
    rig.database.query(sql`select event_id, due_at, xmin::text from deliveries order by event_id`)
  const before = await held()
  expect(before).toHaveLength(300)
  for (let index = 0; index < 20; index += 1) {
    await rig.raise([`other-${index}`])
    dispatcher.nudge()
    await receiver.received(index + 2)
  }
  await dispatcher.idle()
  expect(await held()).toEqual(before)
  receiver.answer = () => 200
  rig.advance(7000)
  await dispatcher.idle()
  expect(await rig.count('deliveries')).toBe(0)
  const blocked = receiver.deliveries.filter(({ userid }) => userid === 'blocked').map(({ key }) => key)
  expect(blocked.slice(1)).toEqual([...blocked.slice(1)].sort())
  await receiver.close()
})

test('an event that came while the one before it was under way is sent as soon as that has arrived', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  // No poll helps.
  const [one, two] = [rig.open({ pollMs: 600_000 }), rig.open({ pollMs: 600_000 })]
  await one.idle()
  await two.idle()
  const ids: string[] = []
  for (let round = 0; round < 40; round += 1) {
    ids.push(...(await rig.raise(['u'])))
    for (const dispatcher of [one, two]) dispatcher.nudge()
  }
  await receiver.received(40)
  expect(receiver.deliveries.map(({ key }) => key)).toEqual(ids)
  await receiver.close()
})
