import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/log/clean-up.ts'
import type { Cursor } from '../../service/src/webhooks/log/cursor.ts'
import { readLog } from '../../service/src/webhooks/log/event-log.ts'
import { type DispatchRig, dispatchRig, newWriter } from './rig.ts'

const DAY = 86_400_000

async function installed(): Promise<DispatchRig> {
  const rig = await dispatchRig()
  await markInstallation(rig.database, { keyring: rig.keyring, wanted: 'sandbox', now: rig.now() })
  return rig
}

async function read(rig: DispatchRig, after?: Cursor, eventname?: string) {
  const query = { partnerId: rig.partner.partnerId, after, userid: undefined, eventname, now: rig.now() }
  const { events, next } = await readLog(rig.database, query)
  return { ids: events.map(event => event.event_id), next }
}

/** Restores the database to before these events were raised: their positions are assigned again from there. */
async function putBack(rig: DispatchRig, lost: readonly string[]) {
  await rig.database.query(sql`delete from events where event_id = any (${lost}::uuid[])`)
  await rig.database.query(sql`
    update event_log_heads h set last = last - ${lost.length} where partner_id = ${rig.partner.partnerId}`)
}

test('in a database copied to another server the log continues after its last event, and older cursors work', async () => {
  await using original = await dispatchRig()
  const [one = '', two = ''] = await original.raise(['a', 'b'])
  const { next } = await read(original)
  const rows = await original.database.query<{ events: string; heads: string; partners: string }>(sql`
    select (select json_agg(e) from events e)::text as events, (select json_agg(h) from event_log_heads h)::text as heads,
      (select json_agg(p) from partners p)::text as partners`)
  await using copy = await dispatchRig()
  const [row] = rows
  await copy.database.query(sql`
    insert into partners select * from json_populate_recordset(null::partners, ${row?.partners})`)
  await copy.database.query(sql`
    insert into event_log_heads select * from json_populate_recordset(null::event_log_heads, ${row?.heads})`)
  await copy.database.query(sql`
    insert into events select * from json_populate_recordset(null::events, ${row?.events})`)
  const { partner } = original
  const [three = ''] = await copy.raise(['a'], { partner })
  const there = (after?: Cursor) =>
    readLog(copy.database, {
      partnerId: partner.partnerId,
      after,
      userid: undefined,
      eventname: undefined,
      now: copy.now(),
    })
  expect((await there(next)).events.map(event => event.event_id)).toEqual([three])
  expect((await there()).events.map(event => event.event_id)).toEqual([one, two, three])
})

test.each([1, 2, 5])(
  'a reader whose last event was lost with a restore gets all that was raised since, when %i positions were given anew',
  async count => {
    await using rig = await installed()
    const writer = await newWriter(0)
    const [old = ''] = await rig.raise(['a'], { writer })
    rig.advance(3 * DAY)
    const [kept = ''] = await rig.raise(['a'], { writer })
    const beforeBackup = (await read(rig)).next
    const lost = await rig.raise(['b', 'c'], { writer })
    const afterBackup = (await read(rig, beforeBackup)).next
    await putBack(rig, lost)
    const waiting = await read(rig, afterBackup, 'no_such_event')
    expect(waiting).toEqual({ ids: [], next: afterBackup })
    const raised = await rig.raise(
      Array.from({ length: count }, (_, index) => `u${index}`),
      { writer },
    )
    // Events more than a day older than the lost event are not returned again.
    const { ids, next } = await read(rig, afterBackup)
    expect(ids).not.toContain(old)
    expect(ids.filter(id => id !== kept)).toEqual(raised)
    expect(await read(rig, next)).toEqual({ ids: [], next })
    expect((await read(rig, beforeBackup)).ids).toEqual(raised)
  },
)

test('after a restore a reader misses nothing although clocks differ, whichever process writes first', async () => {
  await using rig = await installed()
  const writer = await newWriter(0)
  const lost = await rig.raise(['b', 'c'], { writer })
  const { next } = await read(rig)
  await putBack(rig, lost)
  rig.advance(3 * DAY)
  const ahead = await newWriter(3_600_000)
  const raised = [...(await rig.raise(['a'], { writer: ahead })), ...(await rig.raise(['b'], { writer }))]
  expect((await read(rig, next)).ids).toEqual(raised)
})

test('a reader whose last event was removed after 30 days gets every later event once', async () => {
  await using rig = await installed()
  await rig.addEndpoint('http://127.0.0.1:1/hook')
  const writer = await newWriter(0)
  const [held = '', last = ''] = await rig.raise(['a', 'b'], { writer })
  await rig.database.query(sql`delete from deliveries where event_id = ${last}`)
  const { next } = await read(rig)
  const [unseen = ''] = await rig.raise(['c'], { writer })
  rig.advance(31 * DAY)
  await cleanUpWebhooks(rig.database, rig.now())
  // Events of deliveries that were given up are kept for longer.
  expect((await read(rig)).ids).toEqual([held, unseen])
  const raised = await rig.raise(['a'], { writer })
  expect((await read(rig, next)).ids).toEqual([unseen, ...raised])
})
