// @databases citus

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { callersChanged } from '../../service/src/partners/store.ts'
import { codeOf } from '../command/place.ts'
import { root, runJson, runKilledWhen, type ServiceProcess, startKeptProcess } from '../command/process.ts'
import { type ConsoleSession, signedIn } from '../command/signed-in.ts'
import { freePort } from '../free-port.ts'
import { ada, adaAsks } from '../rig.ts'
import { checkFiles } from '../trust/canaries.ts'
import { enrolOnPage } from '../trust/enrol-on-page.ts'
import type { Journal } from '../trust/journal.ts'
import { type Bench, openBench, type Tenant } from './bench.ts'
import { canRunCluster, type OwnCluster, startOwnCluster } from './own-cluster.ts'

// Only catches a hang: three servers and two services, on a machine that may be busy.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

/** Runs when the tests run on a cluster, but kills the nodes of a cluster of its own. */
const canRun = canRunCluster && inject('testServer').kind === 'cluster'

/** A partner, and the worker that stores it. */
type Placed = Tenant & { readonly worker: number; readonly cell: string }

let cluster: OwnCluster
let bench: Bench
let readConsole: ConsoleSession
let tenants: Placed[] = []
const endings: (() => unknown)[] = []

beforeAll(async () => {
  if (!canRun) return
  cluster = await startOwnCluster()
  endings.push(cluster.stop)
  bench = await openBench({
    on: { url: cluster.url },
    migrate: place => runJson(['migrate', '--cells', '2'], place),
  })
  endings.push(bench.close)
  const { place, database } = bench
  await database.learnCells()
  for (const process of [0, 1])
    await bench.start({ process, env: { ENROLMENT_FEEDS: join(place.cwd, 'feeds') } })
  await runJson(['feed', 'publish', join(root, 'service/assets/demo-feeds.yaml')], place)
  const console = await startKeptProcess(['console', '--port', '0'], place)
  endings.push(() => console.stop('SIGKILL'))
  readConsole = await signedIn(place, 'Grace', 'viewer')
  for (const worker of cluster.workers) tenants.push(await newTenantOn(worker))
  // The last has the first cell, where what is recorded of no partner is.
  tenants.sort((a, b) => b.cell.localeCompare(a.cell))
  for (const tenant of tenants) await prefill(clientsOf(tenant)[0] as Client, tenant, 'known')
})
afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end()
  tenants = []
})

/** New partners go to one cell after the other, so new ones are created until one is on the worker. */
async function newTenantOn(worker: number): Promise<Placed> {
  for (;;) {
    const tenant = await bench.newTenant()
    const { partnerid } = tenant.partner
    const [node] = await bench.database.query<{ port: number; cell: string }>(sql`
      select s.nodeport as port, p.cell from partners p join citus_shards s on s.table_name = to_regclass(p.cell || '.users')
      where p.partner_id = ${partnerid}`)
    if (node?.port !== worker) continue
    const now = new Date()
    // In the middle of a month, because at its end changes for that end are refused.
    await setClock(tenant, Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 10))
    return { ...tenant, worker, cell: node.cell }
  }
}

/** Longer than any promised limit, and for those whom a fault must not concern shorter than the first answer of a node that hangs. */
const LIMIT_MS = 15_000
const UNHARMED_MS = 5000

function clientsOf({ clientOf }: Tenant, at = bench.processes, timeoutMs = LIMIT_MS): Client[] {
  const limits = { timeoutMs, deadlineMs: timeoutMs }
  return at.map(({ address }) => clientOf(Number(new URL(address).port), {}, limits))
}

/** What writers were refused. */
function refusalsOf({ entries }: Journal): readonly string[] {
  return entries.flatMap(({ failures = [] }) => failures)
}

