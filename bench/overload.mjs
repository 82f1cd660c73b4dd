// How prefill behaves under overload, as ratios that are valid within one run on one machine:
//   peak       the best goodput (200s in a second) over several numbers of connections, each sending one request
//              after the other
//   flood      five times the peak, sent at a steady rate: goodput over the peak, the share of 503, the p99 of
//              admitted requests, and how long after the flood latencies are as before
//   neighbor   one partner floods while another sends a tenth of the peak: how much the other gets, and how quickly
// Runs `serve` as built, on an embedded PostgreSQL of its own. The generator shares the processors with the
// service, so the rate that was really sent is printed too. Fails when the goodput of a flood is below 0.8 of the peak, a 503
// has no Retry-After, or latencies are not as before within 10 s.
//   npm run bench:overload -- [--seconds 20] [--times 5] [--connections 8000] [--profile DIR]
import { parseArgs } from 'node:util'
import pg from 'pg'
import { demoCatalogue, embeddedServer, generate, headFor, say, startServed } from './served.mjs'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    times: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8000' },
    profile: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const connections = Number(options.connections)
const leastGoodput = 0.8
const mostNormalAfterMs = 10_000
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

async function findPeak({ address: at, dataDir }, head) {
  await closedLoop(at, head, { connections: 64, seconds: 3 })
  await analyze(dataDir)
  await closedLoop(at, head, { connections: 256, seconds: 5 })
  await analyze(dataDir)
  let peak = 0
  for (const count of [64, 256, 1024]) {
    const result = await closedLoop(at, head, { connections: count, seconds: Math.max(3, seconds / 4) })
    const goodput = (result.statuses['200'] ?? 0) / result.seconds
    const { median, p99 } = result.milliseconds
    say(`${count} connections`, `${shown(goodput)}   median ${median} ms, p99 ${p99} ms`)
    peak = Math.max(peak, goodput)
  }
  say('peak', shown(peak))
  return peak
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

/** How many milliseconds pass until four measurements in a row are as fast as before; waits 20 s at most. */
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
  served.enrolment('catalogue', 'publish', demoCatalogue)
  const headOf = async name => headFor(await served.newPartner(name), '/user/prefill')
  try {
    const head = await headOf('flooding')
    const peak = await findPeak(served, head)
    const usual = (await closedLoop(address, head, { connections: 8, seconds: 2 })).milliseconds.median
    const perSecond = peak * Number(options.times)
    const flood = { name: `f${Date.now()}`, head, perSecond, connections }
    const [alone] = await generate('flood.mjs', { address, seconds, streams: [flood] })
    // The rest of the flood is answered first, and that time counts.
    const normalAfter = alone.drainedMs + (await untilNormal(address, head, usual))
    say(`flood of ${options.times}×`, describe(alone, perSecond))
    say('goodput / peak', ratio(alone.goodput / peak))
    say(
      'back to normal after',
      `${(normalAfter / 1000).toFixed(1)} s (median of 8 connections ≤ 2 × ${usual} ms)`,
    )
    const isHeld =
      alone.goodput >= leastGoodput * peak &&
      alone.retryAfter >= (alone.statuses['503'] ?? 0) &&
      normalAfter <= mostNormalAfterMs
    if (!isHeld) process.exitCode = 1
    const other = { name: `o${Date.now()}`, head: await headOf('neighbor'), connections: 500 }
    const quiet = { ...other, perSecond: peak / 10 }
    const streams = [{ ...flood, name: `g${Date.now()}` }, quiet]
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
