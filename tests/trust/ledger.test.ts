import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Executor } from '../../service/src/db/database.ts'
import { fragment, type Query, sql } from '../../service/src/db/sql.ts'
import { newDirectory } from '../command/process.ts'
import { startReceiver } from '../faults/receiver.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { checkFiles } from './canaries.ts'
import type { Kind } from './effects.ts'
import { openOwnJournal } from './journal.ts'
import { type Books, checkLedger } from './ledger.ts'

// The ledger itself: books that agree, and the same books after each kind of fault that it has to find.

const service = forAllTests(startTestService)
const receiver = forAllTests(startReceiver)
const journal = openOwnJournal()
let partnerId: string

beforeAll(async () => {
  const { client, ...partner } = await service.newPartner()
  partnerId = partner.partnerId
  const { url, username, password } = receiver
  await client.createWebhook({ url, username, password, events: ['all'] })
  const prefill = (userid: string) => () => client.prefillUser({ userid, ...ada })
  const create = (userid: string) => () => client.createUser({ userid, ...ada, offername: 'starter' })
  const erase = (userid: string) => () => client.eraseUser({ userid })
  await journal.write('prefilled', 'prefill', prefill('prefilled'))
  await journal.write('prefilled-twice', 'prefill', prefill('prefilled-twice'))
  await journal.write('prefilled-twice', 'prefill', prefill('prefilled-twice'))
  await journal.write('created', 'prefill', prefill('created'))
  await journal.write('created', 'create', create('created'))
  await journal.write('cancelled', 'create', create('cancelled'))
  await journal.write('cancelled', 'cancel', () => client.cancelUser({ userid: 'cancelled' }))
  await journal.write('erased', 'create', create('erased'))
  await journal.write('erased', 'erase', erase('erased'))
  await service.service().dispatcher.idle()
})

function books(more: Partial<Books> = {}): Books {
  const { database } = service
  const logs = JSON.stringify(service.logged)
  return { journal, receiver, database, partnerId, logs, mayWait: true, ...more }
}

/** The books after a change of the database, which is undone again. */
async function after(changes: readonly Query[], check: (database: Executor) => Promise<void>): Promise<void> {
  const undo = new Error('undone')
  const done = service.database.transaction(async tx => {
    for (const change of changes) await tx.query(change)
    await check(tx)
    throw undo
  })
  await expect(done).rejects.toBe(undo)
}

function serviceIdOf(userid: string) {
  return fragment`(select service_id from events where partner_id = ${partnerId} and userid = ${userid} limit 1)`
}

function firstEventOf(userid: string) {
  return fragment`(
    select event_id from events where partner_id = ${partnerId} and userid = ${userid} order by position limit 1)`
}

test('books that agree pass: repeats, lives of several writes, erasures, events that wait or are dead', async () => {
  await vi.waitFor(() => checkLedger(books({ mayWait: false })), { timeout: 120_000 })
  expect(receiver.arrived.size).toBeGreaterThan(8)
  const event = firstEventOf('prefilled')
  const undelivered = sql`delete from delivery_attempts where partner_id = ${partnerId} and event_id = ${event}`
  const endpoint = fragment`(select endpoint_id from webhook_endpoints where partner_id = ${partnerId})`
  const now = new Date().toISOString()
  await after(
    [
      undelivered,
      sql`insert into deliveries (partner_id, event_id, endpoint_id, service_id, position, due_at, queued_at)
        select ${partnerId}, event_id, ${endpoint}, service_id, position, ${now}, ${now} from events
        where partner_id = ${partnerId} and event_id = ${event}`,
    ],
    database => checkLedger(books({ database })),
  )
  await after(
    [
      undelivered,
      sql`insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
        select ${partnerId}, ${event}, ${endpoint}, 12, 'attempts', ${now}::timestamptz`,
    ],
    database => checkLedger(books({ database })),
  )
})

