import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

const SECOND = 1000
const range = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

test('events that an endpoint never takes keep their schedule, and others arrive between, though together they open the breaker', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = delivery => (delivery.userid.startsWith('bad') ? 500 : 200)
  await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open()
  await rig.raise(range(6, 'bad'))
  await dispatcher.idle()
  const steps = 90
  for (let step = 0; step < steps; step += 1) {
    await rig.raise([`good${step}`])
    rig.advance(5 * SECOND)
    await dispatcher.idle()
  }
  // By its schedule a delivery has four tries in these seven and a half minutes, and a short outage adds one at most.
  const rows = await rig.database.query<{ attempts: number }>(
    sql`select attempts from deliveries where attempts > 0`,
  )
  expect(rows).toHaveLength(6)
  for (const { attempts } of rows) expect(attempts).toBeLessThanOrEqual(5)
  // Only for the ten seconds of an outage do the others wait.
  const arrived = receiver.deliveries.filter(one => one.userid.startsWith('good'))
  expect(arrived.length).toBeGreaterThan(steps - 4)
  await receiver.close()
})

test('an endpoint that answers again, though it refuses the probe, gets at once what its outage held up', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = () => 503
  await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open()
  await rig.raise(['oldest'])
  await dispatcher.idle()
  // Its fifth try would be ten minutes after the fourth.
  for (const wait of [6, 36, 144]) {
    rig.advance(wait * SECOND + 10)
    await dispatcher.idle()
  }
  await rig.raise(['opener'])
  await dispatcher.idle()
  await rig.raise(['refused', ...range(5, 'u')])
  const failed = receiver.deliveries.length
  expect(failed).toBe(5)
  receiver.answer = delivery => (delivery.userid === 'refused' ? 400 : 200)
  rig.advance(11 * SECOND)
  await dispatcher.idle()
  const released = receiver.deliveries.slice(failed).map(one => one.userid)
  expect(released.slice(0, 2)).toEqual(['refused', 'oldest'])
  expect(new Set(released)).toEqual(new Set(['refused', 'oldest', 'opener', ...range(5, 'u')]))
  expect(await rig.count('deliveries')).toBe(1)
  await receiver.close()
})
