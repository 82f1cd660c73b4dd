import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { type Cursor, readCursor, writeCursor } from '../../service/src/webhooks/log/cursor.ts'
import { readLog } from '../../service/src/webhooks/log/event-log.ts'
import { waitForLock } from '../hold-users.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

const NIL = '00000000-0000-0000-0000-000000000000'

/** A transaction that stays open until it is told to end, and adds to the log as the service does. */
async function openWriter(rig: DispatchRig) {
  const client = new pg.Client('url' in rig.address ? { connectionString: rig.address.url } : rig.address)
  await client.connect()
  await client.query('begin')
  return {
    raise: async (): Promise<string> => {
      const id = uuidv7(Date.now())
      await client.query(
        `with head as (update event_log_heads set last = last + 1 where partner_id = $1 returning last)
         insert into events (partner_id, position, event_id, service_id, userid, eventname, body, created_at)
         select $1::uuid, last, $2::uuid, $3::uuid, 'u', 'user_update_successful', '{}'::bytea, now() from head`,
        [rig.partner.partnerId, id, NIL],
      )
      return id
    },
    end: async (how: 'commit' | 'rollback') => {
      await client.query(how)
      await client.end()
    },
  }
}

function read(rig: DispatchRig, after?: Cursor, eventname?: string) {
  return readLog(rig.database, {
    partnerId: rig.partner.partnerId,
    after,
    userid: undefined,
    eventname,
    now: rig.now(),
  })
}

function idsOf({ events }: Awaited<ReturnType<typeof read>>) {
  return events.map(event => event.event_id)
}

test('an event that is committed late never appears behind a cursor that was returned before', async () => {
  await using rig = await dispatchRig()
  const early = await openWriter(rig)
  const first = await early.raise()
  const late = await openWriter(rig)
  const second = late.raise()
  await waitForLock(rig)
  // The older transaction is still open, and the newer one waits for it; otherwise its event would come before the
  // older one.
  const before = await read(rig)
  expect(idsOf(before)).toEqual([])
  await early.end('commit')
  await second
  const between = await read(rig, before.next)
  expect(idsOf(between)).toEqual([first])
  await late.end('commit')
  const after = await read(rig, between.next)
  expect(idsOf(after)).toEqual([await second])
  expect(idsOf(await read(rig, after.next))).toEqual([])
})

test('an event that is committed late never appears behind a cursor, even when one statement does not search the whole rest of the log', async () => {
  await using rig = await dispatchRig()
  const early = await openWriter(rig)
  const first = await early.raise()
  const raising = rig.raise(Array.from({ length: 5001 }, (_, index) => `u${index}`))
  await waitForLock(rig)
  const before = await read(rig)
  expect(idsOf(before)).toEqual([])
  await early.end('commit')
  const later = await raising
  expect(idsOf(await read(rig, before.next))).toEqual([first, ...later.slice(0, 99)])
  // Events that do not match the filter move the cursor forward by windows, and hide no event that comes later.
  const passed = await read(rig, undefined, 'webhook_test')
  expect(idsOf(passed)).toEqual([])
  expect(passed.next.position).toBe(5000)
  const [last] = await rig.raise(['u'])
  expect(idsOf(await read(rig, passed.next))).toEqual([...later.slice(4999), last])
})

test('a transaction that was rolled back leaves no gap in the log, and delays no other', async () => {
  await using rig = await dispatchRig()
  const [first] = await rig.raise(['u'])
  const early = await openWriter(rig)
  await early.raise()
  const [elsewhere] = await rig.raise(['u'], { partner: await rig.newPartner('Another') })
  expect(idsOf(await read(rig))).toEqual([first])
  await early.end('rollback')
  const [second] = await rig.raise(['u'])
  expect(idsOf(await read(rig))).toEqual([first, second])
  const positions = await rig.database.query<{ event_id: string; position: number }>(
    sql`select event_id, position from events order by position, event_id`,
  )
  const stands = new Map(positions.map(row => [row.event_id, row.position]))
  expect([first, second, elsewhere].map(id => stands.get(id ?? ''))).toEqual([1, 2, 1])
})

test('however transactions interleave, a reader sees each committed event once and no event of a rolled back transaction', async () => {
  await using rig = await dispatchRig()
  let seed = 42
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
  const committed: string[] = []
  let isOver = false
  const write = async () => {
    for (let round = 0; round < 12; round += 1) {
      const writer = await openWriter(rig)
      const ids: string[] = []
      for (let count = 0; count <= random() * 3; count += 1) {
        ids.push(await writer.raise())
        await sleep(random() * 15)
      }
      const how = random() < 0.25 ? 'rollback' : 'commit'
      if (how === 'commit') committed.push(...ids)
      await writer.end(how)
    }
  }
  const seen: string[] = []
  const follow = async () => {
    let cursor: Cursor | undefined
    for (;;) {
      const wasOver = isOver
      const page = await read(rig, cursor)
      seen.push(...page.events.map(event => event.event_id))
      cursor = readCursor(writeCursor(page.next))
      expect(cursor).toEqual(page.next)
      if (wasOver && page.events.length === 0) return
    }
  }
  const following = follow()
  await Promise.all(Array.from({ length: 5 }, write))
  isOver = true
  await following
  expect(new Set(seen).size).toBe(seen.length)
  expect([...seen].sort()).toEqual([...committed].sort())
})

test('pages of 100 follow each other to the end, and the end is a cursor too', async () => {
  await using rig = await dispatchRig()
  const ids = await rig.raise(Array.from({ length: 250 }, (_, index) => `u${index % 3}`))
  const seen: string[] = []
  const sizes: number[] = []
  let cursor: Cursor | undefined
  for (let page = 0; page < 4; page += 1) {
    const { events, next } = await read(rig, cursor)
    sizes.push(events.length)
    seen.push(...events.map(event => event.event_id))
    cursor = next
  }
  expect(sizes).toEqual([100, 100, 50, 0])
  expect(seen).toEqual(ids)
  const [more] = await rig.raise(['u1'])
  expect((await read(rig, cursor)).events.map(event => event.event_id)).toEqual([more])
})

test.each([
  '',
  'x',
  'MTIz',
  Buffer.from('1.nil').toString('base64url'),
  `${writeCursor({ position: 1, eventId: NIL })}=`,
])('a cursor that was never given out is refused: %j', text => {
  expect(readCursor(text)).toBeUndefined()
})
