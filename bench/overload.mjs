// How prefill behaves under overload, as ratios that are valid within one run on one machine:
//   peak       the best goodput (200s in a second) over several numbers of connections, each sending one request
//              after the other; the best is measured again before each flood: speed varies
//   flood      five times the peak, sent at a steady rate, in several rounds: goodput over the peak just before, the share
//              of 503, the p99 of admitted requests, and when the median is at most twice the usual again
//   processor  what an answered prefill cost in the service, in PostgreSQL and in the generator, at the peak and in the flood:
//              rates beside a generator that shares the processors say less about the service
//   neighbor   one partner floods while another sends a tenth of the peak: how much the other gets, and how quickly
// Runs `serve` as built, on an embedded PostgreSQL of its own. The generator shares the processors with the
// service, so the rate that was really sent is printed too. Fails when the goodput of the middle round is below 0.8 of its
// peak, a 503 has no Retry-After, or the median stays above twice the usual for 10 s.
//   npm run bench:overload -- [--seconds 20] [--rounds 3] [--times 5] [--connections 8000] [--profile DIR]
import { parseArgs } from 'node:util'
import pg from 'pg'
import { median } from './http/measure.mjs'
import { processorSeconds } from './http/processor-time.mjs'
import { embeddedServer, generate, headFor, say, startServed } from './served.mjs'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    times: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8000' },
    profile: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const connections = Number(options.connections)
const LEAST_GOODPUT = 0.8
const MOST_NORMAL_AFTER_MS = 10_000
function shown(perSecond) {
  return `${Math.round(perSecond).toLocaleString('en-US')}/s`
}
function ratio(value) {
  return value.toFixed(2)
}

function closedLoop(at, head, job) {
  return generate('load.mjs', { address: at, head, kind: 'prefill', name: `c${Date.now()}`, ...job })
}

/**
 * Analyzes the tables, as autovacuum has long done in a database in use. Otherwise connections would keep plans
 * made while the tables were empty, and the benchmark would measure those plans.
 */
async function analyze(dataDir) {
  const { host, port, database } = embeddedServer(dataDir)
  const client = new pg.Client({ host, port, database, user: 'postgres' })
  await client.connect()
  await client.query('analyze')
  await client.end()
}

/** Returns a function that returns the processor seconds of service, PostgreSQL and generators from now on. */
function startProcessorTime({ services, dataDir }) {
  const service = services.map(({ child }) => child.pid)
  const { pid } = embeddedServer(dataDir)
  const used = () => [
    processorSeconds(service, [pid]),
    processorSeconds([pid]),
    processorSeconds([process.pid], service),
  ]
  const before = used()
  return () => used().map((seconds, at) => seconds - before[at])
}

/** What an answered prefill cost, in microseconds. */
function costOf([service, database, generator], answered) {
  const each = seconds => (seconds * 1e6) / answered
  return { service: each(service), database: each(database), generator: each(generator) }
}

function costText({ service, database, generator }) {
  return `${[service, database, generator].map(Math.round).join(' + ')} µs of service, PostgreSQL and generator`
}

/** Each connection sends one request after the other; returns the goodput, what an answer cost, and how long it took. */
async function lookAt(served, head, count, lasting) {
  const processorTime = startProcessorTime(served)
  const result = await closedLoop(served.address, head, { connections: count, seconds: lasting })
  const answered = result.statuses['200'] ?? 0
  const cost = costOf(processorTime(), answered)
  const goodput = answered / result.seconds
  const { median, p99 } = result.milliseconds
  say(`${count} connections`, `${shown(goodput)}   median ${median} ms, p99 ${p99} ms   ${costText(cost)}`)
  return { count, goodput, cost }
}

/** The number of connections with the best goodput. */
async function findPeak(served, head) {
  const { address: at, dataDir } = served
  await closedLoop(at, head, { connections: 64, seconds: 3 })
  await analyze(dataDir)
  await closedLoop(at, head, { connections: 256, seconds: 5 })
  await analyze(dataDir)
  let peak = { goodput: 0 }
  for (const count of [64, 256, 1024]) {
    const seen = await lookAt(served, head, count, Math.max(3, seconds / 4))
    if (seen.goodput > peak.goodput) peak = seen
  }
  return peak.count
}

