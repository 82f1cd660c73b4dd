// @databases stock

import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { partnersApart } from './partners-apart.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

// A heartbeat waits for no node that is slow, so what it asked may be answered after later heartbeats.

/** Only catches a hang. */
const patient = { timeout: 180_000 }

/** Longer than a read of what is due takes to begin. */
function aMoment(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 200))
}

function gate() {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { open: () => open(), opened }
}

/** Counts what heartbeats ask; `at` may hold it up. While `isCut`, no process can report that it lives. */
function openBeats() {
  const state = { reports: 0, reads: 0, loads: 0, isCut: false }
  const at: Record<'read' | 'load', (number: number) => unknown> = { read: () => {}, load: () => {} }
  const first = async ({ text }: Query): Promise<void> => {
    if (/(update|into) dispatchers/.test(text)) {
      state.reports += 1
      if (state.isCut) throw new Error('no beat')
    }
    if (text.includes('where l.owner =')) {
      state.reads += 1
      await at.read(state.reads)
    }
    if (/unnest.*\bas wanted/s.test(text)) {
      state.loads += 1
      await at.load(state.loads)
    }
  }
  return { state, at, first }
}

/** Lets the lease of the only process end, and gives its endpoints to another. */
async function takeOver({ database }: DispatchRig, state: { isCut: boolean }): Promise<void> {
  state.isCut = true
  await expect
    .poll(
      () => database.query(sql`select 1 as alive from dispatchers where until > clock_timestamp()`),
      patient,
    )
    .toEqual([])
  await database.query(sql`
    with other as (
      insert into dispatchers (dispatcher_id, until)
      values (gen_random_uuid(), clock_timestamp() + interval '5 minutes') returning dispatcher_id
    )
    update endpoint_leases set epoch = epoch + 1, owner = (select dispatcher_id from other)`)
  state.isCut = false
}

test('an endpoint that is taken up twice, as it took long the first time, gets what is under way there once', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const held: ServerResponse[] = []
  receiver.answer = ({ userid }) => (userid === 'u' ? response => held.push(response) : 200)
  const [load, { state, at, first }] = [gate(), openBeats()]
  at.load = number => (number === 1 ? load.opened : undefined)
  await rig.raise(['u'])
  const dispatcher = rig.open(
    { leaseMs: 2000 },
    { database: partnersApart(rig.database, first), deadlineMs: 600_000 },
  )
  await receiver.received(1)
  expect(state.loads).toBe(2)
  load.open()
  const { reports } = state
  await expect.poll(() => state.reports, patient).toBeGreaterThan(reports + 1)
  for (const userid of ['v', 'w']) {
    await rig.raise([userid])
    dispatcher.nudge()
    await expect.poll(() => receiver.deliveries.map(one => one.userid), patient).toContain(userid)
  }
  expect(receiver.deliveries.map(({ userid }) => userid)).toEqual(['u', 'v', 'w'])
  for (const response of held) response.writeHead(200).end()
  await dispatcher.close()
  await receiver.close()
})

test('an endpoint that another process took while this one was taking it up gets nothing from this one', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const [load, read, { state, at, first }] = [gate(), gate(), openBeats()]
  at.load = () => load.opened
  await rig.raise(['u'])
  const dispatcher = rig.open({ leaseMs: 1500 }, { database: partnersApart(rig.database, first) })
  await expect.poll(() => state.loads, patient).toBe(1)
  await takeOver(rig, state)
  const { reads } = state
  await expect.poll(() => state.reads, patient).toBeGreaterThan(reads)
  at.read = () => read.opened
  const { reports } = state
  load.open()
  await expect.poll(() => state.reports, patient).toBeGreaterThan(reports)
  await aMoment()
  read.open()
  await dispatcher.close()
  expect(receiver.deliveries).toEqual([])
  await receiver.close()
})

