// Runs of a feed over many members with three covers each, as `enrolment feed run` on an embedded PostgreSQL beside `serve`:
//   first     the insurer is told about every member
//   changes   one in a hundred has got another name since; all others are unchanged by their version alone
//   full      the insurer is told about every member again, in one file
// Prints time, lines a second, the most memory and the processor time of the command, and how much slower another partner's reads are
// beside it. The members come by `enrolment import`, with sealed data. Asserts nothing. Needs a build:
//   node bench/feeds.mjs [--users 1000000]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { percentileOf, person } from './generator.mjs'
import { demoCatalogue, headersOf, say, startServed } from './served.mjs'

const { values } = parseArgs({ options: { users: { type: 'string', default: '1000000' } } })
const users = Number(values.users)
const bin = new URL('../service/bin/enrolment.js', import.meta.url).pathname
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
`

/** A file of members with the two fixed benefits of the offer and another one. */
async function writeMembers(path, { from, count, name }) {
  const file = createWriteStream(path)
  file.write(
    'userid,firstname,lastname,email,zipcode,state,dob,phone,addline1,city,offername,offersince,benefits\n',
  )
  for (let at = from; at < from + count; at += 1)
    if (
      !file.write(
        `m${at},Ada,${name}${at},a${at}@example.com,33101,FL,1980-01-0${1 + (at % 9)},3055550142,${at} Ocean Drive,Miami,plus,2024-05-01,critical@2024-06-01\n`,
      )
    )
      await once(file, 'drain')
  await new Promise(resolve => file.end(resolve))
}

/** Runs a command to its end; returns what it printed, and what it took. */
async function measured(served, ...words) {
  const args = ['-f', '%U %M', process.execPath, bin, ...words, '--data', served.dataDir, '--json']
  const child = spawn('/usr/bin/time', args, {
    env: { PATH: process.env.PATH, HOME: served.scratch, ENROLMENT_FEEDS: served.scratch },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', part => (out += part))
  child.stderr.on('data', part => (err += part))
  const startedAt = performance.now()
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(err)
  const [node, kilobytes] = err.trim().split('\n').at(-1).split(' ').map(Number)
  return {
    ...JSON.parse(out),
    seconds: (performance.now() - startedAt) / 1000,
    node,
    megabytes: kilobytes / 1024,
  }
}

/** The times of one read after the other, until it `isDone`. */
async function readUntil(served, quiet, isDone) {
  const times = []
  while (!isDone(times.length)) {
    const startedAt = performance.now()
    const answer = await fetch(`${served.address}/user/benefits`, {
      method: 'POST',
      headers: headersOf(quiet),
      body: JSON.stringify({ userid: 'q-1', age: 36, state: 'FL', zipcode: '33101' }),
    })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
    times.push(performance.now() - startedAt)
  }
  return times
}

const served = await startServed('feeds')
try {
  served.enrolment('catalogue', 'publish', demoCatalogue)
  const [partner, quiet] = [await served.newPartner('feeds'), await served.newPartner('quiet')]
  const body = JSON.stringify({ userid: 'q-1', ...person })
  await fetch(`${served.address}/user/prefill`, { method: 'POST', headers: headersOf(quiet), body })
  const members = join(served.scratch, 'members.csv')
  await writeMembers(members, { from: 0, count: users, name: 'King' })
  const imported = await measured(served, 'import', partner.partnerid, members, '--reason', 'bench')
  say('members imported', `${imported.taken} in ${imported.seconds.toFixed(0)} s`)
  writeFileSync(join(served.scratch, 'feeds.yaml'), feeds)
  served.enrolment('feed', 'publish', join(served.scratch, 'feeds.yaml'))
  const alone = await readUntil(served, quiet, count => count === 1000)
  const tell = async (name, ...more) => {
    let isDone = false
    const running = measured(served, 'feed', 'run', 'bench', ...more).finally(() => {
      isDone = true
    })
    const beside = await readUntil(served, quiet, () => isDone)
    const { lines, seconds, node, megabytes } = await running
    const rate = Math.round(lines / seconds)
    say(
      name,
      `${lines} lines in ${seconds.toFixed(1)} s: ${rate}/s, ${node.toFixed(1)} s in Node, ${Math.round(megabytes)} MB`,
    )
    const ratio = percentileOf(beside, 0.99) / percentileOf(alone, 0.99)
    say('  p99 of reads beside it over alone', `${ratio.toFixed(2)} (aim 1.5)`)
  }
  await tell('the first run (aim 10,000/s)')
  const changed = Array.from({ length: Math.ceil(users / 100) }, (_, at) => at * 100)
  for (let at = 0; at < changed.length; at += 32)
    await Promise.all(
      changed.slice(at, at + 32).map(async index => {
        const answer = await fetch(`${served.address}/user/account/update`, {
          method: 'POST',
          headers: headersOf(partner),
          body: JSON.stringify({ userid: `m${index}`, lastname: 'Lovelace' }),
        })
        if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
      }),
    )
  await tell('a run of which 1 % changed (aim 180 s, 250 MB)')
  await tell('a full file (aim 10,000/s)', '--full')
} finally {
  await served.close()
}
