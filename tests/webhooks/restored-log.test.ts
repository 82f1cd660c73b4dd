import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { claimInstallation } from '../../service/src/installation.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/clean-up.ts'
import type { Cursor } from '../../service/src/webhooks/cursor.ts'
import { readLog } from '../../service/src/webhooks/event-log.ts'
import { continueLog } from '../../service/src/webhooks/log-continuity.ts'
import { patientForLocks } from '../hold-users.ts'
import { type DispatchRig, dispatchRig, newWriter } from './rig.ts'

const DAY = 86_400_000

const installed = async (): Promise<DispatchRig> => {
  const rig = await dispatchRig()
  await claimInstallation(rig.database, { keyring: rig.keyring, wanted: 'sandbox', now: rig.now() })
  return rig
}

const read = async (rig: DispatchRig, after?: Cursor, eventname?: string) => {
  const query = { partnerId: rig.partner.partnerId, after, userid: undefined, eventname, now: rig.now() }
  // Patient, as an older transaction anywhere on the server holds the log up, also one of another test's database.
  const { events, next } = await readLog(rig.database, query, 30_000)
  return { ids: events.map(event => event.event_id), next }
}

/** The database as another server finds it, whose transactions have not come so far. */
const moveToYoungServer = async (rig: DispatchRig) => {
  await rig.database.query(sql`update events set log_position = log_position + 1000000`)
  await rig.database.query(sql`select setval('events_sequence_number_seq', 1)`)
}

/** A day's transactions pass, of which nothing is left when the database is put back. */
const passTransactions = (rig: DispatchRig) =>
  rig.database.query(sql`update installation set log_offset = log_offset + 100000`)

/** The database as it was before those transactions and these events: positions are given anew from there. */
const putBack = (rig: DispatchRig, lost: readonly string[]) =>
  rig.database.query(sql`
    with gone as (delete from events where event_id = any (${lost}::uuid[]))
    update installation set log_offset = log_offset - 100000`)

test('in another server the log goes on behind its last event, for cursors of before, whoever starts there and how often', async () => {
  await using rig = await installed()
  const [one = '', two = '', three = ''] = await rig.raise(['a', 'b', 'c'])
  await moveToYoungServer(rig)
  const { ids, next } = await read(rig)
  expect(ids).toEqual([one, two, three])

  await moveToYoungServer(rig)
  const repaired = await Promise.all([1, 2, 3].map(() => continueLog(rig.database)))
  expect(repaired.filter(Boolean)).toHaveLength(1)
  const [four = ''] = await rig.raise(['a'])
  const [five = ''] = await rig.raise(['b'])
  expect((await read(rig, next)).ids).toEqual([four, five])
  expect((await read(rig)).ids).toEqual([one, two, three, four, five])
  const numbers = await rig.database.query<{ event_id: string }>(
    sql`select event_id from events order by sequence_number`,
  )
  expect(numbers.map(row => row.event_id)).toEqual([one, two, three, four, five])
  expect(await continueLog(rig.database)).toBe(false)
})

test('events that a process raised in the other server before anybody noticed are not behind cursors of before', async () => {
  await using rig = await installed()
  const [one = ''] = await rig.raise(['a'])
  const { next } = await read(rig)
  await moveToYoungServer(rig)
  const late = [...(await rig.raise(['b'])), ...(await rig.raise(['c']))]
  const other = await rig.newPartner('Quiet')
  expect((await read(rig, next)).ids).toEqual(late)
  expect((await read(rig)).ids).toEqual([one, ...late])
  await rig.raise(['x'], { partner: other })
  expect(await continueLog(rig.database)).toBe(false)
})

test('a writer that began before the log is moved does not commit behind a cursor', async () => {
  await using rig = await installed()
  await rig.raise(['a'])
  await moveToYoungServer(rig)
  let moving: Promise<boolean> | undefined
  const early = await rig.database.transaction(async tx => {
    await tx.query(sql`
      insert into events (partner_id, event_id, service_id, userid, eventname, idempotency_key, body, data, created_at)
      select partner_id, gen_random_uuid(), service_id, userid, eventname, gen_random_uuid(), body, data, created_at
      from events`)
    moving = continueLog(patientForLocks(rig.database))
    // It stands in line for the table, and so does whoever comes after it.
    for (;;) {
      const [lock] = await rig.database.query(sql`
        select 1 from pg_locks where relation = 'events'::regclass and not granted and mode = 'ExclusiveLock'`)
      if (lock) return true
    }
  })
  expect(early && (await moving)).toBe(true)
  const { ids, next } = await read(rig)
  const raised = await rig.raise(['b', 'c'])
  expect((await read(rig, next)).ids.filter(id => !ids.includes(id))).toEqual(raised)
})

test('a reader whose last event was lost with a restore gets all that was raised since, though positions are given anew', async () => {
  await using rig = await installed()
  const writer = await newWriter(0)
  const [old = ''] = await rig.raise(['a'], { writer })
  rig.advance(3 * DAY)
  const [kept = ''] = await rig.raise(['a'], { writer })
  const beforeBackup = (await read(rig)).next
  await passTransactions(rig)
  const lost = await rig.raise(['b', 'c'], { writer })
  const afterBackup = (await read(rig, beforeBackup)).next
  await putBack(rig, lost)
  const waiting = await read(rig, afterBackup, 'no_such_event')
  expect(waiting).toEqual({ ids: [], next: afterBackup })
  const raised = await rig.raise(['b'], { writer })
  // What is a day older than the lost event is not told again.
  const { ids, next } = await read(rig, afterBackup)
  expect(ids).not.toContain(old)
  expect(ids.filter(id => id !== kept)).toEqual(raised)
  expect(await read(rig, next)).toEqual({ ids: [], next })
  expect((await read(rig, beforeBackup)).ids).toEqual(raised)
})

test('a reader whose last event was removed after 30 days gets what came since, and nothing twice', async () => {
  await using rig = await installed()
  await rig.addEndpoint('http://127.0.0.1:1/hook')
  const writer = await newWriter(0)
  const [held = '', last = ''] = await rig.raise(['a', 'b'], { writer })
  await rig.database.query(sql`delete from deliveries where event_id = ${last}`)
  const { next } = await read(rig)
  const [unseen = ''] = await rig.raise(['c'], { writer })
  rig.advance(31 * DAY)
  await cleanUpWebhooks(rig.database, rig.now())
  // What was given up is kept for longer.
  expect((await read(rig)).ids).toEqual([held, unseen])
  const raised = await rig.raise(['a'], { writer })
  expect((await read(rig, next)).ids).toEqual([unseen, ...raised])
})
