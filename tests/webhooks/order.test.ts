import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { queueAgain } from '../../service/src/webhooks/replay.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig, newWriter } from './rig.ts'

const HOUR = 3_600_000

/** The events of these ids as they were raised, by the keys that arrive. */
const keysOf = async (rig: DispatchRig, ids: readonly string[]): Promise<string[]> => {
  const rows = await rig.database.query<{ event_id: string; idempotency_key: string }>(
    sql`select event_id, idempotency_key from events`,
  )
  const keys = new Map(rows.map(row => [row.event_id, row.idempotency_key]))
  return ids.map(id => keys.get(id) ?? '')
}

test('with ordering "user" the order is that in which events were raised, though the clocks of two writers differ by an hour', async () => {
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
  expect(accepted).toEqual(await keysOf(rig, ids))
  expect(receiver.deliveries).toHaveLength(ids.length + 6)
  await receiver.close()
})

test('a replay stands among what waits at the place at which its event was raised', async () => {
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
  const keys = await keysOf(rig, ids)
  expect(receiver.deliveries.map(one => one.key)).toEqual([...keys.slice(0, 2), ...keys])
  await receiver.close()
})
