// @databases citus
// @slow

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { type Created, codeOf } from '../command/place.ts'
import {
  newDirectory,
  type Place,
  runJson,
  type ServiceProcess,
  startKeptProcess,
} from '../command/process.ts'
import { freePort } from '../free-port.ts'
import { timesOf } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, adaAsks, demoCatalogueFile } from '../rig.ts'
import { checkFiles } from '../trust/canaries.ts'
import { type Journal, type OwnJournal, openJournal, openOwnJournal } from '../trust/journal.ts'
import { checkLedger } from '../trust/ledger.ts'
import { canRunCluster, type OwnCluster, startOwnCluster } from './own-cluster.ts'
import { createPartnerOf, type Receiver, startReceiver } from './receiver.ts'

// Only catches a hang: three servers and two services, on a machine that may be busy.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

/** Runs when the tests run on a cluster, but kills the nodes of a cluster of its own. */
const canRun = canRunCluster && inject('testServer').kind === 'cluster'

/** A partner with its receiver, and the worker that stores it. */
type Tenant = {
  readonly created: Created
  readonly receiver: Receiver
  readonly worker: number
  /** Prefills beside those of the writers. */
  readonly beside: OwnJournal
}

let cluster: OwnCluster
let database: Database
let place: Place
let services: ServiceProcess[] = []
let tenants: Tenant[] = []
const endings: (() => unknown)[] = []

beforeAll(async () => {
  if (!canRun) return
  cluster = await startOwnCluster()
  endings.push(cluster.stop)
  const { path, remove } = await newDirectory()
  endings.push(remove)
  place = {
    cwd: path,
    env: {
      DATABASE_URL: cluster.url,
      ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64'),
      ENROLMENT_ERASURES: join(path, 'erasures'),
      // The receivers are on this machine, which production refuses unless its operator says otherwise.
      ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
    },
  }
  database = openDatabase({ url: cluster.url }, { max: 2, ...patientDatabase })
  endings.push(database.close)
  await runJson(['migrate', '--cells', '2'], place)
  await database.learnCells()
  for (let count = 0; count < 2; count += 1) {
    const service = await startKeptProcess(['serve', '--port', `${await freePort()}`], place)
    services.push(service)
    endings.push(() => service.stop('SIGKILL'))
  }
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  for (const worker of cluster.workers) tenants.push(await newTenant(worker))
})
afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end()
  services = []
  tenants = []
})

/** New partners go to one cell after the other, so new ones are created until one is on the worker. */
async function newTenant(worker: number): Promise<Tenant> {
  const receiver = await startReceiver({ refuses: true })
  endings.push(receiver.close)
  for (;;) {
    const created = await createPartnerOf(receiver, place)
    const [node] = await database.query<{ port: number }>(sql`
      select distinct nodeport as port from citus_shards
      where table_name = (select to_regclass(cell || '.users') from partners where partner_id = ${created.partnerid})`)
    if (node?.port === worker) return { created, receiver, worker, beside: openOwnJournal() }
  }
}

function clientsOf({ created }: Tenant): Client[] {
  return services.map(({ address }) =>
    createClient({
      baseUrl: address,
      clientId: created.clientid,
      clientSecret: created.clientsecret,
      apiKey: created.apikey,
      tries: 1,
      timeoutMs: 60_000,
      deadlineMs: 60_000,
    }),
  )
}

async function more(journal: Journal, count: number): Promise<void> {
  const wanted = journal.acknowledged() + count
  await expect.poll(journal.acknowledged, { timeout: 120_000, interval: 20 }).toBeGreaterThan(wanted)
}

function prefill(client: Client, { beside }: Tenant, userid: string): Promise<unknown> {
  return beside.write(userid, 'prefill', () =>
    client.prefillUser({ userid, ...ada }, { idempotencyKey: userid }),
  )
}

/** The requests of a partner's server: a write, both kinds of read, a link, and events. */
const asked: Readonly<Record<string, (client: Client, tenant: Tenant) => Promise<unknown>>> = {
  'a prefill': (client, tenant) => prefill(client, tenant, `new-${randomBytes(6).toString('hex')}`),
  'Get Benefits': client => client.getBenefits({ userid: 'known', ...adaAsks }),
  'Get User': client => client.getUser({ userid: 'known' }),
  'a link': client => client.createLinkToken({ userid: 'known' }),
  'the event log': client => client.listEvents({}),
}

const rounds = timesOf(1, 20)

test.runIf(canRun)(
  'a worker node killed and started again: 503 for the partners on it, nobody else waits; nothing lost, nothing twice',
  async () => {
    const [lost, other] = tenants as [Tenant, Tenant]
    for (const tenant of tenants) await prefill(clientsOf(tenant)[0] as Client, tenant, 'known')
    const journals = tenants.map(tenant => openJournal(clientsOf(tenant), { writers: 6, name: 'writer' }))
    const otherJournal = journals[1] as Journal
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(journals.map(journal => more(journal, 20)))
      cluster.kill(lost.worker)
      // Everything of the other partner continues in both processes while the node is down.
      await more(otherJournal, 40)
      for (const client of clientsOf(other))
        for (const [name, ask] of Object.entries(asked))
          await expect.poll(() => codeOf(ask(client, other)), { message: name }).toBe('')
      const newest = await newestEvent(other)
      await expect.poll(() => other.receiver.arrived.has(newest), { message: 'webhooks' }).toBe(true)
      await expect.poll(() => isDelivered(other, newest), { message: 'results of webhooks' }).toBe(true)
      for (const client of clientsOf(lost))
        for (const [name, ask] of Object.entries(asked))
          expect([name, await codeOf(ask(client, lost))]).toEqual([name, 'unavailable'])
      cluster.revive(lost.worker)
    }
    await Promise.all(journals.map(journal => more(journal, 20)))
    await Promise.all(journals.map(journal => journal.stop()))
    const logs = services.map(one => one.stdout() + one.stderr()).join('')
    for (const [index, tenant] of tenants.entries()) {
      const { entries, wrong } = journals[index] as Journal
      const { receiver, created } = tenant
      const journal = { entries: [...entries, ...tenant.beside.entries], wrong }
      await checkLedger({ journal, receiver, database, partnerId: created.partnerid, logs })
    }
    await cluster.checkpoint()
    await checkFiles(cluster.directory, cluster.nodes)
  },
)

/** Whether the result of the attempt at an event has been written. */
async function isDelivered({ created }: Tenant, eventId: string): Promise<boolean> {
  const [row] = await database.query<{ waiting: number; attempts: number }>(sql`
    select (select count(*) from deliveries where partner_id = ${created.partnerid} and event_id = ${eventId}) as waiting,
      (select count(*) from delivery_attempts where partner_id = ${created.partnerid} and event_id = ${eventId}) as attempts`)
  return row !== undefined && row.waiting === 0 && row.attempts > 0
}

async function newestEvent({ created }: Tenant): Promise<string> {
  const [row] = await database.query<{ event_id: string }>(sql`
    select event_id from events where partner_id = ${created.partnerid} order by position desc limit 1`)
  return row?.event_id ?? ''
}