test('a write without an answer may have taken effect or not, and one with an answer has', async () => {
  const unanswered = journal.entries.map(entry => ({ ...entry, isAcknowledged: false }))
  await checkLedger(books({ journal: { entries: unanswered, wrong: [] } }))
  const more = (userid: string, kind: Kind, isAcknowledged: boolean) =>
    books({
      journal: { entries: [...journal.entries, { userid, kind, sent: 1, isAcknowledged }], wrong: [] },
    })
  for (const [userid, kind] of [
    ['never', 'prefill'],
    ['prefilled', 'prefill'],
    ['created', 'erase'],
  ] as const) {
    await checkLedger(more(userid, kind, false))
    await expect(checkLedger(more(userid, kind, true))).rejects.toThrow(`${userid}: `)
  }
  await expect(checkLedger(more('never', 'prefill', true))).rejects.toThrow('acknowledged and not there')
  await expect(checkLedger(more('created', 'erase', true))).rejects.toThrow('wrong isListed')
})

describe('a fault is found', () => {
  test.each<[name: string, message: string | RegExp, wrong: () => Partial<Books>]>([
    [
      'an answer that the client does not expect',
      'prefill internal',
      () => ({ journal: { ...journal, wrong: ['prefill internal'] } }),
    ],
    [
      'a user for whom nothing was sent',
      'sent by nobody',
      () => ({
        journal: { entries: journal.entries.filter(({ userid }) => userid !== 'created'), wrong: [] },
      }),
    ],
    ['a delivery with wrong credentials', 'Basic', () => ({ receiver: { ...receiver, wrong: ['Basic'] } })],
    ['a delivery without a committed event', 'an event and its bodies', () => arrivedToo(randomUUID(), '00')],
    [
      'a copy on no record of what was delivered before the fault',
      'copies that are on no record',
      () => ({
        ...arrivedToo(anyArrived(), receiver.arrived.get(anyArrived())?.[0] ?? ''),
        undelivered: new Set(),
      }),
    ],
    ['an event with two bodies', 'an event and its bodies', () => arrivedToo(anyArrived(), '00')],
    [
      'an event that never arrived',
      'neither delivered nor waiting nor dead',
      () => ({ receiver: { arrived: new Map([...receiver.arrived].slice(1)), wrong: [] } }),
    ],
    [
      'a name in the service’s log',
      'what is secret in the logs',
      () => ({ logs: `{"event":"request","name":"${ada.lastname}"}` }),
    ],
    [
      'a date of birth in it',
      'what is secret in the logs',
      () => ({ logs: `{"event":"request","on":"${ada.dob}"}` }),
    ],
  ])('%s', async (_, message, wrong) => {
    await expect(checkLedger(books(wrong()))).rejects.toThrow(message)
  })

  test.each<[name: string, message: string, changes: () => readonly Query[]]>([
    [
      'a user who is gone',
      'rows of nobody',
      () => [sql`delete from users where partner_id = ${partnerId} and userid = 'created'`],
    ],
    [
      'a write that took effect twice',
      'wrong versions',
      () => [
        sql`update users set version = version + 1 where partner_id = ${partnerId} and userid = 'created'`,
      ],
    ],
    [
      'a change that is not in the history',
      'wrong changes',
      () => [
        sql`delete from history where partner_id = ${partnerId} and service_id = ${serviceIdOf('created')} and version = 2`,
      ],
    ],
    [
      'a status that no write gave',
      'wrong status',
      () => [
        sql`update users set status = 'registering' where partner_id = ${partnerId} and userid = 'prefilled'`,
      ],
    ],
    [
      'a doubled event',
      'wrong events',
      () => [
        sql`insert into events select partner_id, ${randomUUID()}::uuid, position + 1000, service_id, userid, eventname, body, data, created_at from events where partner_id = ${partnerId} and event_id = ${firstEventOf('created')}`,
      ],
    ],
    [
      'an event that is gone',
      'wrong events',
      () => [
        sql`delete from events where partner_id = ${partnerId} and event_id = ${firstEventOf('created')}`,
      ],
    ],
    [
      'sealed data that is gone',
      'wrong documents',
      () => [
        sql`delete from sealed_records where partner_id = ${partnerId} and service_id = ${serviceIdOf('created')}`,
      ],
    ],
    [
      'a key that outlived its user',
      'wrong keys',
      () => [sql`insert into data_keys values (${partnerId}, ${serviceIdOf('erased')}, '')`],
    ],
    [
      'an erasure that is not listed',
      'wrong isListed',
      () => [sql`delete from erasures where partner_id = ${partnerId}`],
    ],
    [
      'a gap in the log of events',
      'positions after a gap',
      () => [sql`update event_log_heads set last = last + 1 where partner_id = ${partnerId}`],
    ],
    [
      'an event of which nobody was told',
      'neither delivered nor waiting nor dead',
      () => [
        sql`delete from delivery_attempts where partner_id = ${partnerId} and event_id = ${firstEventOf('created')}`,
      ],
    ],
    [
      'an event that was told to one endpoint of two',
      'neither delivered nor waiting nor dead',
      () => [
        sql`insert into webhook_endpoints (partner_id, endpoint_id, url, sealed_secrets, events, created_at, updated_at) select partner_id, ${randomUUID()}, url, sealed_secrets, '{user_erased}', created_at, updated_at from webhook_endpoints where partner_id = ${partnerId}`,
      ],
    ],
    [
      'an event with another body than the one that arrived',
      'an event and its bodies',
      () => [
        sql`update events set body = '{}' where partner_id = ${partnerId} and event_id = ${firstEventOf('created')}`,
      ],
    ],
    [
      'an attempt on record that never arrived',
      'never arrived',
      () => [
        sql`insert into delivery_attempts (partner_id, attempt_id, endpoint_id, event_id, attempt, started_at, pair, status, total_ms) select partner_id, ${randomUUID()}::uuid, endpoint_id, event_id, 2, started_at, pair, 500, 1 from delivery_attempts where partner_id = ${partnerId} and event_id = ${firstEventOf('created')}`,
      ],
    ],
    [
      'an answer that was kept though it accepted',
      'kept although',
      () => [
        sql`update delivery_attempts set sealed_answer = '' where partner_id = ${partnerId} and event_id = ${firstEventOf('created')}`,
      ],
    ],
    [
      'a name in a table',
      'what is secret in the table webhook_endpoints',
      () => [
        sql`update webhook_endpoints set url = ${`https://example.com/of-${ada.firstname}`} where partner_id = ${partnerId}`,
      ],
    ],
    [
      'an echoed address among the bytes of a table',
      'what is secret in the table delivery_attempts',
      () => [
        sql`
        insert into delivery_attempts (partner_id, attempt_id, endpoint_id, event_id, attempt, started_at, pair,
          error_class, total_ms, sealed_answer)
        select partner_id, ${randomUUID()}::uuid, endpoint_id, event_id, 2, started_at, pair, 'timeout', 1,
          ${Buffer.from(`{"${ada.address.addline1}"}`)}
        from delivery_attempts where partner_id = ${partnerId} and event_id = ${firstEventOf('created')}`,
      ],
    ],
  ])('%s', async (_, message, changes) => {
    await after(changes(), database => expect(checkLedger(books({ database }))).rejects.toThrow(message))
  })

  const whole = {
    'postgres.log': 'LOG: ready',
    'postgres/PG_VERSION': '18',
    'postgres/base/16384/2610': 'rows',
    'postgres/pg_wal/000000010000000000000001': 'changes',
  }
  test.each(Object.keys(whole))('what is secret in the file %s, or that file missing', async file => {
    const { path, remove } = await newDirectory()
    onTestFinished(remove)
    const write = async (name: string, text: string) => {
      await mkdir(dirname(join(path, name)), { recursive: true })
      await writeFile(join(path, name), text)
    }
    for (const [name, text] of Object.entries(whole)) await write(name, text)
    await checkFiles(path)
    await write(file, `the row of ${ada.email}`)
    await expect(checkFiles(path)).rejects.toThrow(`what is secret in ${join(path, file)}`)
    await write(file, '')
    await expect(checkFiles(path)).rejects.toThrow()
  })
})

/** What arrived, and this besides. */
function arrivedToo(key: string, body: string): Pick<Books, 'receiver'> {
  const copies = [...(receiver.arrived.get(key) ?? []), body]
  return { receiver: { arrived: new Map([...receiver.arrived, [key, copies]]), wrong: [] } }
}

function anyArrived(): string {
  return [...receiver.arrived.keys()][0] ?? ''
}
