// How fast the operators' console is on a full database, and what partners notice of operators at work.
//   npm run bench:console -- [--users 1000000] [--events 10000000] [--agents 10] [--seconds 30] [--rate 100] [--keep DIR]
// It fills an embedded database, or the empty one of DATABASE_URL: some people by the API, whom the agents look at, and the
// rest by SQL. Then partners ask at a steady rate, in rounds that take turns: alone, and beside agents who open every screen,
// one after the other; `--seconds` is the time of each kind together. After each screen an agent reads for 1 to 3 s, as a
// fast reader does: ten agents open about five screens a second. Each screen's time runs to its first byte. `--keep DIR` keeps
// the data there, fills it once, and adds the events that have become too old since; `--analyze no` leaves the planner as
// ignorant as after a restore. The console runs in a process of its own, `enrolment console`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findRunningDatabase } from '@benefit-enrolment/embedded-postgres'
import pg from 'pg'
import { addEvents, addLists, addUsers } from './console-fill.mjs'
import { send } from './console-request.mjs'
import { percentileOf } from './generator.mjs'
import { demoCatalogue, headersOf, say, startServed, tokenOf } from './served.mjs'

const { values: options } = parseArgs({
  options: {
    users: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '10000000' },
    agents: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '30' },
    rate: { type: 'string', default: '100' },
    analyze: { type: 'string', default: 'yes' },
    keep: { type: 'string' },
  },
})
const wanted = { users: Number(options.users), events: Number(options.events) }
const agents = Number(options.agents)
const seconds = Number(options.seconds)
const rate = Number(options.rate)
const ROUND_SECONDS = 40
/** How often all agents open a screen in the same instant, after the rounds. */
const RUSHES = 10
if (options.keep) mkdirSync(options.keep, { recursive: true, mode: 0o700 })
const isNew = !options.keep || !existsSync(join(options.keep, 'data'))

const { DATABASE_URL } = process.env
const served = await startServed('console', {
  place: options.keep,
  env: { DATABASE_URL, ENROLMENT_LOG: 'error' },
})
const { scratch, dataDir, address, enrolment } = served

