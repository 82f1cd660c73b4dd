import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { borrowEmbeddedDatabase } from '../../service/src/embedded/borrow.ts'
import {
  endDatabase,
  newDirectory,
  type Place,
  runJson,
  type ServiceProcess,
  startKeptProcess,
} from '../command/process.ts'
import { freePort } from '../free-port.ts'
import { patientDatabase } from '../patient-database.ts'
import { demoCatalogueFile } from '../rig.ts'
import { type Load, startLoad } from './load.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// `enrolment serve` on its own embedded database, always on the same port, with one partner and its receiver.
let dataDir: string
let port: number
let place: Place
let service: ServiceProcess
let receiver: Receiver
let client: Client
let partnerId: string
const endings: (() => Promise<unknown>)[] = []

const startService = async () => {
  service = await startKeptProcess(['serve', '--port', String(port), '--data', dataDir], place)
}

beforeEach(async () => {
  const directory = await newDirectory()
  dataDir = directory.path
  port = await freePort()
  // The receiver is on this machine, which production refuses unless its operator says otherwise.
  place = { env: { ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1' } }
  receiver = await startReceiver()
  await startService()
  endings.push(
    () => service.stop('SIGKILL'),
    () => endDatabase(dataDir),
    receiver.close,
    directory.remove,
  )
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', dataDir], place)
  const partner = await runJson<{
    partnerid: string
    clientid: string
    clientsecret: string
    apikey: string
  }>(
    [
      ...['partner', 'create', '--name', 'Killed', '--data', dataDir, '--events', 'all'],
      ...['--webhook-url', receiver.url, '--webhook-username', receiver.username],
      ...['--webhook-password', receiver.password],
    ],
    place,
  )
  partnerId = partner.partnerid
  client = createClient({
    baseUrl: service.address,
    clientId: partner.clientid,
    clientSecret: partner.clientsecret,
    apiKey: partner.apikey,
    tries: 1,
    timeoutMs: 15_000,
  })
})
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

const rounds = 5
// Only catches a hang: each round is a whole start of the service, on a machine that may be busy.
const patience = 300_000
const postmaster = async (): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])

/** Waits until more was acknowledged than before: the service works again. */
const moreThan = (load: Load, count: number) =>
  expect.poll(() => load.acknowledged.length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(count)

test(
  'kill -9 of the service, again and again: nothing acknowledged is lost, nothing is done twice, all is told',
  async () => {
    const load = startLoad(client, { writers: 12, name: 'service' })
    for (let round = 0; round < rounds; round += 1) {
      await moreThan(load, load.acknowledged.length + 20)
      // Another moment of the work each time.
      await sleep(round * 17)
      await service.stop('SIGKILL')
      await startService()
    }
    await moreThan(load, load.acknowledged.length + 20)
    await load.stop()
    await checkTheBooks(load)
  },
  patience,
)

test(
  'kill -9 of the database, again and again: the same, while the service lives on',
  async () => {
    const load = startLoad(client, { writers: 12, name: 'database' })
    const before = await postmaster()
    for (let round = 0; round < rounds; round += 1) {
      await moreThan(load, load.acknowledged.length + 20)
      await sleep(round * 13)
      process.kill(await postmaster(), 'SIGKILL')
    }
    await moreThan(load, load.acknowledged.length + 20)
    await load.stop()
    expect(await postmaster()).not.toBe(before)
    expect(service.child.exitCode).toBeNull()
    await checkTheBooks(load)
  },
  patience,
)

const checkTheBooks = async (load: Load): Promise<void> => {
  expect(load.wrong).toEqual([])
  expect(load.acknowledged.length).toBeGreaterThan(rounds * 20)
  const borrowed = await borrowEmbeddedDatabase({ dataDir })
  const database = openDatabase(borrowed.address, { max: 2, ...patientDatabase })
  try {
    await checkUsers(database, load)
    await checkDeliveries(database)
  } finally {
    await database.close()
    await borrowed.release()
  }
}

type Book = {
  userid: string
  status: string
  prefill_count: number
  keys: number
  prefill_lines: number
  prefill_events: number
  created_events: number
  activated_events: number
  documents: number
}

/** What each user's rows say must agree, whether its write was acknowledged or not. */
const checkUsers = async (database: Database, load: Load): Promise<void> => {
  const books = await database.query<Book>(sql`
    select u.userid, u.status, u.prefill_count,
      (select count(*)::integer from idempotency_keys k where k.partner_id = u.partner_id and k.service_id = u.service_id) as keys,
      (select count(*)::integer from history h where h.partner_id = u.partner_id and h.service_id = u.service_id
        and h.what = 'prefill') as prefill_lines,
      (select count(*)::integer from documents d where d.partner_id = u.partner_id and d.service_id = u.service_id) as documents,
      count(e.event_id) filter (where e.eventname = 'enrollment_request_received')::integer as prefill_events,
      count(e.event_id) filter (where e.eventname = 'enrollment_successful')::integer as created_events,
      count(e.event_id) filter (where e.eventname = 'offer_activiation_successful')::integer as activated_events
    from users u left join events e on e.partner_id = u.partner_id and e.service_id = u.service_id
    where u.partner_id = ${partnerId} group by u.partner_id, u.service_id`)
  const prefilled = { status: 'prefilled', prefill_count: 1, prefill_lines: 1, prefill_events: 1 }
  const created = { status: 'active', created_events: 1, activated_events: 1 }
  const none = {
    prefill_count: 0,
    prefill_lines: 0,
    prefill_events: 0,
    created_events: 0,
    activated_events: 0,
  }
  for (const book of books)
    expect(book).toMatchObject({
      ...none,
      ...(book.status === 'active' ? created : prefilled),
      keys: 1,
      documents: 1,
    })
  const statuses = new Map(books.map(book => [book.userid, book.status]))
  expect(statuses.size).toBe(books.length)
  const lost = load.acknowledged.filter(
    ({ userid, kind }) => statuses.get(userid) !== (kind === 'create' ? 'active' : 'prefilled'),
  )
  expect(lost).toEqual([])
  const [strays] = await database.query<{ count: number }>(sql`
    select count(*)::integer as count from events e
    where not exists (select from users u where u.partner_id = e.partner_id and u.service_id = e.service_id)`)
  expect(strays).toEqual({ count: 0 })
}

/** Every event arrives, by its own key and with its own bytes, however often; and nothing else does. */
const checkDeliveries = async (database: Database): Promise<void> => {
  const events = await database.query<{ idempotency_key: string; body: Buffer }>(
    sql`select idempotency_key, body from events where partner_id = ${partnerId}`,
  )
  const missing = () => events.filter(event => !receiver.arrived.has(event.idempotency_key)).length
  await expect.poll(missing, { timeout: 60_000, interval: 100 }).toBe(0)
  const bodies = new Map(events.map(event => [event.idempotency_key, event.body.toString('hex')]))
  for (const [key, copies] of receiver.arrived) expect([...new Set(copies)]).toEqual([bodies.get(key)])
  expect(receiver.wrong).toEqual([])
}
