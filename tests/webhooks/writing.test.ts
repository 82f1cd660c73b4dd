import { expect, test } from 'vitest'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import type { Query } from '../../service/src/db/sql.ts'
import { startPostgresProxy } from '../faults/postgres-proxy.ts'
import { patientDatabase } from '../patient-database.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig, failOldest } from './rig.ts'

const SECOND = 1000

test('the backlog of an outage is released even when the commit of the result is not confirmed', async () => {
  await using rig = await dispatchRig()
  const proxy = await startPostgresProxy(rig.address)
  const database = openDatabase({ url: proxy.url }, { max: 4, ...patientDatabase })
  await database.learnCells()
  const receiver = await startReceiver()
  receiver.answer = () => 503
  await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open({}, { database })
  await failOldest(rig, dispatcher)
  await rig.raise(['probe'])
  receiver.answer = () => 200
  const met = proxy.arm('before', 'set due_at = queued_at')
  rig.advance(11 * SECOND)
  await dispatcher.idle()
  await met
  expect(await rig.count('deliveries')).toBe(0)
  await dispatcher.close()
  await database.close()
  await proxy.close()
  await receiver.close()
})

test('a result that the database refuses costs seconds, not the minute of a claim or the hour that it asked for', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  receiver.answer = () =>
    receiver.deliveries.length > 1
      ? 200
      : response => response.writeHead(429, { 'retry-after': '3600' }).end()
  let refusals = 0
  const refused = async (statements: readonly Query[]) => {
    if (!statements.some(({ text }) => text.includes('insert into delivery_attempts')) || refusals > 0) return
    refusals += 1
    throw new Error('refused')
  }
  const database: Database = {
    ...rig.database,
    commit: async statements => {
      await refused(statements)
      await rig.database.commit(statements)
    },
    transaction: work =>
      rig.database.transaction(tx =>
        work({
          query: async query => {
            await refused([query])
            return tx.query(query)
          },
        }),
      ),
  }
  const dispatcher = rig.open({}, { database })
  await rig.raise(['u'])
  await dispatcher.idle()
  expect(refusals).toBe(1)
  rig.advance(1500)
  await dispatcher.idle()
  expect(await rig.count('deliveries')).toBe(0)
  expect(receiver.deliveries.map(({ attempt }) => attempt)).toEqual([1, 1])
  await receiver.close()
})