const client = new pg.Client(DATABASE_URL ?? (await findRunningDatabase({ dataDir })))
await client.connect()
const consoleUrl = await served.startConsole()
try {
  if (isNew) {
    enrolment('catalogue', 'publish', demoCatalogue)
    for (const name of ['Harbor Rides', 'Corner Eats', 'Night Freight', 'Quick Hands'])
      enrolment('partner', 'create', '--name', name)
  }
  const partnerFile = join(scratch, 'partner.json')
  const partner = isNew
    ? enrolment('partner', 'create', '--name', 'Long Haul')
    : JSON.parse(readFileSync(partnerFile, 'utf8'))
  writeFileSync(partnerFile, JSON.stringify(partner), { mode: 0o600 })
  const headers = headersOf(await tokenOf(address, partner))
  const call = (path, body) => send(address + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const people = await createPeople(call, 400)
  if (isNew) {
    const begun = performance.now()
    await addUsers(client, { ...wanted, partnerId: partner.partnerid, say })
    await addEvents(client, { ...wanted, partnerId: partner.partnerid, say })
    if (options.analyze === 'yes') await client.query('vacuum (analyze)')
    say('filled', `${Math.round((performance.now() - begun) / 1000)} s`)
  } else await addEvents(client, { ...wanted, partnerId: partner.partnerid, say })
  await addLists(client, partner.partnerid)
  const { rows } = await client.query(
    'select (select count(*) from users) as users, (select count(*) from events) as events',
  )
  say('users, events', `${rows[0].users}, ${rows[0].events}`)

  const sessions = []
  for (let index = 0; index < agents; index += 1) sessions.push(await signIn(index))
  const operators = fork(fileURLToPath(new URL('console-agents.mjs', import.meta.url)))
  process.once('exit', () => operators.kill())
  operators.once('exit', code => {
    if (code !== 0) throw new Error('the process of the operators has ended')
  })
  const ask = (task, given) => operators.send({ task, ...given })
  ask('meet', { url: consoleUrl, sessions, people, partnerId: partner.partnerid })
  const quiet = []
  const beside = []
  // What is slow only in the first seconds of a process is none of the two.
  await readApi(call, people, Math.min(10, seconds))
  for (let left = seconds; left > 0; left -= ROUND_SECONDS) {
    const round = Math.min(ROUND_SECONDS, left)
    quiet.push(...(await readApi(call, people, round)))
    ask('work')
    beside.push(...(await readApi(call, people, round)))
    ask('rest')
    await once(operators, 'message')
    // What operators began, such as counts, ends before partners are read alone again.
    await sleep(5000)
  }
  for (let times = 0; times < RUSHES; times += 1) {
    ask('rush')
    await once(operators, 'message')
    await sleep(1000)
  }
  ask('tell')
  const [{ reads, rush }] = await once(operators, 'message')
  const screens = new Map()
  for (const read of reads) screens.set(read.name, [...(screens.get(read.name) ?? []), read])
  say(`the API alone at ${rate}/s`, describe(quiet))
  say(`beside ${agents} agents`, describe(beside))
  say('p99 beside over alone', (percentileOf(beside, 0.99) / percentileOf(quiet, 0.99)).toFixed(2))
  for (const [name, all] of [...screens].sort()) {
    const wrong = all.filter(one => one.status >= 400)
    say(
      name,
      `${describe(all.map(one => one.ms))}${wrong.length > 0 ? `, ${wrong.length} answered ${wrong[0].status}` : ''}`,
    )
  }
  say(`${agents} screens in the same instant`, describe(rush.map(one => one.ms)))
  say('all screens', describe([...screens.values()].flat().map(one => one.ms)))
} finally {
  await client.end()
  await served.close()
}

/** Creates people through the API, so that their data is sealed like that of real ones. */
async function createPeople(call, count) {
  const people = []
  for (let from = 0; from < count; from += 8)
    people.push(
      ...(await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const userid = `rider-${Date.now()}-${from + index}`
          const person = {
            firstname: 'Ada',
            lastname: 'Rivera',
            email: `${userid}@example.com`,
            phone: '3055550142',
            dob: '1990-03-27',
            state: 'FL',
            zipcode: '33101',
            gender: 'F',
          }
          const body = { userid, ...person, offername: 'starter', benefits: ['telehealth'] }
          const { status, text } = await call('/user/account/create', body)
          if (status !== 200) throw new Error(`create: ${status} ${text}`)
          return { userid, email: person.email, serviceid: JSON.parse(text).serviceid }
        }),
      )),
    )
  return people
}

/**
 * The milliseconds of each of the partners' requests at a steady rate, however long the answers take; one in ten is a
 * write.
 */
async function readApi(call, people, seconds) {
  const times = []
  const refused = []
  const under = []
  const begun = performance.now()
  for (let sent = 0; sent < rate * seconds; sent += 1) {
    const wait = begun + (sent * 1000) / rate - performance.now()
    if (wait > 0) await sleep(wait)
    const { userid } = people[sent % people.length]
    const body =
      sent % 10 === 0
        ? ['/user/prefill', { userid: `new-${Date.now()}-${sent}`, firstname: 'Ada', dob: '1990-03-27' }]
        : [
            '/user/benefits',
            { userid, age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' },
          ]
    under.push(
      call(...body).then(({ status, ms }) => {
        // Counted separately, so that a machine that cannot keep up does not look fast.
        if (status === 200) times.push(ms)
        else refused.push(status)
      }),
    )
  }
  await Promise.all(under)
  if (refused.length > 0)
    say('not answered with 200', `${refused.length} of ${refused.length + times.length}`)
  return times
}

/** Signs an operator in, and finds an endpoint to look at. */
async function signIn(index) {
  const { path } = enrolment('operator', 'add', `agent-${Date.now()}-${index}`, '--role', 'admin')
  const form = { origin: consoleUrl, 'content-type': 'application/x-www-form-urlencoded' }
  const signed = await send(consoleUrl + path, { method: 'POST', headers: form })
  const cookie = signed.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const { text } = await send(`${consoleUrl}/webhooks`, { headers: { cookie } })
  const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const webhook = /\/webhooks\/([\da-f-]{36})/.exec(text)?.[1]
  return { cookie, token, webhook, form }
}

function describe(times) {
  const [least, median, p95, p99] = [0, 0.5, 0.95, 0.99].map(share =>
    (percentileOf(times, share) ?? 0).toFixed(1),
  )
  return `fastest ${least}, median ${median}, p95 ${p95}, p99 ${p99} ms of ${times.length}`
}
