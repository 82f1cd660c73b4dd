// @databases citus
// @nightly

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { onNode } from '../cluster.ts'
import type { Created } from '../command/place.ts'
import {
  newDirectory,
  type Place,
  runJson,
  runKilledWhen,
  type ServiceProcess,
  startProcess,
} from '../command/process.ts'
import { timesOf } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, adaAsks, demoCatalogueFile } from '../rig.ts'
import { type Journal, type OwnJournal, openJournal, openOwnJournal } from '../trust/journal.ts'
import { checkLedger } from '../trust/ledger.ts'
import { canRunCluster, type OwnCluster, startOwnCluster } from './own-cluster.ts'
import { createPartnerOf, type Receiver, startReceiver } from './receiver.ts'

const canRun = canRunCluster && inject('testServer').kind === 'cluster'

/** A partner, with writers and readers that ask both services. */
type Tenant = {
  readonly created: Created
  readonly receiver: Receiver
  readonly journal: Journal
  readonly beside: OwnJournal
  readonly stop: () => Promise<unknown>
}

/** Every answer but those with status 2xx: its status, and whether it says when to come again. */
const refusals: string[] = []
async function noting(...asked: Parameters<typeof globalThis.fetch>): Promise<Response> {
  const response = await globalThis.fetch(...asked)
  if (!response.ok) refusals.push(`${response.status}, Retry-After: ${response.headers.has('retry-after')}`)
  return response
}

/** Starts to ask for what servers read, over and over; returns a function that ends it. A refusal is noted. */
function startReading(client: Client): () => Promise<void> {
  let isStopped = false
  const userid = 'known'
  const read = async () => {
    while (!isStopped) {
      await client.getUser({ userid }).catch(() => {})
      await client.getBenefits({ userid, ...adaAsks }).catch(() => {})
      await client.createLinkToken({ userid }).catch(() => {})
      await client.listEvents({}).catch(() => {})
      await pause(200)
    }
  }
  const reading = read()
  return () => {
    isStopped = true
    return reading
  }
}

async function startTenant(services: readonly ServiceProcess[], place: Place): Promise<Tenant> {
  const receiver = await startReceiver({ refuses: true })
  onTestFinished(receiver.close)
  const created = await createPartnerOf(receiver, place)
  const { clientid: clientId, clientsecret: clientSecret, apikey: apiKey } = created
  const patient = { tries: 1, timeoutMs: 60_000, deadlineMs: 60_000, fetch: noting }
  const clients = services.map(({ address: baseUrl }) =>
    createClient({ baseUrl, clientId, clientSecret, apiKey, ...patient }),
  )
  const beside = openOwnJournal()
  await beside.write('known', 'prefill', async () => clients[0]?.prefillUser({ userid: 'known', ...ada }))
  const journal = openJournal(clients, { writers: 2, name: 'writer' })
  const endings = [journal.stop, ...clients.map(startReading)]
  return { created, receiver, journal, beside, stop: () => Promise.all(endings.map(end => end())) }
}

async function more({ journal }: Tenant, count: number): Promise<void> {
  const wanted = journal.acknowledged() + count
  await expect.poll(journal.acknowledged, { timeout: 120_000, interval: 20 }).toBeGreaterThan(wanted)
}

function refusedOf({ journal }: Tenant): number {
  return journal.entries.reduce((sum, { failures = [] }) => sum + failures.length, 0)
}

/** Does something while all partners write, until each has written more; returns how often each was refused. */
async function during(tenants: readonly Tenant[], work: () => Promise<unknown>): Promise<number[]> {
  const before = tenants.map(refusedOf)
  await work()
  await Promise.all(tenants.map(tenant => more(tenant, 20)))
  return tenants.map((tenant, index) => refusedOf(tenant) - (before[index] ?? 0))
}

/** The node of each cell. */
async function nodesOf(place: Place): Promise<ReadonlyMap<string, string>> {
  const { cells } = await runJson<{ cells: { cell: string; node: string }[] }>(['cell', 'list'], place)
  return new Map(cells.map(({ cell, node }) => [cell, node]))
}

/** How often a move is killed; `lost-node` does it twice, too. */
const kills = timesOf(1, 20)
// Only catches a hang: three servers and two services, on a machine that may be busy.
vi.setConfig({ testTimeout: 600_000 + kills * 60_000 })

/** From when a partner is in no cell until it is in the other. */
const MOVE_MS = 12_000

