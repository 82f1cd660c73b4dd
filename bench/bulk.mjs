// Many at once, in one run on one machine:
//   prefill      in bulks, beside single requests over 64 connections: how many a second, and the processor time of the service
//              and of PostgreSQL for each. Rounds alternate, and the median of each figure is printed.
//   beside       how much slower another partner's reads become while a partner sends bulks
//   import       users with two benefits each, by `enrolment import`: a tenth of them, all, and the same file again
// Runs `serve` as built, on an embedded PostgreSQL of its own. Prints the aim beside each figure that has one.
//   node bench/bulk.mjs [--lines 20000] [--rounds 3] [--seconds 4] [--users 20000]
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { person } from './generator.mjs'
import { measureService, middle } from './http/measure.mjs'
import { processorSeconds } from './http/processor-time.mjs'
import { load, startStand } from './http/stand.mjs'
import { headersOf, headFor, say } from './served.mjs'

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    users: { type: 'string', default: '20000' },
  },
})
const options = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]))
const LINES_OF_BULK = 10_000

/** The body of a bulk of new users, prepared before anything is measured. */
function bulkOf(name, lines) {
  let body = ''
  for (let at = 0; at < lines; at += 1) {
    const userid = `${name}-${at}`
    body += `${JSON.stringify({ operation: 'prefill', key: userid, body: { userid, ...person } })}\n`
  }
  return Buffer.from(body)
}

/** Sends bulks one after the other; returns how many lines were answered 200. */
async function send(address, partner, bodies) {
  let taken = 0
  for (const body of bodies) {
    const headers = { ...headersOf(partner), 'content-type': 'application/x-ndjson' }
    const response = await fetch(`${address}/user/bulk`, { method: 'POST', headers, body })
    taken += (await response.text()).split('"status":200').length - 1
  }
  return taken
}

async function measureBulk(stand, partner, name) {
  const lines = Math.min(options.lines, LINES_OF_BULK)
  const count = Math.ceil(options.lines / lines)
  const bodies = Array.from({ length: count }, (_, at) => bulkOf(`${name}-${at}`, lines))
  const services = stand.servicePids()
  const database = stand.postmasterPids
  const used = () => [processorSeconds(services, database), processorSeconds(database)]
  const before = used()
  const begunAt = performance.now()
  const taken = await send(stand.addresses(1)[0], partner, bodies)
  const seconds = (performance.now() - begunAt) / 1000
  const after = used()
  if (taken !== count * lines) throw new Error(`${taken} of ${count * lines} lines were answered 200`)
  const each = at => ((after[at] - before[at]) * 1e6) / taken
  return { perSecond: taken / seconds, node: each(0), database: each(1) }
}

function told({ perSecond, node, database }) {
  return `${Math.round(perSecond)}/s, ${Math.round(node)} µs in Node and ${Math.round(database)} µs in PostgreSQL each`
}

async function comparePrefills(stand, partner) {
  const singles = []
  const bulks = []
  for (let round = 0; round < options.rounds + 1; round += 1) {
    const job = { connections: 64, seconds: options.seconds, kind: 'prefill', partners: [partner] }
    const single = await measureService(stand, { ...job, name: `s${round}` })
    const bulk = await measureBulk(stand, partner, `b${round}`)
    // The first round only warms up.
    if (round === 0) continue
    singles.push(single)
    bulks.push(bulk)
  }
  const ratios = singles.map((single, at) => ({
    rate: bulks[at].perSecond / single.perSecond,
    node: bulks[at].node / single.node,
  }))
  const ratio = middle(ratios)
  say('prefill, 64 connections', told(middle(singles)))
  say('prefill, in bulks', told(middle(bulks)))
  say('rate in bulks, by that of singles', `${ratio.rate.toFixed(2)} (aim: at least 1.5)`)
  say('Node time of a line, by that of a single', `${ratio.node.toFixed(2)} (aim: at most 0.6)`)
}

async function beside(stand, loud, quiet) {
  const [address] = stand.addresses(1)
  const seeding = {
    address,
    connections: 1,
    seconds: 1,
    head: headFor(quiet, '/user/prefill'),
    kind: 'prefill',
  }
  await load({ ...seeding, name: 'u' })
  const reads = {
    address,
    connections: 1,
    seconds: options.seconds,
    head: headFor(quiet, '/user/benefits'),
    kind: 'benefits',
    prefix: 'u',
    from: 1,
    users: 50,
  }
  await load(reads)
  const alone = await load(reads)
  const bodies = Array.from({ length: 10 }, (_, at) => bulkOf(`loud-${at}`, LINES_OF_BULK))
  const sent = send(address, loud, bodies)
  const during = await load(reads)
  const lines = await sent
  const ratio = during.milliseconds.median / alone.milliseconds.median
  say(`reads beside ${lines} lines`, `median ${ratio.toFixed(2)} × its own (aim: at most 3)`)
}

/** Runs the import, and returns what it printed, how long it took, and the most memory that it had. */
async function runImport(stand, partnerId, file) {
  const data = join(stand.scratch, 'data')
  const bin = new URL('../service/bin/enrolment.js', import.meta.url).pathname
  const words = ['import', partnerId, file, '--reason', 'bench', '--data', data, '--json']
  const begunAt = performance.now()
  const child = spawn('/usr/bin/env', ['time', '-f', '%U %M', process.execPath, bin, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', part => (out += part))
  child.stderr.on('data', part => (err += part))
  await new Promise(resolve => child.once('close', resolve))
  const [user = 'NaN', kilobytes = 'NaN'] = err.trim().split('\n').at(-1)?.split(' ') ?? []
  const seconds = (performance.now() - begunAt) / 1000
  return { ...JSON.parse(out), seconds, node: Number(user), megabytes: Number(kilobytes) / 1024 }
}

function fileOf(stand, name, users) {
  const rows = [
    'userid,firstname,lastname,email,zipcode,state,dob,phone,addline1,city,offername,offersince,benefits',
  ]
  for (let at = 0; at < users; at += 1)
    rows.push(
      `${name}${at},Ada,King${at},a${at}@example.com,33101,FL,1980-01-0${1 + (at % 9)},3055550142,${at} Ocean Drive,Miami,starter,2024-05-01,telehealth@2024-06-01`,
    )
  const file = join(stand.scratch, `${name}.csv`)
  writeFileSync(file, `${rows.join('\n')}\n`)
  return file
}

async function importMany(stand, { partnerid }) {
  const { users } = options
  // The memory of a tenth shows whether memory grows with the file.
  const tenth = Math.ceil(users / 10)
  const few = fileOf(stand, 'few', tenth)
  const many = fileOf(stand, 'many', users)
  for (const [name, file, count] of [
    ['import of a tenth', few, tenth],
    ['import', many, users],
    ['the same file again', many, users],
  ]) {
    const before = processorSeconds(stand.postmasterPids)
    const { taken, equal, seconds, node, megabytes } = await runImport(stand, partnerid, file)
    const each = spent => Math.round((spent * 1e6) / count)
    say(
      name,
      `${taken} taken, ${equal} equal in ${seconds.toFixed(1)} s: ${Math.round(count / seconds)}/s (aim: 1,667), ${each(node)} µs in Node and ${each(processorSeconds(stand.postmasterPids) - before)} in PostgreSQL each, at most ${Math.round(megabytes)} MB`,
    )
  }
}

const stand = await startStand()
try {
  const [partner, quiet] = [await stand.newPartner('bulk'), await stand.newPartner('quiet')]
  await comparePrefills(stand, partner)
  await beside(stand, partner, quiet)
  await importMany(stand, partner)
} finally {
  await stand.close()
}
