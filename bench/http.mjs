// How many requests the service answers in a second over HTTP, and how much processor time of the service and of
// PostgreSQL each one costs, beside a yardstick. Ratios are valid within one run on one machine: rounds of service
// and yardstick alternate, and the median of each figure is printed.
//   bare      a node:http server that reads the same request and answers the same bytes
//   pgbench   the same rows written by one statement a user, each in a transaction of its own, at its best
//             concurrency
// Runs `serve` as built, on an embedded PostgreSQL of its own with fsync on; its log goes into a file.
//   npm run bench -- [--quick] [--only GROUP,GROUP] [--seconds 2] [--rounds 3] [--connections 64] [--users 1000000]
//     [--scenario TEXT] [--warm-up REQUESTS] [--soak SECONDS] [--profile DIR]
// `--scenario` selects the scenarios of the group `requests` whose name contains a text. Groups: requests
// connections users partners processes memory
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { person } from './generator.mjs'
import { lookAtBare, lookAtService, lookAtStatement, middle } from './http/measure.mjs'
import { options } from './http/options.mjs'
import { runner } from './http/pgbench.mjs'
import { residentMegabytes } from './http/processor-time.mjs'
import { copyToPartners, copyUser, findUser, insertScript } from './http/rows.mjs'
import { crowd, scenariosIn } from './http/scenarios.mjs'
import { startBare, startStand } from './http/stand.mjs'
import { print, ratio, row, time, whole } from './http/table.mjs'

const { quick } = options
const seconds = Number(options.seconds ?? (quick ? 1 : 2))
const rounds = Number(options.rounds ?? (quick ? 1 : 3))
const connections = Number(options.connections)
const manyUsers = Number(options.users ?? (quick ? 20_000 : 1_000_000))
// V8 goes on compiling hot code for the first 100,000 requests of a kind, some ten seconds of full load: a read costs twice
// as much processor time among the first ten thousand, which include the compiler's own.
const warmUp = Number(options['warm-up'] ?? (quick ? 3000 : 100_000))
const warmed = new Set()
const manyPartners = quick ? 50 : 1000
const groups = (options.only ?? 'requests,connections,users,partners,processes,memory').split(',')

const stand = await startStand({ profile: options.profile })
const bares = []
/** Stops everything that was started. */
async function closeAll() {
  for (const bare of bares) await bare.close()
  await stand.close()
}
async function bareFor(bytes) {
  const bare = await startBare(bytes)
  bares.push(bare)
  return bare
}

async function main() {
  await sleep(quick ? 500 : 3000)
  const atRest = residentMegabytes(stand.servicePids()[0])
  const partner = await stand.newPartner('bench')
  const scene = await prepare(partner)
  if (groups.includes('requests')) await tellRequests(scene)
  if (groups.includes('connections')) await tellConnections(scene)
  if (groups.includes('partners')) await tellPartners(scene)
  if (groups.includes('processes')) await tellProcesses(scene)
  if (groups.includes('users')) await tellUsers(scene)
  if (groups.includes('memory')) await tellMemory(scene, atRest)
}

function call(...asked) {
  return stand.call(...asked)
}

/**
 * Creates users of each kind, records the answers about them, and starts the bare servers that give the same
 * answers.
 */