/** One peak, and one flood of several times as much right after it. */
async function lookAtFlood(served, head, { count, round, usual }) {
  const peak = await lookAt(served, head, count, Math.max(3, seconds / 4))
  const perSecond = peak.goodput * Number(options.times)
  const processorTime = startProcessorTime(served)
  const stream = { name: `f${round}-${Date.now()}`, head, perSecond, connections }
  const [flood] = await generate('flood.mjs', { address: served.address, seconds, streams: [stream] })
  const cost = costOf(processorTime(), flood.statuses['200'])
  // The rest of the flood is answered first, and that time counts.
  const normalAfterMs = flood.drainedMs + (await untilNormal(served.address, head, usual))
  const goodput = flood.goodput / peak.goodput
  const time = (peak.cost.service + peak.cost.database) / (cost.service + cost.database)
  say(`flood of ${options.times}×`, `${describe(flood, perSecond)}   ${costText(cost)}`)
  say(
    'flood over peak',
    `goodput ${ratio(goodput)}; peak over flood: processor time of an answer ${ratio(time)}, without the generator`,
  )
  say(
    'back to normal after',
    `${(normalAfterMs / 1000).toFixed(1)} s (median of 8 connections ≤ 2 × ${usual} ms)`,
  )
  const isTold = flood.retryAfter >= (flood.statuses['503'] ?? 0)
  return { peak: peak.goodput, goodput, time, normalAfterMs, isTold }
}

function describe(stream, wanted) {
  const total = Object.values(stream.statuses).reduce((sum, count) => sum + count, 0)
  const shed = stream.statuses['503'] ?? 0
  const sent = (stream.offered - stream.unsent) / seconds
  const { median, p99 } = stream.milliseconds
  return [
    `wanted ${shown(wanted)}, offered ${shown(sent)} on ${stream.connections} connections,`,
    `goodput ${shown(stream.goodput)}, ${Math.round((shed / total) * 100)} % 503`,
    `(${stream.retryAfter === shed ? 'all' : stream.retryAfter} with Retry-After), lost ${stream.lost},`,
    `admitted median ${median} ms, p99 ${p99} ms   ${JSON.stringify(stream.statuses)}`,
  ].join(' ')
}

/** How many milliseconds pass until four measurements in a row have a median of at most twice the usual; waits 20 s at most. */
async function untilNormal(at, head, usual) {
  const startedAt = performance.now()
  let normalSince
  while (performance.now() - startedAt < 20_000) {
    const lookedAt = performance.now()
    const look = await closedLoop(at, head, { connections: 8, seconds: 0.5 })
    const isNormal = look.milliseconds.median <= 2 * usual && Object.keys(look.statuses).join() === '200'
    normalSince = isNormal ? (normalSince ?? { at: lookedAt, looks: 0 }) : undefined
    if (normalSince) normalSince.looks += 1
    if (normalSince?.looks === 4) return normalSince.at - startedAt
  }
  return Number.POSITIVE_INFINITY
}

async function main() {
  const served = await startServed('overload', { profile: options.profile })
  const { address } = served
  served.publishDemo()
  const headOf = async name => headFor(await served.newPartner(name), '/user/prefill')
  try {
    const head = await headOf('flooding')
    const count = await findPeak(served, head)
    const usual = (await closedLoop(address, head, { connections: 8, seconds: 2 })).milliseconds.median
    const rounds = []
    for (let round = 1; round <= Number(options.rounds); round += 1)
      rounds.push(await lookAtFlood(served, head, { count, round, usual }))
    const goodput = median(rounds.map(round => round.goodput))
    say(
      `the middle of ${rounds.length} rounds`,
      `goodput ${ratio(goodput)}, processor time ${ratio(median(rounds.map(({ time }) => time)))}`,
    )
    const isHeld =
      goodput >= LEAST_GOODPUT &&
      rounds.every(({ isTold, normalAfterMs }) => isTold && normalAfterMs <= MOST_NORMAL_AFTER_MS)
    if (!isHeld) process.exitCode = 1
    const { peak } = rounds.at(-1)
    const perSecond = peak * Number(options.times)
    const other = { name: `o${Date.now()}`, head: await headOf('neighbor'), connections: 500 }
    const quiet = { ...other, perSecond: peak / 10 }
    const flood = { name: `g${Date.now()}`, head, perSecond, connections }
    const streams = [flood, quiet]
    const [flooding, neighbor] = await generate('flood.mjs', { address, seconds, streams })
    say('one floods', describe(flooding, perSecond))
    say('its neighbor', describe(neighbor, quiet.perSecond))
    say('neighbor: goodput / wanted', ratio(neighbor.goodput / quiet.perSecond))
    const lines = served.log().trim().split('\n')
    const told = lines.filter(line => line.includes('"event":"shed"'))
    say('lines of the log about it', `${told.length}, the last: ${told.at(-1)}`)
  } finally {
    await served.close()
  }
}

await main()