test('a process that could not read what others have taken sends nothing until it has, although it lives again', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const [read, { state, at, first }] = [gate(), openBeats()]
  const apart = partnersApart(rig.database, first)
  let isAway = false
  let failures = 0
  const database: Database = {
    ...apart,
    async query<Row>(statement: Query): Promise<Row[]> {
      if (isAway && statement.text.includes('pg_dist_placement')) {
        failures += 1
        throw new Error('no nodes')
      }
      return apart.query<Row>(statement)
    },
  }
  const dispatcher = rig.open({ leaseMs: 1500 }, { database })
  await rig.raise(['u'])
  await dispatcher.idle()
  isAway = true
  at.read = () => Promise.reject(new Error('a node is away'))
  await takeOver(rig, state)
  const failed = failures
  dispatcher.refresh()
  await expect.poll(() => failures, patient).toBeGreaterThan(failed)
  isAway = false
  at.read = () => read.opened
  const { reads } = state
  await rig.raise(['v'])
  dispatcher.refresh()
  await expect.poll(() => state.reads, patient).toBeGreaterThan(reads)
  dispatcher.nudge()
  await aMoment()
  read.open()
  await dispatcher.close()
  expect(receiver.deliveries.map(({ userid }) => userid)).toEqual(['u'])
  await receiver.close()
})

test('an endpoint that is free when a node is asked, which answers late, is not lost after it has been taken', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const held: ServerResponse[] = []
  receiver.answer = ({ userid }) => (userid === 'u' ? response => held.push(response) : 200)
  const [answer, { state, at, first }] = [gate(), openBeats()]
  at.read = number => (number === 1 ? Promise.reject(new Error('a node is away')) : undefined)
  const apart = partnersApart(rig.database, first)
  const database: Database = {
    ...apart,
    async query<Row>(statement: Query): Promise<Row[]> {
      const rows = await apart.query<Row>(statement)
      if (state.reads === 2 && statement.text.includes('where l.owner =')) await answer.opened
      return rows
    },
  }
  await rig.raise(['u'])
  const dispatcher = rig.open({ leaseMs: 2000 }, { database, deadlineMs: 600_000 })
  // The first heartbeat asks for everything, then the node; another one begins and ends before it answers.
  await expect.poll(() => state.reads, patient).toBeGreaterThan(1)
  const { reports } = state
  await expect.poll(() => state.reports, patient).toBeGreaterThan(reports + 1)
  answer.open()
  await receiver.received(1)
  await expect.poll(() => state.reports, patient).toBeGreaterThan(reports + 2)
  await rig.raise(['v'])
  dispatcher.nudge()
  await expect.poll(() => receiver.deliveries, patient).toHaveLength(2)
  for (const response of held) response.writeHead(200).end()
  await dispatcher.close()
  await receiver.close()
})

test('the endpoints of many partners of one node are given up by one statement', async () => {
  await using rig = await dispatchRig()
  let released = 0
  const apart = partnersApart(rig.database, ({ text }) => {
    if (text.includes('set owner = null')) released += 1
  })
  const database: Database = {
    ...apart,
    async query<Row>(statement: Query): Promise<Row[]> {
      const rows = await apart.query<Row>(statement)
      if (!statement.text.includes('pg_dist_placement')) return rows
      const nodes = rows as { partner_ids: string[] }[]
      return [{ name: 'node', partner_ids: nodes.flatMap(({ partner_ids }) => partner_ids) } as Row]
    },
  }
  for (let count = 0; count < 10; count += 1)
    await rig.addEndpoint('http://127.0.0.1:1/hook', { partner: await rig.newPartner(`Partner ${count}`) })
  const first = rig.open({}, { database })
  await first.idle()
  const second = rig.open({}, { database })
  await second.idle()
  first.refresh()
  await first.idle()
  second.refresh()
  await second.idle()
  expect([first, second].map(dispatcher => dispatcher.inventory().endpoints)).toEqual([5, 5])
  expect(released).toBe(1)
})

test('a cluster all of whose answers come late is waited for longer, so that its endpoints are taken all the same', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const { at, first } = openBeats()
  // Longer than an eighth of the lease.
  at.read = () => new Promise(resolve => setTimeout(resolve, 1000))
  rig.open({ leaseMs: 6000 }, { database: partnersApart(rig.database, first) })
  await rig.raise(['u'])
  await receiver.received(1)
  expect(rig.logged).toContainEqual({ event: 'webhook_endpoints_not_read', fields: { cause: 'late' } })
  await receiver.close()
})
