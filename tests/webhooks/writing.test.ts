import { expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { startPostgresProxy } from '../crash/postgres-proxy.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

const SECOND = 1000

test('what an outage held up is released also when the answer of its commit is lost', async () => {
  await using rig = await dispatchRig()
  const proxy = await startPostgresProxy(rig.address)
  const database = openDatabase({ url: proxy.url }, { max: 4, onError: () => {} })
  const receiver = await startReceiver()
  receiver.answer = () => 503
  await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open({}, { database })
  await rig.raise(['oldest'])
  await dispatcher.idle()
  // Its fifth try would be ten minutes after the fourth.
  for (const wait of [6, 36, 144]) {
    rig.advance(wait * SECOND + 10)
    await dispatcher.idle()
  }
  await rig.raise(['opener'])
  await dispatcher.idle()
  await rig.raise(['probe'])
  receiver.answer = () => 200
  const met = proxy.arm('before', "set work = 'fresh'")
  rig.advance(11 * SECOND)
  await dispatcher.idle()
  await met
  expect(await rig.count('deliveries')).toBe(0)
  await dispatcher.close()
  await database.close()
  await proxy.close()
  await receiver.close()
})
