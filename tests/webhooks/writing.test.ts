import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { type Database, type Executor, openDatabase } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { startPostgresProxy } from '../crash/postgres-proxy.ts'
import { patientDatabase } from '../patient-database.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig, failOldest } from './rig.ts'

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

/** A database that notes the statements that were answered, and delays those with the words of `held`. */
function watched(rig: DispatchRig, watch: { held?: string } = {}) {
  const answered: string[] = []
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const watchedBy = <On extends Executor>(on: On): On => ({
    ...on,
    async query<Row>(query: Query) {
      if (watch.held !== undefined && query.text.includes(watch.held)) await gate
      const rows = await on.query<Row>(query)
      answered.push(query.text)
      return rows
    },
  })
  const database: Database = {
    ...watchedBy(rig.database),
    transaction: work => rig.database.transaction(tx => work(watchedBy(tx))),
  }
  const answeredAgain = async (part: string, times: number, ask = () => {}) => {
    const countNow = () => answered.filter(text => text.includes(part)).length
    const before = countNow()
    const count = () => {
      ask()
      return countNow()
    }
    await expect.poll(count).toBeGreaterThanOrEqual(before + times)
  }
  return { database, answeredAgain, open: () => open() }
}

test('a 410 disables its endpoint even while the endpoint is handed over to another process', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const held: ServerResponse[] = []
  receiver.answer = () => response => held.push(response)
  await rig.addEndpoint(receiver.url)
  await rig.addEndpoint(receiver.url)
  const { database, answeredAgain } = watched(rig)
  // Neither loses its endpoints by standing still, and a held attempt is held for longer than the test lasts.
  const [options, own] = [{ leaseMs: 600_000 }, { deadlineMs: 600_000 }]
  const dispatcher = rig.open(options, { ...own, database })
  await rig.raise(['u'])
  dispatcher.refresh()
  await receiver.received(2)
  // With a second process each has a share of one: an endpoint is given up as soon as its attempt has ended.
  const other = rig.open(options, own)
  await expect
    .poll(() => rig.database.query(sql`select count(*) as count from dispatchers`))
    .toEqual([{ count: 2 }])
  await answeredAgain('update dispatchers', 3, dispatcher.refresh)
  for (const response of held) response.writeHead(410).end()
  await expect
    .poll(() => rig.database.query(sql`select disabled_reason from webhook_endpoints`))
    .toEqual([{ disabled_reason: 'gone' }, { disabled_reason: 'gone' }])
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(2)
  expect(rig.logged.filter(line => line.event === 'webhook.disabled')).toHaveLength(2)
  await other.close()
  await dispatcher.close()
  await receiver.close()
})

// What was taken anew is another endpoint to the process, which has forgotten the first.
test.each([
  ['of another process', 'another'],
  ['that was lost and taken anew', 'own'],
] as const)(
  'other endpoints are served at once when the results that wait to be written belong to an endpoint %s',
  async (_, owner) => {
    await using rig = await dispatchRig()
    const lost = await startReceiver()
    const kept = await startReceiver()
    const partner = await rig.newPartner('Kept')
    const { webhookid } = await rig.addEndpoint(lost.url)
    await rig.addEndpoint(kept.url, { partner })
    const { database, answeredAgain, open } = watched(rig, { held: 'as mine (partner_id' })
    // No beat and no poll helps.
    const dispatcher = rig.open({ slots: 1, leaseMs: 600_000, pollMs: 600_000 }, { database })
    // The most results that may wait to be written for one slot.
    await rig.raise(['u0', 'u1', 'u2', 'u3'])
    dispatcher.nudge()
    await lost.received(4)
    await expect.poll(() => dispatcher.inventory().unwritten).toBe(4)
    await rig.raise(['v'], { partner })
    const takenAnew = sql`update endpoint_leases set epoch = epoch + 1 where endpoint_id = ${webhookid}`
    const takenByAnother = sql`
    with other as (
      insert into dispatchers (dispatcher_id, until) values (${crypto.randomUUID()}, 'infinity') returning dispatcher_id
    )
    update endpoint_leases set owner = (select dispatcher_id from other), epoch = epoch + 1
    where endpoint_id = ${webhookid}`
    await rig.database.query(owner === 'own' ? takenAnew : takenByAnother)
    // The second beat begins when the first, which finds that the endpoint is lost, has ended.
    await answeredAgain('update dispatchers', 2, dispatcher.refresh)
    const looked = answeredAgain('as ask (partner_id,', 1)
    dispatcher.nudge()
    await looked
    open()
    await kept.received(1)
    await dispatcher.close()
    await lost.close()
    await kept.close()
  },
)
