import { expect, test } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { markDeleted } from '../../service/src/webhooks/endpoint/store.ts'
import { dropOldAttempts, ensureAttemptDays } from '../../service/src/webhooks/log/attempt-days.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/log/clean-up.ts'
import { listDeliveries } from '../../service/src/webhooks/log/deliveries.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig, newWriter } from './rig.ts'

const DAY = 86_400_000

function note(rig: DispatchRig, at: number) {
  return rig.database.query(sql`
    insert into delivery_attempts (partner_id, attempt_id, endpoint_id, event_id, attempt, started_at, pair, status, total_ms)
    values (${rig.partner.partnerId}, ${uuidv7(at)}, ${rig.partner.partnerId}, ${uuidv7(at)}, 1,
      ${new Date(at).toISOString()}, 'current', 200, 1)`)
}
async function placesOf(rig: DispatchRig) {
  const rows = await rig.database.query<{ place: string; count: number }>(
    sql`select tableoid::regclass::text as place, count(*) as count from delivery_attempts group by 1 order by 1`,
  )
  // On a cluster the name of a partition is followed by the number of the shard.
  const nameOfPlace = (place: string) => (rig.database.cell === '' ? place : place.replace(/_\d+$/, ''))
  return Object.fromEntries(rows.map(row => [nameOfPlace(row.place), row.count]))
}
function nameOf(at: number) {
  return `delivery_attempts_${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}`
}

test('attempts of a day without a partition are kept all the same, and are deleted when they are old', async () => {
  await using rig = await dispatchRig()
  const today = Math.floor(Date.now() / DAY) * DAY + DAY / 2
  const tomorrow = today + DAY
  await note(rig, tomorrow)
  expect(await placesOf(rig)).toEqual({ delivery_attempts_rest: 1 })
  // A day with rows in the default partition stays there; its neighbors get partitions of their own.
  await ensureAttemptDays(rig.database, today)
  await note(rig, today)
  await note(rig, tomorrow)
  await note(rig, tomorrow + DAY)
  const places = { [nameOf(today)]: 1, delivery_attempts_rest: 2, [nameOf(tomorrow + DAY)]: 1 }
  expect(await placesOf(rig)).toEqual(places)
  await Promise.all([1, 2, 3].map(() => ensureAttemptDays(rig.database, today)))
  expect(await placesOf(rig)).toEqual(places)
  expect(await dropOldAttempts(rig.database, today + 29 * DAY)).toBe(0)
  expect(await placesOf(rig)).toEqual(places)
  await dropOldAttempts(rig.database, tomorrow + 31 * DAY)
  expect(await placesOf(rig)).toEqual({ [nameOf(tomorrow + DAY)]: 1 })
  await dropOldAttempts(rig.database, tomorrow + 33 * DAY)
  expect(await placesOf(rig)).toEqual({})
})

test('deliveries are listed: those that wait, the next due first; those given up; those that arrived, the newest event first', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const other = await rig.newPartner('Other')
  const { webhookid } = await rig.addEndpoint(receiver.url, { ordering: 'user' })
  await rig.addEndpoint(receiver.url, { partner: other })
  await rig.raise(['theirs'], { partner: other })
  const [one = '', two = '', three = '', four = ''] = await rig.raise(['a', 'b', 'c', 'a'])
  const { partnerId } = rig.partner
  const list = (status?: 'waiting' | 'dead' | 'delivered', limit = 50) =>
    listDeliveries(rig.database, { partnerId, limit, ...(status && { status }) })
  const idsOf = async (...wish: Parameters<typeof list>) => (await list(...wish)).map(row => row.event_id)
  const at = (id: string, seconds: number, change: 'retry' | 'fresh') =>
    rig.database.query(sql`
      update deliveries set due_at = ${new Date(rig.now() + seconds * 1000).toISOString()}, work = ${change}
      where event_id = ${id}`)
  await at(one, 300, 'retry')
  await at(two, 100, 'fresh')
  await at(three, 200, 'retry')
  await rig.database.query(sql`
    update deliveries set held_from = due_at, due_at = ${new Date(rig.now() + 400_000).toISOString()}
    where event_id = ${four}`)
  expect(await idsOf('waiting')).toEqual([two, three, one, four])
  expect(await idsOf('waiting', 2)).toEqual([two, three])
  expect(await list('waiting', 1)).toMatchObject([
    { endpoint_id: webhookid, eventname: 'offer_activiation_successful', status: 'waiting', attempts: 0 },
  ])
  expect(await idsOf('dead')).toEqual([])
  expect(await idsOf('delivered')).toEqual([])

  await rig.database.query(sql`
    with gone as (delete from deliveries where event_id = ${three} returning *)
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, endpoint_id, 12, 'attempts', ${new Date(rig.now()).toISOString()} from gone`)
  await at(two, -1, 'fresh')
  const dispatcher = rig.open()
  await dispatcher.idle()
  await at(one, -1, 'fresh')
  await at(four, -1, 'fresh')
  await dispatcher.idle()
  await dispatcher.idle()
  expect(await list('dead')).toMatchObject([{ event_id: three, status: 'dead', attempts: 12 }])
  expect(await list('delivered')).toMatchObject([
    { event_id: four, status: 'delivered', attempts: 1 },
    { event_id: two, status: 'delivered' },
    { event_id: one, status: 'delivered' },
  ])
  expect(await idsOf()).toEqual([three, four, two, one])
  expect(await idsOf(undefined, 2)).toEqual([three, four])
  expect(new Set((await list()).map(row => row.eventname))).toEqual(new Set(['offer_activiation_successful']))
  expect((await listDeliveries(rig.database, { partnerId: other.partnerId, limit: 9 })).length).toBe(1)
  await receiver.close()
})

