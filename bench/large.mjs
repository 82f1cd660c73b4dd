// Everything that is done to many users at once, one part after the other on one `serve`, with how much slower another partner's reads
// become beside each:
//   import   a file of members with three covers each, and the same file again
//   pages    the list of users, page by page
//   families the list of users who each have a spouse and two children in two benefits, beside that of as many users alone
//   feeds    an insurer is told about all of them; then 1 % get another name, and it is told the changes; then all again
//   bulk     prefills in bulks, 10,000 lines each
//   month    the totals of open months, twice; a month made final by the command; that month as CSV. These members are written by
//            SQL, as they need months that are over
//   due      a cancel of each member, all due at one instant
// Prints time, rate, processor time and the most memory, and the aim beside each figure that has one; asserts nothing. Needs a build:
//   node bench/large.mjs [--users 100000] [--only import,month]     feeds and due need import
import { once } from 'node:events'
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { percentileOf, person } from './generator.mjs'
import { processorSeconds, residentMegabytes } from './http/processor-time.mjs'
import { fillMembers } from './members.mjs'
import { embeddedServer, headersOf, say, startServed } from './served.mjs'

const { values } = parseArgs({
  options: { users: { type: 'string', default: '100000' }, only: { type: 'string' } },
})
const users = Number(values.users)
const LINES_OF_BULK = 10_000
const MOST_FAMILIES = 5000
const feeds = `schema: 1
feeds:
  - feed: bench
    insurer: seaview
    benefits: [accident, hospital, critical]
    format: csv
    columns:
      - { name: LINE, value: line }
      - { name: MEMBER, value: serviceid }
      - { name: ACTION, value: action }
      - { name: LAST, value: lastname }
      - { name: FIRST, value: firstname }
      - { name: BORN, value: dob }
      - { name: PLAN, value: benefit }
      - { name: FROM, value: startson }
      - { name: TO, value: endson }
      - { name: WHO, value: who }
`

const served = await startServed('large', {
  env: { ENROLMENT_FEEDS: 'feeds' },
})
const server = embeddedServer(served.dataDir)
const { pid } = served.services[0].child
const sql = new pg.Client({ ...server, user: 'postgres' })
const parts = { import: importMany, pages, families, feeds: runFeeds, bulk, month, due }
let partner
let quiet
let alone

try {
  served.publishDemo()
  partner = await served.newPartner('large')
  quiet = await served.newPartner('quiet')
  await sql.connect()
  await sql.query('set statement_timeout = 0; set synchronous_commit = off')
  await call(quiet, '/user/prefill', { userid: 'q-1', ...person })
  // As fast as it becomes.
  await readUntil(count => count === 1000)
  alone = percentileOf(await readUntil(count => count === 1000), 0.99)
  for (const name of values.only?.split(',') ?? Object.keys(parts)) await parts[name]()
} finally {
  await sql.end()
  await served.close()
}

