// What one partner notices of others, in one run on one machine.
//   beside N × …   how much slower its reads become while another partner, or a stranger, sends expensive requests over 20
//              connections: the median beside them, divided by the median without them
//       wrong   60 KB with 20,000 faults, refused each time
//       /docs, /openapi.yaml   public pages, requested again and again without credentials
//       without a token   refused with 401, again and again
//       GET …, POST …   what goes through many rows of a partner with 5,000 members, one of whom changes each second: the sums of its
//              months, a month as CSV, its users, its events, and how many of these a replay would send
//       bulk …   bulks of lines that cannot be read, or are blank: over 300 connections without reading the answers, over 8 with
//   refused    how many prefills are refused although nothing is overloaded, without and with a program that takes a core:
//       a lone partner beside three requests a second of strangers and two of its own for a token; 2, 20 and 200 equally
//       busy partners on 64 connections; a rolling restart of two processes
// Runs `serve` as built, on an embedded PostgreSQL of its own. Fails when a ratio reaches 3, beside a bulk 1.5, or when a request is
// refused.
//   npm run bench:fair -- [--seconds 6] [--connections 20] [--beside bulk]   with --beside only such lines
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { person } from './generator.mjs'
import { startStand } from './http/stand.mjs'
import { fillMembers } from './members.mjs'
import { ended, generate as generateWith, headersOf, headFor, say } from './served.mjs'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '20' },
    beside: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const MOST_RATIO = 3
const MOST_RATIO_BESIDE_BULKS = 1.5
const MEMBERS = 5000
const MIB = 1024 * 1024
function generate(job) {
  return generateWith('load.mjs', job)
}

/** The most memory that a process has had, in MB. */
function peakOf(pid) {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}

/** Returns how many of the ratios miss their aim. */
async function measure({ newPartner, addresses, servicePids, admin, call }) {
  const [address] = addresses(1)
  const [quiet, loud] = [await newPartner('quiet'), await newPartner('loud')]
  const seeding = {
    address,
    connections: 1,
    seconds: 2,
    head: headFor(quiet, '/user/prefill'),
    kind: 'prefill',
  }
  await generate({ ...seeding, name: 'u' })
  const known = { prefix: 'u', from: 1, users: 50 }
  const reads = {
    address,
    connections: 1,
    seconds,
    head: headFor(quiet, '/user/benefits'),
    kind: 'benefits',
    ...known,
  }
  await generate({ ...reads, seconds: 3 })
  const pageHead = path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`
  await fillMembers(admin, loud.partnerid, MEMBERS)
  const { webhookid } = JSON.parse(
    await call(loud, '/webhooks', { url: 'https://example.com/', username: 'u', password: 'a password' }),
  )
  const members = Array.from({ length: MEMBERS }, (_, at) =>
    JSON.stringify({ operation: 'prefill', key: `e-${at}`, body: { userid: `e-${at}`, ...person } }),
  )
  const ndjson = { 'content-type': 'application/x-ndjson' }
  await fetch(`${address}/user/bulk`, {
    method: 'POST',
    headers: { ...headersOf(loud), ...ndjson },
    body: members.join('\n'),
  }).then(answer => answer.text())
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const replay = JSON.stringify({ from, to: new Date().toISOString(), dryrun: true })
  const readHead = path => headFor(loud, path).replace('POST', 'GET')
  const lines = `/statements/${new Date().toISOString().slice(0, 7)}/lines`
  const noises = [
    ['wrong', { head: headFor(loud, '/user/account/create'), kind: 'wrong' }],
    ['/docs', { head: pageHead('/docs'), kind: 'same' }],
    ['/openapi.yaml', { head: pageHead('/openapi.yaml'), kind: 'same' }],
    ['without a token', { head: pageHead('/webhooks'), kind: 'same' }],
    ['GET /statements', { head: readHead('/statements'), kind: 'same', isLong: true }],
    [
      'GET a month as CSV',
      { head: readHead(lines).concat('accept: text/csv\r\n'), kind: 'same', isLong: true },
    ],
    ['GET /users', { head: readHead('/users'), kind: 'same', isLong: true }],
    ['GET /events', { head: readHead('/events'), kind: 'same', isLong: true }],
    [
      'POST a dry replay',
      { head: headFor(loud, `/webhooks/${webhookid}/replay`), body: replay, kind: 'same', isLong: true },
    ],
    ['bulk of x, unread', { connections: 300, line: 'x\n', bytes: MIB, reads: false }],
    ['bulk of {}', { connections: 8, line: '{}\n', bytes: 5 * MIB, reads: true }],
    ['bulk of line feeds', { connections: 8, line: '\n', bytes: 5 * MIB, reads: true }],
  ]
  const bulkHead = headFor(loud, '/user/bulk').replace('application/json', 'application/x-ndjson')
  let missed = 0
  for (const [name, noise] of noises) {
    if (options.beside && !name.includes(options.beside)) continue
    const alone = await generate(reads)
    const job = { address, connections: Number(options.connections), seconds: seconds + 2, ...noise }
    const changes = setInterval(() => {
      if (noise.isLong) void call(loud, '/user/prefill', { userid: `changed-${Date.now()}`, ...person })
    }, 1000)
    const others = noise.line ? generateWith('hostile.mjs', { head: bulkHead, ...job }) : generate(job)
    // The first second is not measured: the loud partner has used so little by then that nothing holds it back.
    await wait(1000)
    const beside = await generate(reads)
    const { requests, statuses, ...counted } = await others
    clearInterval(changes)
    const ratio = beside.milliseconds.median / alone.milliseconds.median
    if (!(ratio < (noise.line ? MOST_RATIO_BESIDE_BULKS : MOST_RATIO))) missed += 1
    say(`beside ${job.connections} × ${name}`, `median ${ratio.toFixed(2)} × its own`)
    say(
      '',
      `alone ${JSON.stringify(alone.milliseconds)} ms, beside ${JSON.stringify(beside.milliseconds)} ms`,
    )
    if (noise.line)
      say('', `the other ${JSON.stringify(counted)}, the process at most ${peakOf(servicePids()[0])} MB`)
    else
      say('', `answers to the other: ${Math.round(requests / (seconds + 2))}/s ${JSON.stringify(statuses)}`)
    say('', `answers to this one: ${JSON.stringify(beside.statuses)}`)
  }
  return missed
}

const CONNECTIONS = 64

/** Prefills over 64 connections, with something else beside them; returns how many were refused. */
async function refusedIn(address, name, { partners, beside = async () => {} }) {
  const job = { address, connections: CONNECTIONS, seconds, kind: 'prefill', name: `p${Date.now()}` }
  const prefills = generate({ ...job, partners })
  await beside()
  const { requests, statuses } = await prefills
  const refused = statuses['503'] ?? 0
  say(
    name,
    `${refused} refused of ${requests}, ${Math.round(requests / seconds)}/s ${JSON.stringify(statuses)}`,
  )
  return refused
}

/** A stranger's request three times a second, and one for a token of the partner twice. */
async function trickle(address, { basic }) {
  const until = performance.now() + (seconds - 1) * 1000
  while (performance.now() < until) {
    for (const path of ['/webhooks', '/docs', '/webhooks'])
      await fetch(address + path).then(answer => answer.text())
    for (let count = 0; count < 2; count += 1)
      await fetch(`${address}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      }).then(answer => answer.text())
    await wait(1000)
  }
}

