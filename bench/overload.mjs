// What overload does to prefill, as ratios that hold within one run on one machine:
//   peak       the best goodput (200s a second) of several numbers of connections, each sending one request after the other
//   flood      five times the peak, offered steadily whatever is answered: goodput over the peak, the share of 503, the p99
//              of what was admitted, and how long after its end until latencies are as they were before
//   neighbour  one partner floods while another sends a tenth of the peak: what the other gets, and how soon
// `serve` runs as built, on an embedded PostgreSQL of its own. The generator shares the processors with the service, so
// that what was really offered is told too.
//   npm run bench:overload -- [--seconds 20] [--times 5] [--connections 8000] [--profile DIR]
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'

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
const fileOf = path => fileURLToPath(new URL(path, import.meta.url))
const bin = fileOf('../service/bin/enrolment.js')
const scratch = mkdtempSync(join(tmpdir(), 'enrolment-overload-'))
const dataDir = join(scratch, 'data')
const environment = { ...process.env, HOME: scratch }

const say = (name, text) => process.stdout.write(`${name.padEnd(34)}${text}\n`)
const shown = perSecond => `${Math.round(perSecond).toLocaleString('en-US')}/s`
const ratio = value => value.toFixed(2)

const enrolment = (...words) => {
  const args = [bin, ...words, '--data', dataDir, '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    ...{ cwd: scratch, encoding: 'utf8', env: environment },
  })
  if (status !== 0) throw new Error(`enrolment ${words.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

const startService = async () => {
  const log = openSync(join(scratch, 'service.log'), 'a')
  const profiling = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
  if (options.profile) mkdirSync(options.profile, { recursive: true })
  const child = spawn(process.execPath, [...profiling, bin, 'serve', '--port', '0', '--data', dataDir], {
    ...{ cwd: scratch, env: environment, stdio: ['ignore', 'pipe', log] },
  })
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('listening on ')) return { child, address: line.slice('listening on '.length) }
  }
  throw new Error(`the service did not start: ${readFileSync(join(scratch, 'service.log'), 'utf8')}`)
}

/** Runs a generator in a process of its own and gives what it printed. */
const generate = async (program, job) => {
  const child = spawn(process.execPath, [fileOf(program), JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return JSON.parse(text)
}

const headFor = async (address, name) => {
  const partner = enrolment('partner', 'create', '--name', name)
  const basic = Buffer.from(`${partner.clientid}:${partner.clientsecret}`).toString('base64')
  const response = await fetch(`${address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token } = await response.json()
  return [
    'POST /user/prefill HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${access_token}`,
    `x-api-key: ${partner.apikey}`,
    'Content-Type: application/json\r\n',
  ].join('\r\n')
}

const closedLoop = (at, head, job) =>
  generate('load.mjs', { address: at, head, kind: 'prefill', name: `c${Date.now()}`, ...job })

/**
 * What a database in use has had long since: plans that a connection made while the tables were empty stay with it until
 * then, and would be measured here instead of overload.
 */
const analyse = async () => {
  const lines = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const client = new pg.Client({
    ...{ host: lines[4], port: Number(lines[3]), user: 'postgres', database: 'enrolment' },
  })
  await client.connect()
  await client.query('analyze')
  await client.end()
}

const findPeak = async (at, head) => {
  await closedLoop(at, head, { connections: 64, seconds: 3 })
  await analyse()
  await closedLoop(at, head, { connections: 256, seconds: 5 })
  await analyse()
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

const describe = (stream, wanted) => {
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

/** Milliseconds from now until four looks in a row are as quick as before; looks for 20 s. */
const untilNormal = async (at, head, usual) => {
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

const main = async () => {
  const { child, address } = await startService()
  try {
    enrolment('catalogue', 'publish', fileOf('../service/assets/demo-catalogue.yaml'))
    const head = await headFor(address, 'flooding')
    const peak = await findPeak(address, head)
    const usual = (await closedLoop(address, head, { connections: 8, seconds: 2 })).milliseconds.median
    const perSecond = peak * Number(options.times)
    const flood = { name: `f${Date.now()}`, head, perSecond, connections }
    const [alone] = await generate('flood.mjs', { address, seconds, streams: [flood] })
    // What the flood had sent is answered first; that time counts.
    const normalAfter = alone.drainedMs + (await untilNormal(address, head, usual))
    say(`flood of ${options.times}×`, describe(alone, perSecond))
    say('goodput / peak', ratio(alone.goodput / peak))
    say(
      'back to normal after',
      `${(normalAfter / 1000).toFixed(1)} s (median of 8 connections ≤ 2 × ${usual} ms)`,
    )
    const other = { name: `o${Date.now()}`, head: await headFor(address, 'neighbour'), connections: 500 }
    const quiet = { ...other, perSecond: peak / 10 }
    const streams = [{ ...flood, name: `g${Date.now()}` }, quiet]
    const [flooding, neighbour] = await generate('flood.mjs', { address, seconds, streams })
    say('one floods', describe(flooding, perSecond))
    say('its neighbour', describe(neighbour, quiet.perSecond))
    say('neighbour: goodput / wanted', ratio(neighbour.goodput / quiet.perSecond))
    const lines = readFileSync(join(scratch, 'service.log'), 'utf8').trim().split('\n')
    const told = lines.filter(line => line.includes('"event":"shed"'))
    say('lines of the log about it', `${told.length}, the last: ${told.at(-1)}`)
  } finally {
    child.kill('SIGTERM')
    await new Promise(resolve => child.once('exit', resolve))
    rmSync(scratch, { recursive: true, force: true })
  }
}

await main()