function prefill(client: Client, { own }: Tenant, userid: string): Promise<unknown> {
  return own.write(userid, 'prefill', () =>
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

/** Everything of a partner continues in these processes: requests, webhooks, the page, and what falls due. */
async function expectUnharmed(tenant: Tenant, at: readonly ServiceProcess[], name: string): Promise<void> {
  for (const client of clientsOf(tenant, at, UNHARMED_MS))
    for (const [what, ask] of Object.entries(asked))
      expect([what, await codeOf(ask(client, tenant))]).toEqual([what, ''])
  for (const service of at) {
    const [client] = clientsOf(tenant, [service]) as [Client]
    expect(
      await enrolOnPage(tenant.own, { client, service: service.address }, `${name}-${service.pid}`),
    ).toBe(true)
  }
  const { serviceid } = await (clientsOf(tenant, at)[0] as Client).getUser({ userid: 'known' })
  // The first page after a node has fallen silent may still wait for it.
  await expect
    .poll(async () => (await readConsole(`/users/${serviceid}`)).status, { message: 'the console' })
    .toBe(200)
  const newest = await newestEvent(tenant)
  await expect.poll(() => tenant.receiver.arrived.has(newest), { message: 'webhooks' }).toBe(true)
  await expect.poll(() => isDelivered(tenant, newest), { message: 'results of webhooks' }).toBe(true)
}

/** Tries again while the coordinator still has connections to a node that was away. */
function setClock({ partner: { partnerid } }: Tenant, at: number): Promise<unknown> {
  const { database } = bench
  return vi.waitFor(
    async () => {
      await database.query(sql`
        update partners set clock_offset_ms = ${at - Date.now()} where partner_id = ${partnerid}`)
      await database.query(callersChanged(partnerid))
    },
    { timeout: 60_000 },
  )
}

/** Members who leave at the end of the partner's month, which its clock reaches in two seconds. */
async function letLeave(tenant: Tenant, name: string): Promise<readonly string[]> {
  const { own, partner } = tenant
  const [client] = clientsOf(tenant) as [Client]
  const users = [0, 1, 2].map(count => `${name}-${count}`)
  for (const userid of users) {
    await own.write(userid, 'create', () => client.createUser({ userid, ...ada, offername: 'starter' }))
    await own.write(userid, 'cancel', () => client.cancelUser({ userid }))
    own.note(userid, 'due cancel')
  }
  const [next] = await bench.database.query<{ due: number }>(sql`
    select min(due_at) as due from users where partner_id = ${partner.partnerid} and userid = any (${users}::text[])`)
  await setClock(tenant, (next?.due ?? 0) - 2000)
  return users
}

function left({ partner }: Tenant, users: readonly string[]): Promise<unknown[]> {
  return bench.database.query(sql`
    select 1 from users where partner_id = ${partner.partnerid} and userid = any (${users}::text[]) and status = 'cancelled'`)
}

/**
 * Whatever a partner asks whose cell is away, the answer is a 503 within the limit that says when to ask again. It is all
 * asked at once: a node that hangs makes each answer wait for as long as a statement may take.
 */
async function expectRefused(tenant: Tenant): Promise<void> {
  const answers = clientsOf(tenant).flatMap(client =>
    Object.entries(asked).map(async ([name, ask]) => [
      name,
      await ask(client, tenant).catch((error: unknown) => error),
    ]),
  )
  for (const [name, refused] of await Promise.all(answers))
    expect([name, refused]).toEqual([
      name,
      expect.objectContaining({ code: 'unavailable', retryAfterMs: expect.any(Number) }),
    ])
}

type Fault = 'hang' | 'kill'

/** Each node that is lost, how, and which tenant it has. The first worker has what is recorded of no partner, too. */
const losses: readonly { which: string; faults: readonly Fault[]; of: number }[] = [
  { which: 'the first worker hangs', faults: ['hang'], of: 1 },
  { which: 'a worker is killed', faults: ['kill'], of: 0 },
]

describe.runIf(canRun)('under writes, webhooks, the page and due changes', () => {
  test.each(losses)(
    '$which and comes back: 503 for its own partners, nobody else notices, and all books agree',
    async ({ faults, of }) => {
      const harmed = tenants[of] as Placed
      const node = harmed.worker
      const unharmed = tenants.filter(tenant => tenant !== harmed)
      const leaving = new Map<Placed, readonly string[]>()
      for (const tenant of tenants) leaving.set(tenant, await letLeave(tenant, `leaves-${node}`))
      const journals = tenants.map(tenant =>
        tenant.openJournal({
          clients: clientsOf(tenant, bench.processes, tenant === harmed ? LIMIT_MS : UNHARMED_MS),
          ...{ writers: 4, name: `writer-${node}` },
        }),
      )
      await Promise.all(tenants.map(tenant => tenant.more(10)))
      const { serviceid } = await (clientsOf(harmed)[0] as Client).getUser({ userid: 'known' })
      for (const fault of faults) {
        cluster[fault](node)
        await Promise.all(unharmed.map(tenant => tenant.more(20)))
        await expectRefused(harmed)
        expect((await readConsole(`/users/${serviceid}`)).status).toBe(503)
        // A process that starts now serves the others, too.
        const late = await startKeptProcess(['serve', '--port', `${await freePort()}`], bench.place)
        for (const tenant of unharmed) {
          await expectUnharmed(tenant, [...bench.processes, late], `${fault}-${node}`)
          await expect
            .poll(() => left(tenant, leaving.get(tenant) ?? []), { timeout: 60_000 })
            .toHaveLength(3)
        }
        expect(await late.stop()).toBe(0)
      }
      if (faults.at(-1) === 'hang') cluster.kill(node)
      cluster.revive(node)
      await Promise.all(tenants.map(tenant => tenant.more(20)))
      await Promise.all(journals.map(journal => journal.stop()))
      for (const [index, tenant] of tenants.entries()) {
        if (tenant !== harmed) expect(refusalsOf(journals[index] as Journal)).toEqual([])
        await expect.poll(() => left(tenant, leaving.get(tenant) ?? []), { timeout: 60_000 }).toHaveLength(3)
        await tenant.check()
      }
    },
  )

  test('a partner whose move was killed is put right by the command itself: in its former cell, or in the other', async () => {
    const [tenant] = tenants as [Placed]
    const { place, database } = bench
    const id = tenant.partner.partnerid
    const cellOf = async () =>
      (await database.query<{ cell: string }>(sql`select cell from partners where partner_id = ${id}`))[0]
        ?.cell
    const former = (await cellOf()) ?? ''
    await runJson(['migrate', '--cells', '3'], place)
    for (const cell of [former, 'cell_3']) {
      let now: string | undefined = former
      const watching = setInterval(async () => {
        now = await cellOf()
      }, 50)
      expect(await runKilledWhen(['cell', 'assign', id, 'cell_3'], place, () => now === '')).toBe(true)
      clearInterval(watching)
      expect(await runJson(['cell', 'list'], place)).toMatchObject({ without: [id] })
      const moved = await runJson<{ rows: number }>(['cell', 'assign', id, cell], place)
      expect({ ...moved, rows: moved.rows > 0 }).toMatchObject({
        cell,
        rows: cell !== former,
        repaired: true,
      })
    }
    expect(await cellOf()).toBe('cell_3')
    await expect.poll(() => codeOf((clientsOf(tenant)[0] as Client).getUser({ userid: 'known' }))).toBe('')
    await cluster.checkpoint()
    await checkFiles(cluster.directory, cluster.nodes)
  })
})

/** Whether the result of the attempt at an event has been written. */
async function isDelivered({ partner }: Tenant, eventId: string): Promise<boolean> {
  const [row] = await bench.database.query<{ waiting: number; attempts: number }>(sql`
    select (select count(*) from deliveries where partner_id = ${partner.partnerid} and event_id = ${eventId}) as waiting,
      (select count(*) from delivery_attempts where partner_id = ${partner.partnerid} and event_id = ${eventId}) as attempts`)
  return row !== undefined && row.waiting === 0 && row.attempts > 0
}

async function newestEvent({ partner }: Tenant): Promise<string> {
  const [row] = await bench.database.query<{ event_id: string }>(sql`
    select event_id from events where partner_id = ${partner.partnerid} order by position desc limit 1`)
  return row?.event_id ?? ''
}
