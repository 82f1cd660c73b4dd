// Webhook delivery: the service beside graphile-worker, a job queue that could do the same, and beside a bare undici loop as the limit.
// All run on one machine in one run, with the same PostgreSQL with fsync on (a new database for each), the same
// receiver in a process of its own, and the same bytes. Each peer sends with the same undici call and writes the same
// row into a log of attempts.
//   steady  events committed at a steady rate over 20 endpoints: time from commit to receipt
//   drain   a backlog over 20 endpoints: deliveries in a second until the last has arrived, after a first, smaller
//           backlog that is not measured, because a sender runs for months but is loaded and compiled once. The systems
//           take turns over several rounds, because a machine's speed varies, and the median counts
//   dead    like steady, beside a dead endpoint for which a million deliveries wait
//   slow    like steady, with every fifth endpoint slow: time from commit to receipt at the others
//   hostile like steady, beside six endpoints that answer nothing, a byte a second, or without end; only for the
//           service. Rounds alternate between those six, six honest ones, and the honest six while another process
//           requests the flooding endpoints (`visited`: their cost merely by being on this machine). The first failures
//           of a process cause much code to be compiled again, so 90 seconds of warm-up show what lasts
//   idle    transactions in a second with nothing to do; the service is the whole `serve`; autovacuum, whose
//           transactions would count, is off
//   npm run bench:webhooks -- [--scenarios steady,drain] [--systems ours,bare] [--profile DIR] …, see the options below
// All senders run on the Node.js that the peers need; `--node own` runs the service and the bare loop on the present
// one. A peer's handler writes its row into the log by a statement of its own; `batched` gathers rows as the service
// does, which none of the peers' documents suggests. Needs a build. Prints numbers and ratios; asserts nothing.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentileOf } from './generator.mjs'
import { say } from './served.mjs'
import { asked } from './webhooks/asked.mjs'
import { latencyText, summed } from './webhooks/figures.mjs'
import { openService } from './webhooks/open-service.mjs'
import { installPeers } from './webhooks/peers.mjs'
import { asSuperuser } from './webhooks/superuser.mjs'