/** Replaces the process that serves, three times, behind a balancer that sends new connections to the newest. */
async function refusedInRollingRestart({ addresses, services, startAnother }, partner) {
  let target = new URL(addresses(1)[0])
  const balancer = createServer(near => {
    const far = connect(Number(target.port), target.hostname)
    near.pipe(far).pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ])
      one.on('error', () => other.destroy())
  })
  await new Promise(resolve => balancer.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${balancer.address().port}`
  const restarts = async () => {
    for (let count = 0; count < 3; count += 1) {
      await startAnother(1)
      target = new URL(services.at(-1).address)
      // The first has the database.
      if (services.length > 2) await ended(services.at(-2).child)
    }
  }
  const refused = await refusedIn(address, 'rolling restart', { partners: [partner], beside: restarts })
  balancer.close()
  return refused
}

async function countRefusals(stand) {
  const [address] = stand.addresses(1)
  const partners = await stand.newPartners(200)
  const [lone] = partners
  let refused = 0
  for (const isBeside of [false, true]) {
    const busy = isBeside ? spawn(process.execPath, ['-e', 'for (;;) {}']) : undefined
    if (isBeside) say('while another program takes a core', '')
    refused += await refusedIn(address, 'a lone partner alone', { partners: [lone] })
    const beside = () => trickle(address, lone)
    refused += await refusedIn(address, 'beside strangers and its own tokens', { partners: [lone], beside })
    for (const count of [2, 20, 200])
      refused += await refusedIn(address, `${count} equally busy partners`, {
        partners: partners.slice(0, count),
      })
    refused += await refusedInRollingRestart(stand, lone)
    busy?.kill()
  }
  return refused
}

const stand = await startStand()
try {
  const missed = await measure(stand)
  const refused = options.beside ? 0 : await countRefusals(stand)
  if (refused > 0 || missed > 0) process.exitCode = 1
} finally {
  await stand.close()
}
