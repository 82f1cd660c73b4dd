import { expect, test } from 'vitest'
import type { Query } from '../../service/src/db/sql.ts'
import { queueAgain } from '../../service/src/webhooks/log/replay.ts'
import { partnersApart } from './partners-apart.ts'
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

test('while the node of one partner is away before its later events are parked, events of other partners arrive', async () => {
  await using rig = await dispatchRig()
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const partner = await rig.newPartner('Other')
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  await rig.addEndpoint(other.url, { partner })
  let isAway = true
  let refusals = 0
  const database = partnersApart(rig.database, statement => {
    if (!isAway || !statement.text.includes('set parked = true')) return
    refusals += 1
    return Promise.reject(Object.assign(new Error('the node is away'), { code: '57P01' }))
  })
  const dispatcher = rig.open({}, { database })
  await rig.raise(['u', 'u', 'u'])
  dispatcher.refresh()
  await expect.poll(() => refusals, { timeout: 180_000 }).toBeGreaterThan(0)
  await rig.raise(['x'], { partner })
  dispatcher.nudge()
  await other.received(1)
  isAway = false
  await receiver.received(3)
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(3)
  await receiver.close()
  await other.close()
})

test('a stop does not wait when the database refuses to set aside what a read has found', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = () => 500
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  let refuse: (() => void) | undefined
  const query = <Row>(statement: Query): Promise<Row[]> =>
    statement.text.includes('set parked = true')
      ? new Promise((_, reject) => {
          refuse = () => reject(new Error('refused'))
        })
      : rig.database.query<Row>(statement)
  const dispatcher = rig.open({ graceMs: 600_000 }, { database: { ...rig.database, query } })
  await rig.raise(['u'])
  await dispatcher.idle()
  await rig.raise(['u'])
  dispatcher.nudge()
  await expect.poll(() => refuse !== undefined).toBe(true)
  const closed = dispatcher.close()
  refuse?.()
  await closed
  expect(dispatcher.inventory().unwritten).toBe(0)
  await receiver.close()
})

test('while a read of one partner hangs with its node, events of other partners arrive', async () => {
  await using rig = await dispatchRig()
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const partner = await rig.newPartner('Other')
  await rig.addEndpoint(receiver.url)
  await rig.addEndpoint(other.url, { partner })
  let isAway = false
  let answer = () => {}
  const gate = new Promise<void>(resolve => {
    answer = resolve
  })
  let waits = 0
  const database = partnersApart(rig.database, async statement => {
    const isRead = statement.text.includes('as ask (partner_id,')
    if (isRead && isAway && (statement.values[0] as string[]).includes(rig.partner.partnerId)) {
      waits += 1
      await gate
    }
  })
  const dispatcher = rig.open({}, { database })
  await dispatcher.idle()
  isAway = true
  await rig.raise(['u'])
  dispatcher.nudge()
  await expect.poll(() => waits).toBe(1)
  await rig.raise(['x'], { partner })
  dispatcher.nudge()
  await other.received(1)
  answer()
  await receiver.received(1)
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(1)
  await dispatcher.close()
  await receiver.close()
  await other.close()
})