const { values: options } = parseArgs({
  options: {
    scenarios: { type: 'string', default: 'steady,drain,dead,slow,hostile,idle' },
    systems: { type: 'string', default: 'ours,bare,graphile-worker' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    backlog: { type: 'string', default: '100000' },
    'warm-up': { type: 'string', default: '20000' },
    'warm-up-seconds': { type: 'string', default: '20' },
    waiting: { type: 'string', default: '1000000' },
    'slow-ms': { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
    node: { type: 'string', default: 'same' },
    concurrency: { type: 'string', default: '64' },
    'peer-log': { type: 'string', default: 'single' },
    profile: { type: 'string' },
  },
})
const rate = Number(options.rate)
const seconds = Number(options.seconds)
const scenarios = options.scenarios.split(',')

const ENDPOINTS = 20
const healthy = Array.from({ length: ENDPOINTS }, (_, index) => `/hook/${index}`)
const mixed = healthy.map((path, index) => (index % 5 === 0 ? path.replace('/hook/', '/slow/') : path))
/** Honest endpoints that are not measured, as many as there are hostile ones. */
const beside = Array.from({ length: 6 }, (_, index) => `/beside/${index}`)
const DEAD = 'http://127.0.0.1:1/hook'
/** How long the last events may take to arrive before they count as late. */
const PATIENCE_MS = 10_000
const DRAIN_PATIENCE_MS = 240_000
function here(name) {
  return fileURLToPath(new URL(name, import.meta.url))
}
const results = new Map()
function keep(system, scenario, value) {
  return results.set(`${system} ${scenario}`, value)
}

// --- Processes that get their commands by messages.

async function startReceiver() {
  const child = fork(here('webhooks/receiver.mjs'), [options['slow-ms']])
  const { address } = await asked(child)
  return { child, address }
}

async function openSystem(system, targets, shared) {
  const isPeer = !['ours', 'bare'].includes(system)
  const name = `bench_${randomBytes(4).toString('hex')}`
  await shared.createDatabase(shared.address, name)
  const config = {
    system,
    targets,
    origin: shared.receiver.address,
    address: { ...shared.address, database: name },
    concurrency: Number(options.concurrency),
    rootKey: shared.rootKey,
    peers: shared.peers.folder,
    peerLog: options['peer-log'],
  }
  const profiling = options.profile && !isPeer ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
  const child = fork(here('webhooks/sender.mjs'), [JSON.stringify(config)], {
    execPath: (isPeer || options.node === 'same' ? shared.peers.node : undefined) ?? process.execPath,
    execArgv: profiling,
  })
  await asked(child)
  return {
    tell: message => asked(child, message),
    database: name,
    async close() {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.send({ do: 'close' })
      const stuck = setTimeout(() => child.kill('SIGKILL'), 20_000)
      await ended
      clearTimeout(stuck)
      await shared.dropDatabase(shared.address, name)
    },
  }
}

// --- Scenarios.

/** Commits events at the rate, and returns how long those for healthy targets took from commit to receipt. */
async function commitToReceipt(opened, shared, targets) {
  const { child } = shared.receiver
  // The first events, and the first failures, load and compile code, so they are not measured.
  await asked(child, { do: 'expect' })
  await opened.tell({ do: 'steady', rate, seconds: Number(options['warm-up-seconds']), targets })
  await sleep(1500)
  await asked(child, { do: 'expect' })
  const { committed } = await opened.tell({ do: 'steady', rate, seconds, targets })
  const counted = committed.filter(([, target]) => target.startsWith('/hook/'))
  const keys = counted.map(([key]) => key)
  const look = async () => (await asked(child, { do: 'report', keys })).arrivals
  const endsAt = performance.now() + PATIENCE_MS
  let arrivals = await look()
  while (arrivals.includes(null) && performance.now() < endsAt) {
    await sleep(250)
    arrivals = await look()
  }
  const latencies = arrivals.flatMap((at, index) =>
    at === null ? [] : [Math.max(0, at - counted[index][2])],
  )
  return summed(keys.length, latencies)
}

function showLatency(system, scenario, found) {
  keep(system, scenario, found)
  say(`${scenario}  ${system}`, latencyText(found))
}

/**
 * Fills a backlog and lets the system drain it; returns the milliseconds this took, `undefined` when it did not end
 * in time.
 */
async function drained(opened, shared, count) {
  await opened.tell({ do: 'fill', count, targets: healthy })
  await asSuperuser(shared.address, client => client.query('checkpoint'))
  const { child } = shared.receiver
  await asked(child, { do: 'expect', count })
  const reached = asked(child)
  const { at } = await opened.tell({ do: 'start' })
  const last = await Promise.race([reached, sleep(DRAIN_PATIENCE_MS, undefined, { ref: false })])
  return last && last.reached - at
}

async function steadily(system, shared, targets) {
  const opened = await openSystem(system, targets, shared)
  await opened.tell({ do: 'start' })
  const found = await commitToReceipt(opened, shared, targets)
  await opened.close()
  return found
}

async function withHostile(work) {
  const child = fork(here('webhooks/hostile.mjs'))
  try {
    const { targets } = await asked(child)
    const found = await work(targets)
    const { most } = await asked(child, {})
    if (most > 0) say('hostile endpoints', `wrote ${(most / 1e6).toFixed(1)} MB at most to one connection`)
    return found
  } finally {
    child.kill()
  }
}

/** The three variants of `hostile`: the measured endpoints and their rate are the same in each. */
function honest(system, shared) {
  return steadily(system, shared, [...healthy, ...beside])
}
function hostile(system, shared) {
  return withHostile(targets => steadily(system, shared, [...healthy, ...targets]))
}

function visited(system, shared) {
  return withHostile(async targets => {
    // Only endpoints whose answers count as delivered are requested all the time; the others are left alone after a
    // few attempts.
    const floods = targets.filter(target => /\/(flood|chunks)$/.test(target))
    const perSecond = (rate * floods.length) / (healthy.length + targets.length)
    const visitor = fork(here('webhooks/visitor.mjs'), [...floods, String(perSecond)])
    try {
      return await honest(system, shared)
    } finally {
      visitor.kill()
    }
  })
}

const runs = {
  async steady(system, shared) {
    showLatency(system, 'steady', await steadily(system, shared, healthy))
  },
  async slow(system, shared) {
    showLatency(system, 'slow', await steadily(system, shared, mixed))
  },
  async hostile(system, shared) {
    // The peers' undici call reads a body to its end, so such endpoints would end their process.
    if (system !== 'ours') return
    const ways = { honest, visited, hostile }
    const found = { honest: [], visited: [], hostile: [] }
    for (let round = 0; round < Number(options.rounds); round += 1)
      for (const [name, way] of Object.entries(ways)) {
        const one = await way(system, shared)
        found[name].push(one)
        say(`${name}  ${system}, round ${round + 1}`, latencyText(one))
      }
    const [calm, ...others] = Object.entries(found).map(([name, rounds]) => {
      const all = summed(
        rounds.reduce((sum, { committed }) => sum + committed, 0),
        rounds.flatMap(({ latencies }) => latencies),
      )
      say(`${name}  ${system}, all rounds`, latencyText(all))
      return { name, ...all }
    })
    for (const { name, p50, p99 } of others)
      say(
        `${name} / honest, ${system}`,
        `p50 ${(p50 / calm.p50).toFixed(2)}   p99 ${(p99 / calm.p99).toFixed(2)}`,
      )
  },
  async dead(system, shared) {
    if (system === 'bare') return
    const opened = await openSystem(system, [...healthy, DEAD], shared)
    await opened.tell({ do: 'fill', count: Number(options.waiting), targets: [DEAD] })
    await asSuperuser(shared.address, client => client.query('checkpoint'))
    await opened.tell({ do: 'start' })
    showLatency(system, 'dead', await commitToReceipt(opened, shared, healthy))
    await opened.close()
  },
  async drain(system, shared) {
    const opened = await openSystem(system, healthy, shared)
    const count = Number(options.backlog)
    const warmUp = Number(options['warm-up'])
    if (warmUp > 0) {
      await drained(opened, shared, warmUp)
      await opened.tell({ do: 'rest' })
    }
    const took = await drained(opened, shared, count)
    const { child } = shared.receiver
    if (took === undefined) say(`drain  ${system}`, `NOT DONE in ${DRAIN_PATIENCE_MS / 1000} s`)
    else {
      const perSecond = count / (took / 1000)
      const { repeats } = await asked(child, { do: 'report', keys: [] })
      keep(system, 'drain', [...(results.get(`${system} drain`) ?? []), perSecond])
      const { micros } = await opened.tell({ do: 'usage' })
      const cost = `   ${Math.round(micros / count)} µs of its processor time each`
      const again = repeats > 0 ? `   ${repeats} repeats` : ''
      say(`drain  ${system}`, `${Math.round(perSecond).toLocaleString('en-US')}/s${cost}${again}`)
    }
    await opened.close()
  },
  async idle(system, shared) {
    if (system === 'bare') return
    const opened = system === 'ours' ? await openService(shared) : await openSystem(system, healthy, shared)
    if (system !== 'ours') await opened.tell({ do: 'start' })
    const transactions = () =>
      asSuperuser({ ...shared.address, database: opened.database }, async client => {
        const text =
          'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()'
        return Number((await client.query(text)).rows[0].count)
      })
    const setAutovacuum = state =>
      asSuperuser({ ...shared.address, database: opened.database }, async client => {
        await client.query(`alter system set autovacuum = ${state}`)
        await client.query('select pg_reload_conf()')
      })
    await setAutovacuum('off')
    // Sessions report their counters only after they have been idle for some seconds, and the service searches all of the
    // empty audit trail once, half a minute after its start.
    await sleep(45_000)
    const before = await transactions()
    await sleep(30_000)
    // Reading the counter is itself a transaction.
    const perSecond = ((await transactions()) - before - 1) / 30
    keep(system, 'idle', perSecond)
    say(`idle  ${system}`, `${perSecond.toFixed(2)} transactions/s`)
    await setAutovacuum('on')
    await opened.close()
  },
}

// --- Conclusions from the numbers.

function showRatios(peers) {
  const drained = name => {
    const rounds = results.get(`${name} drain`)
    return rounds && percentileOf(rounds, 0.5)
  }
  const ours = drained('ours')
  const best = peers.flatMap(name => (drained(name) ? [{ name, perSecond: drained(name) }] : []))
  best.sort((a, b) => b.perSecond - a.perSecond)
  if (ours && best[0])
    say('drain: ours / best peer', `${(ours / best[0].perSecond).toFixed(2)}   (${best[0].name})`)
  if (ours && drained('bare')) say('drain: ours / bare loop', (ours / drained('bare')).toFixed(2))
  for (const system of ['ours', ...peers]) {
    const without = results.get(`${system} steady`)
    for (const scenario of ['dead', 'slow']) {
      const found = results.get(`${system} ${scenario}`)
      if (!found || !without || found.p99 === undefined) continue
      const missing = found.arrived < found.committed ? '   of those that arrived' : ''
      say(`${scenario}: p99 with / without, ${system}`, (found.p99 / without.p99).toFixed(2) + missing)
    }
  }
}

async function main() {
  const systems = options.systems.split(',')
  const isPeer = name => !['ours', 'bare'].includes(name)
  const peers = systems.some(isPeer) ? installPeers() : {}
  if (peers.missing) say('PEERS LEFT OUT', peers.missing)
  const scratch = await mkdtemp(join(tmpdir(), 'bench-webhooks-'))
  if (options.profile) await mkdir(options.profile, { recursive: true })
  const chosen = systems.filter(name => !isPeer(name) || !peers.missing)

  const { ownEmbeddedDatabase } = await import('@benefit-enrolment/embedded-postgres')
  const { createDatabase, dropDatabase } = await import('@benefit-enrolment/embedded-postgres')
  const owned = await ownEmbeddedDatabase({ dataDir: join(scratch, 'data'), log: () => {} })
  const receiver = await startReceiver()
  const shared = {
    receiver,
    peers,
    createDatabase,
    dropDatabase,
    address: owned.address,
    rootKey: randomBytes(32).toString('base64'),
  }
  const fsync = await asSuperuser(
    owned.address,
    async client => (await client.query('show fsync')).rows[0].fsync,
  )
  say(
    'machine',
    `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}, fsync ${fsync}`,
  )
  say(
    'senders run on Node',
    options.node === 'same' || !peers.version
      ? (peers.version ?? process.versions.node)
      : `${process.versions.node}, peers ${peers.version}`,
  )
  try {
    for (const scenario of scenarios) {
      const rounds = scenario === 'drain' ? Number(options.rounds) : 1
      for (let round = 0; round < rounds; round += 1)
        for (const system of chosen) await runs[scenario](system, shared)
    }
    showRatios(chosen.filter(isPeer))
  } finally {
    receiver.child.kill()
    await owned.stop()
    await rm(scratch, { recursive: true, force: true })
  }
}

await main()