/** Kills the move of a partner from the third cell, later in each round, and has it repeated or taken back. */
async function killMove(
  partnerId: string,
  round: number,
  { cluster, place }: { cluster: OwnCluster; place: Place },
): Promise<void> {
  const database = openDatabase({ url: cluster.url }, { max: 1, ...patientDatabase })
  let since: number | undefined
  const watching = setInterval(async () => {
    const [row] = await database.query<{ cell: string }>(
      sql`select cell from partners where partner_id = ${partnerId}`,
    )
    if (row?.cell === '') since ??= performance.now()
  }, 50)
  const isTime = () => since !== undefined && performance.now() - since > (MOVE_MS * round) / kills
  await runKilledWhen(['cell', 'assign', partnerId, 'cell_1'], place, isTime)
  clearInterval(watching)
  await database.close()
  // What the killed command had sent may still be under way.
  await vi.waitFor(() => runJson(['cell', 'assign', partnerId, 'cell_3'], place), {
    timeout: 180_000,
    interval: 1000,
  })
}

test.runIf(canRun)(
  'a partner and cells move, and a node is added, under load: nothing is lost or twice, and who is refused is told to come again',
  async () => {
    const cluster = await startOwnCluster()
    onTestFinished(cluster.stop)
    const [first, added] = cluster.workers.map(port => `127.0.0.1:${port}`)
    const addedNode = `'127.0.0.1', ${cluster.workers[1]}`
    await onNode(cluster.url, `select citus_remove_node(${addedNode})`)
    const { path, remove } = await newDirectory()
    onTestFinished(remove)
    const place = {
      cwd: path,
      env: {
        DATABASE_URL: cluster.url,
        ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64'),
        ENROLMENT_ERASURES: join(path, 'erasures'),
        // The receivers are on this machine, which production refuses unless its operator says otherwise.
        ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
      },
    }
    await runJson(['migrate', '--cells', '2'], place)
    const services = [await startProcess(['serve', '--port', '0'], place)]
    services.push(await startProcess(['serve', '--port', '0'], place))
    await runJson(['catalogue', 'publish', demoCatalogueFile], place)
    // The third shares its cell with the first, who leaves it.
    const tenants = [
      await startTenant(services, place),
      await startTenant(services, place),
      await startTenant(services, place),
    ] as const
    const [{ created: mover }] = tenants

    const whileAssigned = await during(tenants, async () => {
      await runJson(['migrate', '--cells', '3'], place)
      await runJson(['cell', 'assign', mover.partnerid, 'cell_3'], place)
    })
    expect(whileAssigned).toEqual([expect.any(Number), 0, 0])
    expect(whileAssigned[0]).toBeGreaterThan(0)
    const [, ...whileKilled] = await during(tenants, async () => {
      for (let round = 0; round < kills; round += 1)
        await killMove(mover.partnerid, round, { cluster, place })
    })
    expect(whileKilled).toEqual([0, 0])

    expect(new Set((await nodesOf(place)).values())).toEqual(new Set([first]))
    await during(tenants, () =>
      onNode(
        cluster.url,
        `select citus_add_node(${addedNode})`,
        'select citus_rebalance_start()',
        'select citus_rebalance_wait()',
      ),
    )
    const rebalanced = await nodesOf(place)
    expect(new Set(rebalanced.values())).toEqual(new Set([first, added]))

    const database = openDatabase({ url: cluster.url }, { max: 2, ...patientDatabase })
    onTestFinished(database.close)
    const target = rebalanced.get('cell_3') === first ? added : first
    const [host, port] = (target ?? '').split(':')
    await during(tenants, () =>
      onNode(cluster.url, `select citus_schema_move('cell_3', '${host}', ${port}, 'force_logical')`),
    )
    expect(await runJson(['cell', 'list'], place)).toMatchObject({
      cells: [{}, {}, { cell: 'cell_3', node: target, partners: 1 }],
    })

    await Promise.all(tenants.map(({ stop }) => stop()))
    expect(new Set(refusals)).toEqual(new Set(['503, Retry-After: true']))
    await database.learnCells()
    const logs = services.map(one => one.stdout() + one.stderr()).join('')
    for (const { created, receiver, journal: writers, beside } of tenants) {
      const journal = { entries: [...writers.entries, ...beside.entries], wrong: writers.wrong }
      await checkLedger({ journal, receiver, database, partnerId: created.partnerid, logs })
    }
    for (const cell of database.cells().filter(({ cell }) => cell !== 'cell_3'))
      for (const rows of await Promise.all([
        cell.query(sql`select 1 from users where partner_id = ${mover.partnerid}`),
        cell.query(sql`select 1 from events where partner_id = ${mover.partnerid}`),
        cell.query(sql`select 1 from delivery_attempts where partner_id = ${mover.partnerid}`),
      ]))
        expect(rows, 'left behind').toEqual([])
  },
)
