// @databases stock

import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { replayTo, type Selection } from '../../service/src/webhooks/log/replay.ts'
import { keepPlans, onOneServer, readByIndexes } from '../kept-plans.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

test('a replay queues at most 10,000 events, the oldest first, and says where to continue until all are queued', async () => {
  await using rig = await dispatchRig()
  const from = rig.now()
  const users = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`)
  await rig.raise(users(9990))
  rig.advance(1000)
  const [last = ''] = (await rig.raise(users(20))).slice(-1)
  const to = rig.now() + 1000
  // It is made after the events, so that nothing waits for it.
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  const replay = (selection: Selection, dryRun = false) =>
    rig.database.transaction(tx => replayTo(tx, target, { selection, now: rig.now(), dryRun }))
  const range = { kind: 'range', from, to } as const

  expect(await replay(range, true)).toMatchObject({ count: 10_000, isComplete: false })
  expect(await rig.count('deliveries')).toBe(0)
  const first = await replay(range)
  expect(first).toMatchObject({ count: 10_000, isComplete: false })
  expect(first.continueFrom).toBeGreaterThanOrEqual(from + 1000)
  expect(await rig.count('deliveries')).toBe(10_000)
  const rest = await replay({ ...range, from: first.continueFrom ?? to })
  expect(rest).toMatchObject({ isComplete: true, continueFrom: null })
  expect(await rig.count('deliveries')).toBe(10_010)
  // An event that already waits is not queued twice.
  expect(await replay({ kind: 'ids', ids: [last] })).toMatchObject({ isComplete: true })
  expect(await rig.count('deliveries')).toBe(10_010)
})

test('a delivery that waits for a later attempt is replayed once and starts with no attempt spent, and a dry run counts it once', async () => {
  await using rig = await dispatchRig()
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  const [due = '', later = '', again = '', fresh = ''] = await rig.raise(['a', 'b', 'c', 'd'])
  const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  const replay = (selection: Selection, dryRun = false) =>
    rig.database.transaction(tx => replayTo(tx, target, { selection, now: rig.now(), dryRun }))
  const set = (id: string, work: string, seconds: number) =>
    rig.database.query(sql`
      update deliveries set work = ${work}, attempts = 11, due_at = ${new Date(rig.now() + seconds * 1000).toISOString()}
      where event_id = ${id}`)
  const states = async () =>
    new Map(
      (
        await rig.database.query<{ event_id: string; work: string; attempts: number }>(
          sql`select event_id, work, attempts from deliveries`,
        )
      ).map(row => [row.event_id, `${row.work} ${row.attempts}`]),
    )
  await set(due, 'retry', -60)
  await set(later, 'retry', 3600)
  await set(again, 'replay', 3600)
  const waiting = { kind: 'status', status: 'waiting' } as const
  const listed = { kind: 'ids', ids: [due, later, fresh] } as const
  expect(await replay(listed, true)).toMatchObject({ count: 1 })
  expect(await replay(waiting, true)).toMatchObject({ count: 2, isComplete: true })
  expect(await replay(waiting)).toMatchObject({ count: 2, isComplete: true })
  expect([...(await states()).values()].sort()).toEqual(['fresh 0', 'replay 0', 'replay 0', 'retry 11'])
  rig.advance(1)
  expect(await replay(waiting)).toMatchObject({ count: 0, isComplete: true })
  expect(await replay(listed, true)).toMatchObject({ count: 0 })
})

test('more than 10,000 waiting deliveries are all replayed by repeating the same request until it is complete', async () => {
  await using rig = await dispatchRig()
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  await rig.raise(Array.from({ length: 9990 }, (_, index) => `u${index}`))
  await rig.raise(Array.from({ length: 20 }, (_, index) => `v${index}`))
  await rig.database.query(sql`
    update deliveries set work = 'retry', due_at = ${new Date(rig.now() + 3_600_000).toISOString()}`)
  const replay = () =>
    rig.database.transaction(tx =>
      replayTo(
        tx,
        { partnerId: rig.partner.partnerId, endpointId: webhookid },
        { selection: { kind: 'status', status: 'waiting' }, now: rig.now(), dryRun: false },
      ),
    )
  expect(await replay()).toEqual({ count: 10_000, known: 10_000, isComplete: false, continueFrom: null })
  rig.advance(1000)
  expect(await replay()).toMatchObject({ count: 10, isComplete: true })
  expect(await replay()).toMatchObject({ count: 0, isComplete: true })
  // None of these requests finds retries that are already due.
  await rig.database.query(sql`update deliveries set work = 'retry'`)
  rig.advance(1000)
  expect(await replay()).toMatchObject({ count: 0, isComplete: true })
})

onOneServer(
  'a query plan made while the tables were empty still looks up replayed events by their key, whatever their status',
  async () => {
    await using rig = await dispatchRig()
    const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
    const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
    const replay = (status: 'dead' | 'waiting') =>
      rig.database.transaction(tx =>
        replayTo(tx, target, { selection: { kind: 'status', status }, now: rig.now(), dryRun: true }),
      )
    await keepPlans(rig.database)
    // From here on plans are kept.
    const before = await readByIndexes(rig.address, ['events_pkey', 'events_position'])
    for (const status of ['dead', 'waiting'] as const)
      expect(await replay(status)).toMatchObject({ count: 0 })
    const [, ...waiting] = await rig.raise(Array.from({ length: 600 }, (_, index) => `u${index}`))
    const dead = waiting.splice(0, 299)
    await rig.database.query(sql`
    with ended as (delete from deliveries where event_id = any(${dead}::uuid[]) returning *)
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, endpoint_id, 16, 'age', queued_at from ended`)
    await rig.database.query(sql`
    update deliveries set work = 'retry', due_at = due_at + interval '1 hour'
    where event_id = any(${waiting}::uuid[])`)
    expect(await replay('dead')).toMatchObject({ count: 299 })
    expect(await replay('waiting')).toMatchObject({ count: 300 })
    const after = await readByIndexes(rig.address, ['events_pkey', 'events_position'])
    // A scan for each that is found.
    expect(after.scans - before.scans).toBeGreaterThanOrEqual(299 + 300)
    expect((after.read - before.read) / (after.scans - before.scans)).toBeLessThan(2)
  },
)

test('deliveries whose events the clean-up removed beside their replay are removed, and hold up no others', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  // More than are read at once where one attempt may be under way.
  const removed = await rig.raise(Array.from({ length: 40 }, (_, index) => `gone-${index}`))
  rig.advance(1000)
  await rig.raise(['there'])
  await rig.database.query(sql`
    delete from events where partner_id = ${rig.partner.partnerId} and event_id = any(${removed}::uuid[])`)
  const dispatcher = rig.open({ endpointSlots: 1 })
  await dispatcher.idle()
  expect(receiver.deliveries.map(({ userid }) => userid)).toEqual(['there'])
  expect(await rig.count('deliveries')).toBe(0)
  expect(await rig.count('delivery_attempts')).toBe(1)
  await receiver.close()
})
