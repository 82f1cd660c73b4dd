// @databases stock

import { expect, test } from 'vitest'
import type { Database, Executor } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

/** Only catches a hang. */
const patient = { timeout: 180_000 }

/** Longer than a read of what is due takes to begin. */
function aMoment(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 200))
}

/** A database of which `first` sees each statement before it is sent: it may hold it up, or throw. */
function seen(database: Database, first: (statement: Query) => unknown): Database {
  const seenBy = <On extends Executor>(on: On): On => ({
    ...on,
    async query<Row>(statement: Query): Promise<Row[]> {
      await first(statement)
      return on.query<Row>(statement)
    },
  })
  return { ...seenBy(database), transaction: work => database.transaction(tx => work(seenBy(tx))) }
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
  const state = { reports: 0, loads: 0, isCut: false }
  const at: { load: () => unknown } = { load: () => {} }
  const first = async ({ text }: Query): Promise<void> => {
    if (/(update|into) dispatchers/.test(text)) {
      state.reports += 1
      if (state.isCut) throw new Error('no beat')
    }
    if (/unnest.*\bas wanted/s.test(text)) {
      state.loads += 1
      await at.load()
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

test('an endpoint that another process took while this one was taking it up gets nothing from this one', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const [load, { state, at, first }] = [gate(), openBeats()]
  at.load = () => load.opened
  await rig.raise(['u'])
  const dispatcher = rig.open({ leaseMs: 1500 }, { database: seen(rig.database, first) })
  await expect.poll(() => state.loads, patient).toBe(1)
  await takeOver(rig, state)
  const { reports } = state
  load.open()
  await expect.poll(() => state.reports, patient).toBeGreaterThan(reports)
  await aMoment()
  await dispatcher.close()
  expect(receiver.deliveries).toEqual([])
  await receiver.close()
})