async function prepare(partner) {
  const sample = async (prefix, count, userid) =>
    copyUser(stand.admin, await findUser(stand.admin, partner.partnerid, userid), { prefix, count })
  const asked = { age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' }
  await call(partner, '/user/prefill', { userid: 'prefilled', ...person })
  await call(partner, '/user/account/create', {
    userid: 'holder',
    ...person,
    offername: 'starter',
    benefits: ['telehealth'],
  })
  const picks = ['telehealth', 'identity', 'dental']
  await call(partner, '/user/account/create', {
    userid: 'swapping',
    ...person,
    offername: 'plus',
    benefits: picks,
  })
  await call(partner, '/user/benefits/swap', { userid: 'swapping', add: ['vision'], remove: ['dental'] })
  const listed = {}
  for (const userid of ['prefilled', 'holder', 'swapping'])
    listed[userid] = await call(partner, '/user/benefits', { userid, ...asked })
  await sample('prefilled', 500, 'prefilled')
  await sample('holder', 500, 'holder')
  await sample('once', crowd, 'holder')
  await sample('swapping', 500, 'swapping')
  await stand.admin.query('analyze')
  const created = await call(partner, '/user/account/get', { userid: 'holder' })
  return {
    partner,
    partners: [partner],
    bare: {
      saved: await bareFor(Buffer.from('"prefill saved"')),
      prefilled: await bareFor(listed.prefilled),
      holder: await bareFor(listed.holder),
      swapping: await bareFor(listed.swapping),
      created: await bareFor(created),
      token: await bareFor(Buffer.alloc(180, 'x')),
    },
  }
}

/** Has the service and the bare server answer so many requests of a scenario that what follows runs compiled code. */
async function warm({ job, bare, expected }, processes = 1) {
  const { kind, prefix } = job()
  const name = [kind, prefix, processes].join(' ')
  if (warmed.has(name)) return
  warmed.add(name)
  // The load generator ends after a minute, whatever is left.
  await lookAtService(
    stand,
    { ...job(), seconds: 0.5, requests: warmUp * processes },
    { expected, processes },
  )
  await lookAtBare(bare, { ...job(), seconds: 0.5, requests: warmUp })
}

/** Measures a scenario and its yardstick by turns, after a round of each to warm up. */
async function compare(scenario, more = {}, times = rounds) {
  const { job, bare, expected } = scenario
  const seen = []
  const beside = []
  await warm(scenario)
  await lookAtService(stand, { ...job(), ...more, seconds: 0.5 }, { expected })
  await lookAtBare(bare, { ...job(), ...more, seconds: 0.5 })
  for (let round = 0; round < times; round += 1) {
    seen.push(await lookAtService(stand, { ...job(), ...more }, { expected }))
    beside.push(await lookAtBare(bare, { ...job(), ...more }))
  }
  return { service: middle(seen), bare: middle(beside) }
}

/** The statement that writes the rows of one prefill, as text and as a file. */
async function prefillStatement(scene) {
  const { partnerid: partnerId } = scene.partner
  await call(scene.partner, '/user/prefill', { userid: 'rows', ...person })
  const { rows } = await stand.admin.query(
    `select k.service_id from idempotency_keys k join users u using (partner_id, service_id)
     where k.partner_id = $1 and k.operation = 'prefillUser' and u.status = 'prefilled' order by k.created_at desc limit 1`,
    [partnerId],
  )
  const user = rows[0]
    ? { partnerId, serviceId: rows[0].service_id }
    : await findUser(stand.admin, partnerId, 'rows')
  const text = await insertScript(stand.admin, user)
  const file = join(stand.scratch, 'prefill.sql')
  writeFileSync(file, text)
  return { text, file }
}

/** The number of clients with which PostgreSQL runs the statement most often in a second. */
async function bestClients(statement) {
  let best = { perSecond: 0 }
  for (const clients of quick ? [32] : [8, 16, 32, 64]) {
    const { perSecond } = await lookAtStatement(stand, statement, { clients, seconds: quick ? 1 : 2 })
    if (perSecond > best.perSecond) best = { clients, perSecond }
  }
  return best.clients
}

async function tellRequests(scene) {
  const scenarios = scenariosIn(scene, { connections, seconds })
  await lookAtService(stand, {
    ...scenarios['prefill, new keys'].job(),
    name: 'spent',
    seconds: 0,
    requests: 600,
  })
  row(
    `${connections} connections`,
    'req/s',
    'Node µs',
    'PG µs',
    'bare/s',
    'bare µs',
    '/ bare',
    'Node ×',
    'PG ×',
    'p50 ms',
    'p99 ms',
  )
  let written
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (!name.includes(options.scenario)) continue
    const { service, bare } = await compare(scenario)
    row(
      name,
      whole(service.perSecond),
      whole(service.node),
      whole(service.database),
      whole(bare.perSecond),
      whole(bare.node),
      ratio(service.perSecond / bare.perSecond),
      ratio(service.node / bare.node),
      ratio(service.database / bare.node),
      time(service.p50),
      time(service.p99),
    )
    if (!scenario.rows) continue
    written = { scenario, service }
  }
  print(
    'aims: benefits / bare 0.4 (each user once 0.3) and Node × 2.5; prefill Node × 6 and PG × 3; prefill / rows 1.5',
  )
  if (!written) return
  const statement = await prefillStatement(scene)
  const clients = await bestClients(statement)
  const seen = []
  const beside = []
  for (let round = 0; round < rounds; round += 1) {
    await stand.admin.query('checkpoint')
    seen.push(await lookAtService(stand, written.scenario.job()))
    await stand.admin.query('checkpoint')
    beside.push(await lookAtStatement(stand, statement, { clients, seconds }))
  }
  const [service, rows] = [middle(seen), middle(beside)]
  print('')
  row(`the same rows by ${runner}`, 'req/s', 'PG µs', 'rows/s', 'rows PG µs', '/ rows')
  row(
    `prefill, ${clients} clients`,
    whole(service.perSecond),
    whole(service.database),
    whole(rows.perSecond),
    whole(rows.database),
    ratio(service.perSecond / rows.perSecond),
  )
}

