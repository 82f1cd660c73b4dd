// @databases citus
// @nightly

import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { onNode } from '../cluster.ts'
import { type Place, runJson, runKilledWhen } from '../command/process.ts'
import { timesOf } from '../long.ts'
import { ada, adaAsks } from '../rig.ts'
import { type Bench, openBench, type Tenant } from './bench.ts'
import { canRunCluster, startOwnCluster } from './own-cluster.ts'

const canRun = canRunCluster && inject('testServer').kind === 'cluster'

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

/** Has writers and readers ask both services for a partner; returns what ends them. */
async function startWork({ clientOf, own, openJournal }: Tenant, ports: readonly number[]) {
  const clients = ports.map(port => clientOf(port, {}, { fetch: noting }))
  await own.write('known', 'prefill', async () => clients[0]?.prefillUser({ userid: 'known', ...ada }))
  const journal = openJournal({ clients, writers: 2, name: 'writer' })
  const endings = [journal.stop, ...clients.map(startReading)]
  return () => Promise.all(endings.map(end => end()))
}

function refusedOf({ entries }: Tenant): number {
  return entries().reduce((sum, { failures = [] }) => sum + failures.length, 0)
}

/** Does something while all partners write, until each has written more; returns how often each was refused. */
async function during(tenants: readonly Tenant[], work: () => Promise<unknown>): Promise<number[]> {
  const before = tenants.map(refusedOf)
  await work()
  await Promise.all(tenants.map(tenant => tenant.more(20)))
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
async function killMove(partnerId: string, round: number, { database, place }: Bench): Promise<void> {
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
    const bench = await openBench({
      on: { url: cluster.url },
      migrate: place => runJson(['migrate', '--cells', '2'], place),
    })
    onTestFinished(bench.close)
    const { place, ports, database } = bench
    for (const process of [0, 1]) await bench.start({ process })
    // The third shares its cell with the first, who leaves it.
    const tenants = [bench, await bench.newTenant(), await bench.newTenant()]
    const mover = bench.partner
    const ends = await Promise.all(tenants.map(tenant => startWork(tenant, ports)))

    const whileAssigned = await during(tenants, async () => {
      await runJson(['migrate', '--cells', '3'], place)
      await runJson(['cell', 'assign', mover.partnerid, 'cell_3'], place)
    })
    expect(whileAssigned).toEqual([expect.any(Number), 0, 0])
    expect(whileAssigned[0]).toBeGreaterThan(0)
    const [, ...whileKilled] = await during(tenants, async () => {
      for (let round = 0; round < kills; round += 1) await killMove(mover.partnerid, round, bench)
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

    const target = rebalanced.get('cell_3') === first ? added : first
    const [host, port] = (target ?? '').split(':')
    await during(tenants, () =>
      onNode(cluster.url, `select citus_schema_move('cell_3', '${host}', ${port}, 'force_logical')`),
    )
    expect(await runJson(['cell', 'list'], place)).toMatchObject({
      cells: [{}, {}, { cell: 'cell_3', node: target, partners: 1 }],
    })

    await Promise.all(ends.map(end => end()))
    expect(new Set(refusals)).toEqual(new Set(['503, Retry-After: true']))
    await database.learnCells()
    for (const tenant of tenants) await tenant.check()
    for (const cell of database.cells().filter(({ cell }) => cell !== 'cell_3'))
      for (const rows of await Promise.all([
        cell.query(sql`select 1 from users where partner_id = ${mover.partnerid}`),
        cell.query(sql`select 1 from events where partner_id = ${mover.partnerid}`),
        cell.query(sql`select 1 from delivery_attempts where partner_id = ${mover.partnerid}`),
      ]))
        expect(rows, 'left behind').toEqual([])
  },
)
