import { expect, test } from 'vitest'
import type { Query } from '../../service/src/db/sql.ts'
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