async function tellConnections(scene) {
  const scenarios = scenariosIn(scene, { connections, seconds })
  print('')
  row(
    'by connections',
    'req/s',
    '/ bare',
    'Node µs',
    'PG µs',
    'p50 ms',
    'p99 ms',
    'bare p50',
    'bare p99',
    'p50 ×',
  )
  for (const name of ['prefill, new keys', 'benefits, same users']) {
    for (const count of [1, 16, 64, 256]) {
      const { service, bare } = await compare(scenarios[name], { connections: count }, Math.min(rounds, 3))
      const alone = count === 1 ? await alonePart(scene, name) : Number.NaN
      row(
        `${name}, ${count}`,
        whole(service.perSecond),
        ratio(service.perSecond / bare.perSecond),
        whole(service.node),
        whole(service.database),
        time(service.p50),
        time(service.p99),
        time(bare.p50),
        time(bare.p99),
        ratio(service.p50 / (alone + bare.p50)),
      )
    }
  }
  print('aim: p50 × 1.5 at one connection')
  print('p50 × : over the sum of the database’s statement alone and a bare answer')
}

/** How many milliseconds the database needs for one request's statement alone. */
async function alonePart(scene, name) {
  if (name.startsWith('prefill')) {
    const statement = await prefillStatement(scene)
    return (await lookAtStatement(stand, statement, { clients: 1, seconds })).p50
  }
  const text = `select version from users where partner_id = '${scene.partner.partnerid}' and userid = 'holder' and is_current;\n`
  const file = join(stand.scratch, 'version.sql')
  writeFileSync(file, text)
  return (await lookAtStatement(stand, { text, file }, { clients: 1, seconds })).p50
}

const hotNames = ['prefill, new keys', 'benefits, same users', 'benefits, each user once']

/** The service remembers for some seconds who kept it busy, and would refuse that partner while others ask. */
function forgotten() {
  return sleep(quick ? 500 : 8000)
}

/** Headings of the processor time of a request in the first and in the second. */
const timesTold = ['Node µs', 'Node µs', 'PG µs', 'PG µs']

function tellTwo(name, a, b) {
  const times = [a.node, b.node, a.database, b.database].map(whole)
  row(name, whole(a.perSecond), whole(b.perSecond), ratio(b.perSecond / a.perSecond), '', ...times)
}

