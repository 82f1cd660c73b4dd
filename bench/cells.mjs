// What a request costs on a Citus cluster beside one PostgreSQL: the processor time of Node and of all PostgreSQL processes, those of all
// nodes together, and the coordinator's part of it. Both databases are empty at first, and on this machine; each has a service of its
// own, and only one of the two is under load at a time. Rounds alternate, and the median of each figure is printed beside its aim.
//   npm run bench:cells -- --plain URL --cluster COORDINATOR_URL [--cells 16] [--seconds 2] [--rounds 3] [--scenario TEXT]
//     [--quick] [--profile DIR]
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { person } from './generator.mjs'
import { atMost } from './http/aims.mjs'
import { byTurns, measureScenario, warm } from './http/compare.mjs'
import { options, seconds } from './http/options.mjs'
import { processorSeconds } from './http/processor-time.mjs'
import { freshName } from './http/scenarios.mjs'
import { built, makePartners } from './http/stand.mjs'
import { print, ratio, row, whole } from './http/table.mjs'
import { headersOf, startServed } from './served.mjs'

const MANY_PARTNERS = 20

/** The loads: how many partners, how many callers of each, and how many times the cost on one PostgreSQL is the aim. */
const loads = [
  { name: 'prefill, 20 partners × 64', partners: MANY_PARTNERS, callers: 64, kind: 'prefill', aim: 3 },
  { name: 'prefill, 2 partners × 16', partners: 2, callers: 16, kind: 'prefill', aim: 3 },
  { name: 'prefill, one caller', partners: 1, callers: 1, kind: 'prefill', aim: 3 },
  { name: 'benefits, 20 partners × 64', partners: MANY_PARTNERS, callers: 64, kind: 'benefits' },
]

/** The process of a server on this machine from which all of its others descend. */
async function postmasterOf(connectionString) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const [, parent] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${rows[0].pid}/status`, 'utf8')) ?? []
  await client.end()
  return Number(parent)
}

/** The addresses of a cluster's nodes, the coordinator first; of one PostgreSQL its own. */
async function nodesOf(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query("select 1 from pg_extension where extname = 'citus'")
  const found =
    rows.length > 0
      ? await client.query('select nodename, nodeport from pg_dist_node order by groupid')
      : undefined
  await client.end()
  if (!found) return [url]
  return found.rows.map(({ nodename, nodeport }) =>
    Object.assign(new URL(url), { host: `${nodename}:${nodeport}` }).toString(),
  )
}

async function migrate(url) {
  const { openDatabase } = await built('db/database.js')
  const { migrate: make } = await built('db/migrate.js')
  const database = openDatabase({ url }, { max: 1, onError: () => {}, statementTimeoutMs: 60_000 })
  await make(database, { cells: Number(options.cells) })
  await database.close()
}

/** Starts a service on an empty database, with partners of whom each has one user with a plan. */
async function startSide(name, url) {
  await migrate(url)
  const rootKey = randomBytes(32).toString('base64')
  const served = await startServed(`cells-${name}`, {
    env: { DATABASE_URL: url, ENROLMENT_ROOT_KEY: rootKey },
    profile: options.profile && join(options.profile, name),
  })
  const { address, services, close } = served
  served.publishDemo()
  const partners = await makePartners(MANY_PARTNERS, { address, database: { url }, keys: { rootKey } })
  const body = JSON.stringify({
    userid: 'holder-0',
    ...person,
    offername: 'starter',
    benefits: ['telehealth'],
  })
  for (const partner of partners) {
    const asked = { method: 'POST', headers: headersOf(partner), body }
    const { status } = await fetch(`${address}/user/account/create`, asked)
    if (status !== 200) throw new Error(`create: ${status}`)
  }
  const postmasterPids = await Promise.all((await nodesOf(url)).map(postmasterOf))
  return {
    partners,
    services,
    postmasterPids,
    servicePids: () => services.map(({ child }) => child.pid),
    close,
  }
}

function scenarioOf({ partners: all }, { partners, callers, kind }) {
  const job = { partners: all.slice(0, partners), connections: partners * callers, seconds, kind }
  return { job: () => ({ ...job, name: freshName(), prefix: 'holder', users: 1 }) }
}

/** Measures a load, with the first server's part of the processor time. */
async function look(side, scenario) {
  const [first] = side.postmasterPids
  const before = processorSeconds([first])
  const seen = await measureScenario(side, scenario)
  return { ...seen, first: ((processorSeconds([first]) - before) * 1e6) / seen.requests }
}

async function printLoad([plain, cluster], load) {
  const sides = [plain, cluster].map(side => ({ side, scenario: scenarioOf(side, load) }))
  for (const { side, scenario } of sides) await warm(side, scenario)
  const [one, many] = await byTurns(
    ...sides.map(
      ({ side, scenario }) =>
        () =>
          look(side, scenario),
    ),
  )
  const cost = many.node + many.database
  const times = cost / (one.node + one.database)
  const share = many.first / cost
  const figures = [one.node, one.database, many.node, many.database].map(whole)
  row(load.name, ...figures, ratio(times), ratio(share), ratio(one.p50), ratio(many.p50))
  if (load.aim) print(`    aim: ${atMost('cost', times, load.aim)}`)
}

const started = []
async function closeAll() {
  for (const one of started.splice(0).toReversed()) await one.close()
}
process.once('SIGINT', () => closeAll().then(() => process.exit(130)))

try {
  if (!options.plain || !options.cluster) throw new Error('--plain and --cluster name two empty databases')
  for (const [name, url] of [
    ['plain', options.plain],
    ['cluster', options.cluster],
  ])
    started.push(await startSide(name, url))
  row('µs a request', 'Node', 'PG', 'Node', 'all PG', '/ plain', 'coord.', 'p50 ms', 'its p50')
  for (const load of loads) if (load.name.includes(options.scenario)) await printLoad(started, load)
} finally {
  await closeAll()
}
