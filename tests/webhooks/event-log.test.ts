import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { uuidv4, uuidv7 } from '../../service/src/vault/uuid.ts'
import { type Cursor, readCursor, writeCursor } from '../../service/src/webhooks/cursor.ts'
import { readLog } from '../../service/src/webhooks/event-log.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

const NIL = '00000000-0000-0000-0000-000000000000'

/** A transaction that stays open until it is told to end. */
const openWriter = async (rig: DispatchRig) => {
  const client = new pg.Client('url' in rig.address ? { connectionString: rig.address.url } : rig.address)
  await client.connect()
  await client.query('begin')
  return {
    raise: async (): Promise<string> => {
      const id = uuidv7(Date.now())
      await client.query(
        `insert into events (partner_id, event_id, service_id, userid, eventname, idempotency_key, body, data, created_at)
         values ($1, $2, $3, 'u', 'user_update_successful', $4, '{}', '{}', now())`,
        [rig.partner.partnerId, id, NIL, uuidv4()],
      )
      return id
    },
    end: async (how: 'commit' | 'rollback') => {
      await client.query(how)
      await client.end()
    },
  }
}

/** Patient, as an older transaction anywhere on the server holds the log up, also one of another test's database. */
const read = (rig: DispatchRig, after?: Cursor, settlingMs = 30_000) =>
  readLog(
    rig.database,
    {
      partnerId: rig.partner.partnerId,
      after,
      userid: undefined,
      eventname: undefined,
      now: rig.now(),
    },
    settlingMs,
  )

test('an event that is committed late never appears behind a cursor that was given out', async () => {
  await using rig = await dispatchRig()
  const early = await openWriter(rig)
  const first = await early.raise()
  const late = await openWriter(rig)
  const second = await late.raise()
  await late.end('commit')
  // The older transaction is still open: the newer event is held back, or the older one would come behind it.
  const before = await read(rig, undefined, 100)
  expect(before.events).toEqual([])
  await early.end('commit')
  const after = await read(rig, before.next)
  expect(after.events.map(event => event.event_id)).toEqual([first, second])
  expect((await read(rig, after.next)).events).toEqual([])
})

test('nor when more lies behind the cursor than one statement looks through', async () => {
  await using rig = await dispatchRig()
  const early = await openWriter(rig)
  const first = await early.raise()
  const later = await rig.raise(Array.from({ length: 5001 }, (_, index) => `u${index}`))
  const before = await read(rig, undefined, 100)
  expect(before.events).toEqual([])
  await early.end('commit')
  const after = await read(rig, before.next)
  expect(after.events.map(event => event.event_id)).toEqual([first, ...later.slice(0, 99)])
})

test('a read waits for the older transactions that were open when it began, and then shows all that was answered', async () => {
  await using rig = await dispatchRig()
  const early = await openWriter(rig)
  await early.raise()
  const late = await openWriter(rig)
  const second = await late.raise()
  await late.end('commit')
  const reading = read(rig)
  await sleep(100)
  await early.end('rollback')
  expect((await reading).events.map(event => event.event_id)).toEqual([second])
})

test('however transactions interleave, a reader sees each committed event once, and none of a rolled back one', async () => {
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