async function call(who, path, body, more = {}) {
  const init = { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }
  const headers = { ...headersOf(who), ...more }
  const answer = await fetch(served.address + path, { headers, ...(body === undefined ? {} : init) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

/** The times of one read of another partner after the other, until it `isDone`. */
async function readUntil(isDone) {
  const times = []
  while (!isDone(times.length)) {
    const startedAt = performance.now()
    const answer = await call(quiet, '/user/benefits', {
      userid: 'q-1',
      age: 36,
      state: 'FL',
      zipcode: '33101',
    })
    await answer.arrayBuffer()
    times.push(performance.now() - startedAt)
  }
  return times
}

/** Does something, and tells what it took for each of so many. `of` is the process that works, else the service. */
async function tell(name, count, work, aim = '') {
  const before = { node: processorSeconds([pid], [server.pid]), database: processorSeconds([server.pid]) }
  let isDone = false
  let most = residentMegabytes(pid)
  const look = setInterval(() => {
    most = Math.max(most, residentMegabytes(pid))
  }, 100)
  const startedAt = performance.now()
  const working = work().finally(() => {
    isDone = true
  })
  const beside = await readUntil(() => isDone)
  const result = await working
  clearInterval(look)
  const seconds = (performance.now() - startedAt) / 1000
  const node = result?.node ?? processorSeconds([pid], [server.pid]) - before.node
  const database = processorSeconds([server.pid]) - before.database
  const each = spent => `${((spent * 1e6) / count).toFixed(0)} µs`
  say(name, `${count} in ${seconds.toFixed(1)} s: ${Math.round(count / seconds)}/s${aim}`)
  say(
    '  each in Node, in PostgreSQL; memory',
    `${each(node)}, ${each(database)}; ${Math.round(result?.most ?? most)} MB`,
  )
  say('  p99 of reads beside it over alone', `${(percentileOf(beside, 0.99) / alone).toFixed(2)} (aim 1.5)`)
  return result
}

/** Runs a command to its end; returns what it printed, its processor time and its most memory. */
async function command(...words) {
  const child = served.spawn(...words)
  let [out, node, most] = ['', 0, 0]
  child.stdout.on('data', part => (out += part))
  const look = setInterval(() => {
    node = Math.max(node, processorSeconds([child.pid], [server.pid]))
    most = Math.max(most, residentMegabytes(child.pid) || 0)
  }, 50)
  const [status] = await once(child, 'close')
  clearInterval(look)
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${served.log()}`)
  return { ...JSON.parse(out), node, most }
}

async function importMany() {
  const path = join(served.scratch, 'members.csv')
  const file = createWriteStream(path)
  file.write(
    'userid,firstname,lastname,email,zipcode,state,dob,phone,addline1,city,offername,offersince,benefits\n',
  )
  for (let at = 0; at < users; at += 1) {
    const line = `m${at},Ada,King${at},a${at}@example.com,33101,FL,1980-01-0${1 + (at % 9)},3055550142,${at} Ocean Drive,Miami,plus,2024-05-01,critical@2024-06-01\n`
    if (!file.write(line)) await once(file, 'drain')
  }
  await new Promise(resolve => file.end(resolve))
  for (const name of ['import (aim 1,667/s)', 'the same file again']) {
    const words = ['import', partner.partnerid, path, '--reason', 'bench']
    const { taken, equal } = await tell(name, users, () => command(...words))
    say('  taken, equal', `${taken}, ${equal}`)
  }
}

async function pages() {
  for (const name of ['a first walk over the list of users', 'the list of users (aim 60 µs, memory flat)']) {
    const times = []
    await tell(name, users, async () => {
      for (let next = ''; next !== null; ) {
        const startedAt = performance.now()
        const page = await (await call(partner, `/users${next && `?after=${next}`}`)).json()
        times.push(performance.now() - startedAt)
        next = page.next
      }
    })
    say('  a page of 500: p50', `${percentileOf(times, 0.5).toFixed(1)} ms (aim 40)`)
  }
}

async function families() {
  const lists = []
  for (const isFamily of [false, true]) {
    const who = await served.newPartner(isFamily ? 'families' : 'alone')
    const path = join(served.scratch, `${isFamily ? 'families' : 'alone'}.ndjson`)
    const benefits = ['hospital', 'dental'].map(name => ({ name }))
    const dependants = ['spouse', 'child', 'child'].map(relationship => ({
      ...{ relationship, firstname: 'Grace', lastname: 'King', dob: '2015-05-04', benefits },
    }))
    const member = {
      ...{ ...person, offername: 'plus', offersince: '2024-05-01', benefits: ['dental'] },
      ...(isFamily && { dependants }),
    }
    const lines = Array.from({ length: Math.min(users, MOST_FAMILIES) }, (_, at) =>
      JSON.stringify({ userid: `m${at}`, ...member }),
    )
    writeFileSync(path, lines.join('\n'))
    await command('import', who.partnerid, path, '--reason', 'bench')
    lists.push({ who, name: isFamily ? 'users with families' : 'users alone' })
  }
  await walkInTurns('a first walk', 1)
  await walkInTurns('later walks', 3)

  /** Page by page, so that what else the machine does meets both lists. */
  async function walkInTurns(name, rounds) {
    for (const list of lists) list.times = []
    for (let round = 0; round < rounds; round += 1) {
      for (const list of lists) list.next = ''
      while (lists.some(({ next }) => next !== null))
        for (const list of lists) {
          const startedAt = performance.now()
          const page = await (await call(list.who, `/users${list.next && `?after=${list.next}`}`)).json()
          list.times.push(performance.now() - startedAt)
          list.next = page.next
        }
    }
    const halves = lists.map(({ times }) => percentileOf(times, 0.5))
    for (const [at, list] of lists.entries())
      say(`${name}, 500 ${list.name}: p50`, `${halves[at].toFixed(1)} ms`)
    say('  families over alone', `${(halves[1] / halves[0]).toFixed(2)} (aim 1.3)`)
  }
}

async function runFeeds() {
  const path = join(served.scratch, 'feeds.yaml')
  writeFileSync(path, feeds)
  served.enrolment('feed', 'publish', path)
  const run = (name, count, ...more) => tell(name, count, () => command('feed', 'run', 'bench', ...more))
  await run('feed: the first run', 3 * users)
  for (let at = 0; at < users; at += 3200) {
    const some = Array.from({ length: 32 }, (_, index) => at + index * 100).filter(index => index < users)
    const rename = index =>
      call(partner, '/user/account/update', { userid: `m${index}`, lastname: 'Lovelace' })
    await Promise.all(some.map(rename))
  }
  await run('feed: 1 % changed (aim 180 s for 1,000,000)', Math.ceil(users / 100) * 3)
  await run('feed: a full file (aim 10,000/s)', 3 * users, '--full')
}

/** Sends these lines in bulks; fails when one is not answered 200. */
async function sendBulks(lines) {
  let taken = 0
  for (let at = 0; at < lines.length; at += LINES_OF_BULK) {
    const body = lines.slice(at, at + LINES_OF_BULK).map(line => `${JSON.stringify(line)}\n`)
    const answer = await call(partner, '/user/bulk', body.join(''), {
      'content-type': 'application/x-ndjson',
    })
    taken += (await answer.text()).split('"status":200').length - 1
  }
  if (taken !== lines.length) throw new Error(`${taken} of ${lines.length} lines were answered 200`)
}

async function bulk() {
  const lines = Array.from({ length: users }, (_, at) => {
    const userid = `b-${at}`
    return { operation: 'prefill', key: userid, body: { userid, ...person } }
  })
  await tell('prefills in bulks', users, () => sendBulks(lines))
}

async function month() {
  const other = await served.newPartner('month')
  await fillMembers(sql, other.partnerid, users)
  for (const name of ['totals of the open months (aim 20 µs)', 'again, remembered'])
    await tell(name, users, () => call(other, '/statements').then(answer => answer.text()))
  const { statements } = served.enrolment('statement', 'list', other.partnerid)
  const last = statements.at(-1).month
  await tell(`making ${last} final (aim 180 µs)`, users, () =>
    command('statement', 'finalize', other.partnerid, last),
  )
  let lines = 0
  await tell('that month as CSV (aim 20,000 lines/s)', users, async () => {
    const { body } = await call(other, `/statements/${last}/lines`, undefined, { accept: 'text/csv' })
    for await (const chunk of body) for (const byte of chunk) if (byte === 10) lines += 1
  })
  say('  lines', String(lines))
}

async function due() {
  const lines = Array.from({ length: users }, (_, at) => ({
    operation: 'cancel',
    body: { userid: `m${at}`, effective: 'endofperiod' },
  }))
  await sendBulks(lines)
  const left = async () => {
    const text = 'select count(*)::integer as count from users where partner_id = $1 and due_at <= now()'
    return (await sql.query(text, [partner.partnerid])).rows[0].count
  }
  await tell('cancels, all due at one instant', users, async () => {
    await sql.query(
      `update users set cancel_at = now(), due_at = now() where partner_id = $1 and cancel_at > now()`,
      [partner.partnerid],
    )
    do await sleep(100)
    while ((await left()) > 0)
  })
}
