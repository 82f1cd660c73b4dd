import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { readDue } from '../../service/src/webhooks/due.ts'
import { keepPlans, readByIndexes } from '../kept-plans.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

test('a plan that was made before there were events finds each event that is due by its key, and does not read all for each', async () => {
  await using rig = await dispatchRig()
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  const ask = { partnerId: rig.partner.partnerId, endpointId: webhookid, after: undefined, quota: 1000 }
  const look = () => readDue(rig.database, [{ ...ask, work: 'fresh' }], rig.now())
  await keepPlans(rig.database)
  // From here on plans are kept.
  const before = await readByIndexes(rig.address, ['events_pkey', 'events_log'])
  expect(await look()).toEqual([])
  await rig.raise(Array.from({ length: 300 }, (_, index) => `u${index}`))
  for (let looks = 0; looks < 3; looks += 1) expect(await look()).toHaveLength(300)
  const after = await readByIndexes(rig.address, ['events_pkey', 'events_log'])
  expect(after.scans).toBeGreaterThanOrEqual(before.scans + 900)
  expect((after.read - before.read) / (after.scans - before.scans)).toBeLessThan(2)
})

test('what waits at an endpoint that takes nothing is not read again with each new event, and all of it is sent once it does', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  await rig.addEndpoint(receiver.url)
  const before = await readByIndexes(rig.address, ['deliveries_due'])
  const dispatcher = rig.open()
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
  await expect.poll(() => rig.count('deliveries'), { timeout: 60_000 }).toBe(0)
  await dispatcher.close()
  const after = await readByIndexes(rig.address, ['deliveries_due'])
  expect(new Set(receiver.deliveries.map(({ key }) => key)).size).toBe(370)
  expect(after.read - before.read).toBeLessThan(15_000)
  await receiver.close()
})