async function tellPartners(scene) {
  const partners = await stand.newPartners(manyPartners)
  const sample = await findUser(stand.admin, scene.partner.partnerid, 'holder')
  await copyToPartners(stand.admin, sample, partners)
  const one = scenariosIn(scene, { connections, seconds })
  print('')
  row(`${manyPartners} partners over one`, '1', String(manyPartners), 'ratio', 'aim 0.80', ...timesTold)
  for (const name of ['prefill, new keys', 'benefits, same users']) {
    await warm(one[name])
    const few = []
    const many = []
    for (let round = 0; round <= rounds; round += 1) {
      few.push(await lookAtService(stand, one[name].job()))
      await forgotten()
      // Each partner has one user of this name.
      many.push(await lookAtService(stand, { ...one[name].job(), partners, prefix: 'shared', users: 1 }))
      await forgotten()
    }
    tellTwo(name, middle(few.slice(1)), middle(many.slice(1)))
  }
}

async function tellProcesses(scene) {
  await stand.startAnother()
  const scenarios = scenariosIn(scene, { connections, seconds })
  print('')
  row('two processes over one', '1', '2', 'ratio', 'aim 1.00', ...timesTold)
  for (const name of hotNames.slice(0, 2)) {
    await warm(scenarios[name], 2)
    const single = []
    const double = []
    for (let round = 0; round <= rounds; round += 1) {
      single.push(await lookAtService(stand, scenarios[name].job(), { processes: 1 }))
      double.push(await lookAtService(stand, scenarios[name].job(), { processes: 2 }))
    }
    tellTwo(name, middle(single.slice(1)), middle(double.slice(1)))
  }
}

async function tellUsers(scene) {
  const scenarios = scenariosIn(scene, { connections, seconds })
  const few = {}
  for (const name of hotNames) few[name] = await compare(scenarios[name])
  const startedAt = performance.now()
  const prefilled = await findUser(stand.admin, scene.partner.partnerid, 'prefilled')
  const step = 50_000
  for (let from = 0; from < manyUsers; from += step)
    await copyUser(stand.admin, prefilled, { prefix: 'crowd', from, count: Math.min(step, manyUsers - from) })
  await stand.admin.query('vacuum analyze')
  await stand.admin.query('checkpoint')
  print('')
  const took = `${((performance.now() - startedAt) / 1000).toFixed(0)} s to make them`
  row(`${whole(manyUsers)} more users (${took})`, 'before', 'after', 'ratio', 'aim 0.85')
  for (const name of hotNames) {
    const many = await compare(scenarios[name])
    // Divided by the bare server's rate of the same minute, to cancel out whatever else the machine does.
    const share = ({ service, bare }) => service.perSecond / bare.perSecond
    row(name, ratio(share(few[name])), ratio(share(many)), ratio(share(many) / share(few[name])))
  }
}

async function tellMemory(scene, atRest) {
  const scenarios = scenariosIn(scene, { connections, seconds })
  print('')
  row('start', `${whole(stand.startMs)} ms`, '   aim 2,000 ms')
  row('at rest', `${whole(atRest)} MB`, '   aim 130 MB')
  const soak = Math.max(Number(options.soak), quick ? 2 : 20)
  const sizes = []
  const endsAt = performance.now() + soak * 1000
  while (performance.now() < endsAt) {
    const { memory } = await lookAtService(stand, {
      ...scenarios['mix 60/30/10'].job(),
      seconds: Math.min(10, soak),
    })
    sizes.push(memory)
  }
  const last = sizes.slice(-Math.ceil(sizes.length / 2))
  row(
    `under a mix for ${whole(soak)} s`,
    `${whole(Math.max(...sizes))} MB`,
    `   last half ${whole(Math.min(...last))}–${whole(Math.max(...last))} MB, aim 300 MB`,
  )
}

// Ctrl-C stops the started processes too.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await closeAll()
    process.exit(130)
  })
}

try {
  await main()
} finally {
  await closeAll()
}
