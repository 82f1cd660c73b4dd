import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { urlOf } from '../command/database-url.ts'
import { newDirectory, runJson, type ServiceProcess, startKeptProcess } from '../command/process.ts'
import { ada, demoCatalogueFile, freshDatabase } from '../rig.ts'
import { startLoad } from './load.ts'

let address: DatabaseAddress
let service: ServiceProcess
let client: Client
const endings: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  const fresh = await freshDatabase()
  address = fresh.address
  const directory = await newDirectory()
  const place = {
    cwd: directory.path,
    env: { DATABASE_URL: urlOf(address), ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') },
  }
  service = await startKeptProcess(['serve', '--port', '0'], place)
  endings.push(() => service.stop('SIGKILL'), fresh.drop, directory.remove)
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  const partner = await runJson<{ clientid: string; clientsecret: string; apikey: string }>(
    ['partner', 'create', '--name', 'Stopped'],
    place,
  )
  client = createClient({
    baseUrl: service.address,
    clientId: partner.clientid,
    clientSecret: partner.clientsecret,
    apiKey: partner.apikey,
    tries: 1,
  })
})
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

/** Ends within the 15 seconds that an orchestrator waits; gives the exit code. */
const terminate = async (): Promise<number | null> => {
  const before = performance.now()
  const code = await service.stop('SIGTERM')
  expect(performance.now() - before).toBeLessThan(15_000)
  return code
}

test('SIGTERM lets every accepted request be answered, though it has to wait', async () => {
  await client.prefillUser({ userid: 'locked', ...ada })
  const holder = new pg.Client({
    ...('url' in address ? { connectionString: address.url } : address),
  })
  await holder.connect()
  await holder.query('begin')
  await holder.query("select 1 from users where userid = 'locked' for update")
  // The first blocks the lane in which the others then wait.
  const prefill = (userid: string) =>
    client.prefillUser({ userid, ...ada }).catch((error: { code: string }) => error.code)
  const calls = [prefill('locked')]
  await expect.poll(() => waiting(holder), { timeout: 10_000, interval: 20 }).toBe(1)
  for (let count = 0; count < 20; count += 1) calls.push(prefill(`waiting-${count}`))
  // Only what has arrived is accepted; the lock may last two seconds.
  await sleep(700)
  const ended = terminate()
  await expect.poll(() => service.log().some(line => line.event === 'stopping')).toBe(true)
  await holder.query('commit')
  await holder.end()
  expect(await Promise.all(calls)).toEqual(calls.map(() => 'prefill saved'))
  expect(await ended).toBe(0)
})

const waiting = async (holder: pg.Client): Promise<number> => {
  const { rows } = await holder.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.count ?? 0
}

test('SIGTERM under load ends with 0, and what was acknowledged is there', async () => {
  const load = startLoad(client, { writers: 30, name: 'stopped' })
  await expect.poll(() => load.acknowledged.length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(300)
  expect(await terminate()).toBe(0)
  await load.stop()
  expect(load.wrong).toEqual([])
  const statuses = service
    .log()
    .filter(line => line.event === 'request')
    .map(line => line['status'])
  expect([...new Set(statuses)].filter(status => status !== 200)).toEqual([])
  const database = openDatabase(address, { max: 1, onError: () => {} })
  const rows = await database.query<{ userid: string }>(sql`select userid from users`)
  await database.close()
  const kept = new Set(rows.map(row => row.userid))
  expect(load.acknowledged.filter(written => !kept.has(written.userid))).toEqual([])
})
