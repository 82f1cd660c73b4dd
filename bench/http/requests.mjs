// The group `requests`: each scenario by numbers of connections beside the bare server, and prefill beside pgbench.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { person } from '../generator.mjs'
import { atLeast, atMost } from './aims.mjs'
import { compare } from './compare.mjs'
import { measureService, measureStatement, middle } from './measure.mjs'
import { connections, options, quick, rounds, seconds } from './options.mjs'
import { runner } from './pgbench.mjs'
import { findUser, insertScript } from './rows.mjs'
import { scenariosIn } from './scenarios.mjs'
import { print, ratio, row, time, whole } from './table.mjs'

/** How long one measurement lasts at each other number of connections: shorter, because there are three of these numbers. */
const otherSeconds = Math.min(seconds, quick ? 0.3 : 1)

function counts() {
  const others = options.also.split(',').map(Number)
  return [...new Set([...others, connections])].filter(count => count > 0).sort((a, b) => a - b)
}

/** A line with many narrow columns. */
function line(name, ...cells) {
  print(name.padEnd(26) + cells.map(cell => String(cell).padStart(9)).join(''))
}

/** Prints what a request of each scenario costs. */
export async function printRequests(scene) {
  const { stand } = scene
  const scenarios = scenariosIn(scene, { connections, seconds })
  await measureService(stand, {
    ...scenarios['prefill, new keys'].job(),
    name: 'spent',
    seconds: 0,
    requests: 600,
  })
  const service = ['req/s', 'Node µs', 'PG µs', 'p50 ms', 'p99 ms']
  const bare = ['bare/s', 'bare µs', 'its p50', 'its p99']
  line('connections', '', ...service, ...bare, '/ bare', 'Node ×', 'PG ×', 'alone ×')
  let written
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (!name.includes(options.scenario)) continue
    for (const count of counts()) await printScenario(scene, { name, scenario, count })
    if (scenario.rows) written = scenario
  }
  print('alone × : p50 at one connection over the sum of the database’s statement alone and a bare answer')
  if (written) await printRows(scene, written)
}

async function printScenario(scene, { name, scenario, count }) {
  const isMain = count === connections
  const more = isMain ? {} : { connections: count, seconds: otherSeconds }
  const { service, bare } = await compare(scene.stand, scenario, more)
  const isAlone = count === 1 && scenario.alone !== undefined
  const statement = isAlone ? await alonePart(scene, scenario.alone) : Number.NaN
  const figures = {
    rate: service.perSecond / bare.perSecond,
    node: service.node / bare.node,
    database: service.database / bare.node,
    alone: service.p50 / (statement + bare.p50),
  }
  line(
    name,
    count,
    ...[service.perSecond, service.node, service.database].map(whole),
    ...[service.p50, service.p99].map(time),
    ...[bare.perSecond, bare.node].map(whole),
    ...[bare.p50, bare.p99].map(time),
    ...Object.values(figures).map(ratio),
  )
  const aims = []
  if (isAlone) aims.push(atMost('alone ×', figures.alone, 1.5))
  const { rate, node, database } = isMain ? scenario.aims : {}
  if (rate) aims.push(atLeast('/ bare', figures.rate, ...rate))
  if (node) aims.push(atMost('Node ×', figures.node, ...node))
  if (database) aims.push(atMost('PG ×', figures.database, ...database))
  if (aims.length > 0) print(`    aims: ${aims.join(', ')}`)
}

/** How many milliseconds the database needs for one request's statement alone. */
async function alonePart({ stand, partner }, what) {
  if (what === 'rows') {
    const statement = await prefillStatement({ stand, partner })
    return (await measureStatement(stand, statement, { clients: 1, seconds })).p50
  }
  const text = `select version from users where partner_id = '${partner.partnerid}' and userid = 'holder' and is_current;\n`
  const file = join(stand.scratch, 'version.sql')
  writeFileSync(file, text)
  return (await measureStatement(stand, { text, file }, { clients: 1, seconds })).p50
}

/** The statement that writes the rows of one prefill, as text and as a file. */
async function prefillStatement({ stand, partner }) {
  const { partnerid: partnerId } = partner
  const userid = `rows-${Date.now()}`
  const key = { version: 'v2', 'idempotency-key': userid }
  await stand.call(partner, '/user/prefill', { userid, ...person }, key)
  const text = await insertScript(stand.admin, await findUser(stand.admin, partnerId, userid))
  const file = join(stand.scratch, 'prefill.sql')
  writeFileSync(file, text)
  return { text, file }
}

/** The number of clients with which PostgreSQL runs the statement most often in a second. */
async function bestClients(stand, statement) {
  let best = { perSecond: 0 }
  for (const clients of quick ? [32] : [8, 16, 32, 64]) {
    const { perSecond } = await measureStatement(stand, statement, { clients, seconds: quick ? 1 : 2 })
    if (perSecond > best.perSecond) best = { clients, perSecond }
  }
  return best.clients
}

/** Prints how prefill compares with a statement that writes the same rows. */
async function printRows({ stand, partner }, scenario) {
  const statement = await prefillStatement({ stand, partner })
  const clients = await bestClients(stand, statement)
  const seen = []
  const beside = []
  for (let round = 0; round < rounds; round += 1) {
    await stand.admin.query('checkpoint')
    seen.push(await measureService(stand, scenario.job()))
    await stand.admin.query('checkpoint')
    beside.push(await measureStatement(stand, statement, { clients, seconds }))
  }
  const [service, rows] = [middle(seen), middle(beside)]
  print('')
  row(`the same rows by ${runner}`, 'req/s', 'PG µs', 'rows/s', 'its PG µs', '/ rows')
  row(
    `prefill, ${clients} clients`,
    whole(service.perSecond),
    whole(service.database),
    whole(rows.perSecond),
    whole(rows.database),
    ratio(service.perSecond / rows.perSecond),
    `   ${atLeast('aim / rows', service.perSecond / rows.perSecond, 1.5, 2)}`,
  )
}
