// The list of users and the monthly statement on a large partner: a page of users, the totals of an open month, making a month
// final beside reads, and a month as CSV. The users are written by SQL, without sealed documents, so that no time is for
// `moredetails`. Asserts nothing. Needs a build: node bench/month.mjs [--users 1000000]
import { parseArgs } from 'node:util'
import pg from 'pg'
import { percentileOf } from './generator.mjs'
import { processorSeconds, residentMegabytes } from './http/processor-time.mjs'
import { demoCatalogue, embeddedServer, headersOf, say, startServed } from './served.mjs'

const { values: options } = parseArgs({ options: { users: { type: 'string', default: '1000000' } } })
const users = Number(options.users)
const CHUNK = 50_000

/** Members since two months ago, with an offer, a fixed benefit and, every second one, another that costs something. */
async function fill(client, partnerId) {
  await client.query('set synchronous_commit = off')
  const since = `date_trunc('month', now() - interval '2 months') + interval '10 days'`
  const id = salt =>
    `(lpad(to_hex(1750000000000 + n), 12, '0') || '7000' || '8' || substr(md5(${salt}), 1, 15))::uuid`
  const user = id(`'u' || n`)
  const enrolment = benefit => `
    insert into enrolments (partner_id, service_id, enrolment_id, benefit, offer, is_fixed, state, catalogue_version, picked_at,
      starts_at)
    select '${partnerId}', ${user}, ${id(`'${benefit}' || n`)}, '${benefit}', 'plus', false, 'enrolled', 1, ${since}, ${since}`
  for (let from = 0; from < users; from += CHUNK) {
    const numbers = `from generate_series(${from}, ${Math.min(users, from + CHUNK) - 1}) n`
    for (const text of [
      `insert into users (partner_id, service_id, userid, status, created_at, updated_at, offer, offer_since, offer_version,
        offer_in_force) select '${partnerId}', ${user}, 'u' || n, 'active', ${since}, ${since}, 'plus', ${since}, 1, true ${numbers}`,
      `insert into held_periods (partner_id, service_id, name, starts_at, catalogue_version, is_offer)
        select '${partnerId}', ${user}, 'plus', ${since}, 1, true ${numbers}`,
      `${enrolment('accident')} ${numbers}`,
      `${enrolment('critical')} ${numbers} where n % 2 = 0`,
    ])
      await client.query(text)
  }
  await client.query('vacuum analyze')
}

async function main() {
  const served = await startServed('month')
  try {
    served.enrolment('catalogue', 'publish', demoCatalogue)
    const partner = await served.newPartner('month')
    const server = embeddedServer(served.dataDir)
    const client = new pg.Client({ ...server, user: 'postgres' })
    await client.connect()
    await client.query('set statement_timeout = 0')
    await fill(client, partner.partnerid)
    await client.end()
    const { pid } = served.services[0].child
    const get = async (path, more = {}) => {
      const startedAt = performance.now()
      const answer = await fetch(served.address + path, { headers: { ...headersOf(partner), ...more } })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return { answer, startedAt }
    }
    await tellPages(get, { pid, server })
    await tellTotals(get)
    await tellFinal(served, partner, get)
    await tellFile(get, pid)
  } finally {
    await served.close()
  }
}

function ms(value) {
  return `${value.toFixed(1)} ms`
}

/** Walks over the first 100,000 users, at first once more to be warm. */
async function tellPages(get, { pid, server }) {
  for (const isWarm of [false, true]) {
    const times = []
    const before = { node: processorSeconds([pid], [server.pid]), memory: residentMegabytes(pid) }
    let [count, next] = [0, undefined]
    while (next !== null && count < 100_000) {
      const { answer, startedAt } = await get(next === undefined ? '/users' : `/users?after=${next}`)
      const page = await answer.json()
      times.push(performance.now() - startedAt)
      count += page.users.length
      next = page.next
    }
    if (!isWarm) continue
    const micros = ((processorSeconds([pid], [server.pid]) - before.node) * 1e6) / count
    say(
      'a page of 500 users: p50, p99',
      `${ms(percentileOf(times, 0.5))}, ${ms(percentileOf(times, 0.99))} (aim 40)`,
    )
    say('  processor time in Node a user', `${micros.toFixed(1)} µs (aim 60)`)
    say('  memory before and after the walk', `${before.memory} MB, ${residentMegabytes(pid)} MB`)
  }
}

async function tellTotals(get) {
  for (const what of ['totals of the open months', '  again, remembered']) {
    const { answer, startedAt } = await get('/statements')
    const { statements } = await answer.json()
    const open = statements.filter(one => one.status === 'open')
    say(what, `${ms(performance.now() - startedAt)}, ${open.length} months of ${statements[0].users} users`)
  }
}

/** Makes the oldest month final by the command, a process of its own, beside one read after the other. */
async function tellFinal(served, partner, get) {
  const { statements } = served.enrolment('statement', 'list', partner.partnerid)
  const { month } = statements.at(-1)
  const read = async () => {
    const { answer, startedAt } = await get('/webhooks')
    await answer.arrayBuffer()
    return performance.now() - startedAt
  }
  const alone = []
  for (let count = 0; count < 1000; count += 1) alone.push(await read())
  const startedAt = performance.now()
  const done = served.run('statement', 'finalize', partner.partnerid, month)
  let isDone = false
  void done.finally(() => {
    isDone = true
  })
  const beside = []
  while (!isDone) beside.push(await read())
  await done
  const seconds = (performance.now() - startedAt) / 1000
  const each = ((seconds * 1e6) / users).toFixed(0)
  say(`making ${month} final`, `${seconds.toFixed(1)} s for ${users} users, ${each} µs a user (aim 180)`)
  const ratio = percentileOf(beside, 0.99) / percentileOf(alone, 0.99)
  say('  p99 of reads beside it over alone', `${ratio.toFixed(2)} (aim 1.5)`)
}

/** Reads the final month as a file. */
async function tellFile(get, pid) {
  const { answer: list } = await get('/statements')
  const month = (await list.json()).statements.at(-1).month
  const before = residentMegabytes(pid)
  let most = before
  const { answer, startedAt } = await get(`/statements/${month}/lines`, { accept: 'text/csv' })
  let lines = 0
  for await (const chunk of answer.body) {
    for (const byte of chunk) if (byte === 10) lines += 1
    most = Math.max(most, residentMegabytes(pid))
  }
  const seconds = (performance.now() - startedAt) / 1000
  say('a month as CSV', `${lines} lines, ${Math.round(lines / seconds)} lines a second (aim 20,000)`)
  say('  memory before and at most', `${before} MB, ${most} MB (aim 50 more)`)
}

await main()