test('a delivery that is given up again is listed with the attempts and the reason of the second time', async () => {
  await using rig = await dispatchRig()
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  const writer = await newWriter(0)
  const [event = ''] = await rig.raise(['u'], { writer })
  // The state after a replay that ran at the same time as the first giving up.
  await rig.database.query(sql`
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    values (${rig.partner.partnerId}, ${event}, ${webhookid}, 12, 'attempts', ${new Date(rig.now()).toISOString()})`)
  rig.advance(31 * DAY)
  expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 1 })
  expect(await rig.database.query(sql`select attempts, reason from dead_deliveries`)).toEqual([
    { attempts: 0, reason: 'age' },
  ])
})

test('a delivery dies when it has waited for 30 days, whatever it waits for and whenever it is due, but not when it has just been replayed', async () => {
  await using rig = await dispatchRig()
  const writer = await newWriter(0)
  await rig.addEndpoint('http://127.0.0.1:1/hook')
  const works = ['fresh', 'retry', 'replay', 'anew'] as const
  const events = await rig.raise(works, { writer })
  rig.advance(29 * DAY)
  const at = (ms: number) => new Date(rig.now() + ms).toISOString()
  for (const [index, work] of works.entries())
    await rig.database.query(sql`
      update deliveries set work = ${work === 'anew' ? 'replay' : work}, due_at = ${at(index * DAY)}
      where event_id = ${events[index]}`)
  await rig.database.query(sql`update deliveries set queued_at = ${at(0)} where event_id = ${events[3]}`)
  expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 0 })
  rig.advance(DAY + 60_000)
  expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 3 })
  rig.advance(29 * DAY)
  expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 1 })
})

test('the clean-up continues while it has time: with old deliveries, old events, and the deliveries of deleted endpoints', async () => {
  await using rig = await dispatchRig()
  const writer = await newWriter(0)
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  await rig.raise(
    Array.from({ length: 2500 }, (_, index) => `u${index}`),
    { writer },
  )
  rig.advance(31 * DAY)
  expect(await cleanUpWebhooks(rig.database, rig.now(), 0)).toMatchObject({ died: 1000 })
  expect(await cleanUpWebhooks(rig.database, rig.now(), 60_000)).toMatchObject({ died: 1500 })
  await markDeleted(rig.database, { partnerId: rig.partner.partnerId, endpointId: webhookid }, rig.now())
  const asked: string[] = []
  const watched: Database = {
    ...rig.database,
    query: query => {
      asked.push(query.text)
      return rig.database.query(query)
    },
  }
  const removals = () => asked.filter(text => /delete from dead_deliveries where/.test(text)).length
  expect(await cleanUpWebhooks(watched, rig.now(), 60_000)).toMatchObject({ deliveries: 2500, events: 2500 })
  expect(removals()).toBeGreaterThan(0)
  // A deleted endpoint without any remains costs no statement of its own.
  asked.length = 0
  expect(await cleanUpWebhooks(watched, rig.now())).toMatchObject({ deliveries: 0, events: 0 })
  expect(removals()).toBe(0)
})

test('with ordering, the next deliveries are sent after one was given up for its age', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = () => 500
  const writer = await newWriter(0)
  await rig.addEndpoint(receiver.url, { ordering: 'user' })
  const [old = ''] = await rig.raise(['a'], { writer })
  rig.advance(29 * DAY)
  const dispatcher = rig.open()
  const next = await rig.raise(['a', 'a'], { writer })
  await dispatcher.idle()
  await dispatcher.close()
  rig.advance(2 * DAY)
  expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 1 })
  expect(await rig.database.query(sql`select event_id from dead_deliveries`)).toEqual([{ event_id: old }])
  receiver.answer = () => 200
  await rig.open().idle()
  expect(receiver.deliveries.slice(1).map(({ key }) => key)).toEqual(next)
  await receiver.close()
})
