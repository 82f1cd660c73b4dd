// Applies 100,000 offer changes that are due at one instant. Prints how many are applied in a second, and how much
// slower API calls become while further changes, due half an hour later, are applied beside them. Asserts nothing.
// Needs a build: node bench/due.mjs [--users 100000]
import { fork } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentileOf } from './generator.mjs'
import { demoCatalogue, headersOf, say, tokenOf } from './served.mjs'
import { asked } from './webhooks/asked.mjs'

const dist = new URL('../service/dist/', import.meta.url)
function load(name) {
  return import(new URL(name, dist).href)
}

// --- The caller is a process of its own, so that it does not share a thread with the service that it measures.
async function caller() {
  const { Agent, request, setGlobalDispatcher } = await import('undici')
  setGlobalDispatcher(new Agent({ connections: 64 }))
  const { baseUrl, headers, users } = JSON.parse(process.env.BENCH_TARGET)
  const call = async () => {
    const userid = `user${Math.floor(Math.random() * users)}`
    const isWrite = Math.random() < 0.2
    const path = isWrite ? '/user/prefill' : '/user/benefits'
    const body = isWrite ? { userid: `new-${userid}` } : { userid, age: 36, state: 'FL', zipcode: '33101' }
    const startedAt = performance.now()
    const answer = await request(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
    await answer.body.dump()
    return { ms: performance.now() - startedAt, ok: answer.statusCode === 200 }
  }
  const summary = (results, seconds) => {
    const times = results.map(one => one.ms)
    return {
      perSecond: results.length / seconds,
      failed: results.filter(one => !one.ok).length,
      p50: percentileOf(times, 0.5),
      p99: percentileOf(times, 0.99),
    }
  }
  const peak = async seconds => {
    const results = []
    const until = performance.now() + seconds * 1000
    const lane = async () => {
      while (performance.now() < until) results.push(await call())
    }
    await Promise.all(Array.from({ length: 32 }, lane))
    return summary(results, seconds)
  }
  let isOn = false
  const steady = async rate => {
    const results = []
    const startedAt = performance.now()
    const pending = new Set()
    // Calls start by the clock, whether earlier ones are answered or not, so that waiting times are not hidden.
    for (let sent = 0; isOn; ) {
      const dueBy = ((performance.now() - startedAt) / 1000) * rate
      for (; sent < dueBy; sent += 1) {
        const one = call().then(result => results.push(result))
        pending.add(one)
        one.finally(() => pending.delete(one))
      }
      await new Promise(done => setTimeout(done, 2))
    }
    await Promise.all(pending)
    return summary(results, (performance.now() - startedAt) / 1000)
  }
  process.on('message', async message => {
    if (message.peak) process.send(await peak(message.peak))
    if (message.steady) {
      isOn = true
      process.send(await steady(message.steady))
    }
    if (message.stop) isOn = false
  })
  process.send('ready')
}

// --- The service.

/** The service's clock, which the measurement moves. */
let offset = Date.parse('2026-10-20T12:00:00Z') - Date.now()
function real() {
  return Date.now() + offset
}

/** Opens an embedded database with the demo catalogue and one partner. */
async function openStage() {
  const { ownEmbeddedDatabase } = await import('@benefit-enrolment/embedded-postgres')
  const { openDatabase } = await load('db/database.js')
  const { migrate } = await load('db/migrate.js')
  const { markInstallation } = await load('installation.js')
  const { loadKeyring } = await load('vault/keyring.js')
  const { parseCatalogue } = await load('catalogue/parse.js')
  const { publishVersion } = await load('catalogue/published.js')
  const { createPartner } = await load('partners/administer.js')
  const { partnerOf } = await load('partners/keys.js')

  const dataDir = await mkdtemp(join(tmpdir(), 'bench-due-'))
  const owned = await ownEmbeddedDatabase({ dataDir, log: () => {} })
  const database = openDatabase(owned.address, { max: 10, onError: () => {} })
  const deliveryDatabase = openDatabase(owned.address, { max: 4, onError: () => {} })
  await migrate(database)
  const keyring = loadKeyring({ dataDir })
  const installation = await markInstallation(database, { keyring, wanted: 'live', now: real() })
  const catalogue = parseCatalogue(await readFile(demoCatalogue, 'utf8'))
  await publishVersion(database, { document: catalogue.document, files: [], at: real(), by: 'bench' })
  const made = await createPartner(
    { name: 'Bench' },
    { database, keyring, mode: 'live', real, by: 'bench', knownOffers: [] },
  )
  return {
    database,
    deliveryDatabase,
    keyring,
    installation,
    made,
    partner: partnerOf(made.row, keyring),
    async close() {
      await database.close()
      await deliveryDatabase.close()
      await owned.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Makes this many users, each with a change to a smaller plan at the month's end. */
async function makeUsers({ database, partner }, users) {
  const { sql } = await load('db/sql.js')
  const { openPublished } = await load('catalogue/published.js')
  const { clockOn } = await load('partners/partner.js')
  const { openCommandExecutor } = await load('membership/commands/executor.js')
  const { openTerms } = await load('membership/reading/open-terms.js')
  const { createAccount } = await load('accounts/lifecycle.js')
  const { changeOfferOf } = await load('offers/change.js')

  const published = openPublished({ database, real })
  const executor = openCommandExecutor({
    ...openTerms({ published, real }),
    database,
    clock: clockOn(real),
    sandbox: false,
    onWritten: () => {},
    onEvents: () => {},
  })
  await published.prepare([])
  const { offers } = published.today().catalogue
  const person = {
    firstname: 'Ada',
    lastname: 'R',
    email: 'a@example.com',
    dob: '1990-03-27',
    state: 'FL',
    zipcode: '33101',
  }
  const picks = ['telehealth', 'dental', 'vision']
  const downgradeLater = userid =>
    executor.submit({
      partner,
      userid,
      who: 'partner',
      why: 'bench',
      decide: context => {
        const terms = context.terms(person)
        const start = { offer: offers.get('plus'), picks, consents: [], startsAt: context.now }
        const created = createAccount(context.orNew(), start, context.now, terms)
        const wish = { offername: 'starter', action: 'auto', effective: 'auto' }
        const changed = changeOfferOf(created.user, wish, context.now, terms)
        return {
          change: { user: changed.user, events: [], documents: { profile: person } },
          answer: () => undefined,
        }
      },
    })
  process.stdout.write(`making ${users} users with a downgrade at the month's end …\n`)
  for (let from = 0; from < users; from += 2000) {
    const some = Array.from({ length: Math.min(2000, users - from) }, (_, index) =>
      downgradeLater(`user${from + index}`),
    )
    await Promise.all(some)
  }
  await database.query(sql`analyze`)
}

async function startOn({ database, deliveryDatabase, keyring, installation }) {
  const { startService } = await load('service.js')
  return startService({
    database,
    deliveryDatabase,
    keyring,
    installation,
    real,
    host: '127.0.0.1',
    port: 0,
    webhookRules: { sandbox: false, allow: [] },
    log: (event, fields) => event === 'schedule_failed' && console.error(event, fields),
  })
}

/** Starts a caller with a new token in a process of its own, and warms it up. */
async function startCaller(service, { made, partner }, users) {
  const { clientIdOf } = await load('oauth/client-credentials.js')
  const { clientSecret: clientsecret, apiKey: apikey } = made
  const credentials = { clientid: clientIdOf(partner.partnerId), clientsecret, apikey }
  const headers = headersOf(await tokenOf(service.address, credentials))
  const child = fork(fileURLToPath(import.meta.url), ['--caller'], {
    env: { ...process.env, BENCH_TARGET: JSON.stringify({ baseUrl: service.address, headers, users }) },
  })
  await asked(child)
  await asked(child, { peak: 2 })
  return child
}

/** Applies every due change; returns how many were applied in a second. */
async function applyAll(service, database) {
  const { sql } = await load('db/sql.js')
  const dueLeft = async () => {
    const now = new Date(real()).toISOString()
    return (await database.query(sql`select count(*) as count from users where due_at <= ${now}`))[0].count
  }
  const count = await dueLeft()
  const startedAt = performance.now()
  do await service.runDue()
  while ((await dueLeft()) > 0)
  return (count / (performance.now() - startedAt)) * 1000
}

/** Calls at this rate while `work` is under way. */
async function steadyDuring(child, rate, work) {
  const result = asked(child, { steady: rate })
  await work()
  child.send({ stop: true })
  return result
}

function showCalls(name, { perSecond, p50, p99, failed }) {
  say(
    name,
    `${perSecond.toFixed(0).padStart(7)}/s   p50 ${p50.toFixed(1)} ms   p99 ${p99.toFixed(1)} ms   failed ${failed}`,
  )
}

function showChanges(name, perSecond) {
  say(name, `${perSecond.toFixed(0).padStart(7)}/s`)
}

async function main(due) {
  const { sql } = await load('db/sql.js')
  // So many further changes are due half an hour later, while callers are at work.
  const users = due + Math.ceil(due / 5)
  const stage = await openStage()
  const { database } = stage
  await makeUsers(stage, users)
  const service = await startOn(stage)

  const child = await startCaller(service, stage, users)
  const peak = await asked(child, { peak: 5 })
  showCalls('API at its peak', peak)
  const without = await steadyDuring(
    child,
    peak.perSecond / 2,
    () => new Promise(done => setTimeout(done, 20_000)),
  )
  showCalls('API at half of it, nothing due', without)
  child.kill()

  await database.query(sql`
    update users set pending_offer_at = pending_offer_at + interval '30 minutes', due_at = due_at + interval '30 minutes'
    where pending_offer is not null and substring(userid from 5)::integer >= ${due}`)
  offset = Date.parse('2026-11-01T04:00:00Z') - Date.now()
  showChanges('due changes, alone', await applyAll(service, database))
  // The first caller's token has expired, because the clock has just moved by days.
  const again = await startCaller(service, stage, users)
  let beside = 0
  const withDue = await steadyDuring(again, peak.perSecond / 2, async () => {
    offset += 31 * 60_000
    beside = await applyAll(service, database)
  })
  again.kill()
  showCalls('API at half of its peak, beside it', withDue)
  showChanges('due changes, beside the API', beside)
  process.stdout.write(`p99 with due changes / without: ${(withDue.p99 / without.p99).toFixed(2)}\n`)
  await service.close()
  await stage.close()
}

if (process.argv.includes('--caller')) await caller()
else {
  const { values } = parseArgs({ options: { users: { type: 'string', default: '100000' } } })
  await main(Number(values.users))
}
