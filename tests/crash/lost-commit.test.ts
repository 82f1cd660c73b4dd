import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { urlOf } from '../command/database-url.ts'
import { type Created, clientOf } from '../command/place.ts'
import { newDirectory, runJson, type ServiceProcess, startKeptProcess } from '../command/process.ts'
import { wholeRunTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, demoCatalogueFile, freshDatabase } from '../rig.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'

// A service that reaches its database through a proxy, and a direct connection for the test.
let proxy: PostgresProxy
let service: ServiceProcess
let database: Database
let client: Client
let partnerId: string
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const { address, drop } = await freshDatabase()
  const { path: cwd, remove } = await newDirectory()
  proxy = await startPostgresProxy(address)
  const rootKey = { ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') }
  service = await startKeptProcess(['serve', '--port', '0'], {
    cwd,
    env: { ...rootKey, DATABASE_URL: proxy.url },
  })
  const direct = { cwd, env: { ...rootKey, DATABASE_URL: urlOf(address) } }
  await runJson(['catalogue', 'publish', demoCatalogueFile], direct)
  const partner = await runJson<Created>(
    ['partner', 'create', '--name', 'Lost', '--offer', 'starter'],
    direct,
  )
  partnerId = partner.partnerid
  database = openDatabase(address, { max: 2, ...patientDatabase })
  client = clientOf(service, partner, { timeoutMs: 30_000 })
  endings.push(
    () => service.stop(),
    proxy.close,
    () => database.close(),
    drop,
    remove,
  )
})
afterAll(async () => {
  for (const end of endings) await end()
})

/** How often the prefill of this user took effect, by its row, its history and its events, which must agree. */
async function effectsOn(userid: string): Promise<number> {
  const [row] = await database.query<{ users: number; prefills: number; lines: number; events: number }>(sql`
    select count(*)::integer as users, coalesce(sum(prefill_count), 0)::integer as prefills,
      (select count(*)::integer from history h join users o using (partner_id, service_id)
        where o.partner_id = ${partnerId} and o.userid = ${userid} and h.lines @> '[["prefill"]]') as lines,
      (select count(*)::integer from events e where e.partner_id = ${partnerId} and e.userid = ${userid}
        and e.eventname = 'enrollment_request_received') as events
    from users where partner_id = ${partnerId} and userid = ${userid}`)
  if (!row) throw new Error('a count has a row')
  expect([row.lines, row.events]).toEqual([row.prefills, row.prefills])
  expect(row.users).toBe(row.prefills === 0 ? 0 : 1)
  return row.prefills
}

function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
}

let count = 0
function newUserid() {
  count += 1
  return `lost-${count}-${randomBytes(3).toString('hex')}`
}
const settled = { interval: 100 }

describe('a keyed prefill whose commit was lost is answered as done, and has one effect', () => {
  test.each(['before', 'after', 'late'] as const)('cut %s it', async fate => {
    const userid = newUserid()
    const met = proxy.arm(fate, userid)
    const prefill = () => client.prefillUser({ userid, ...ada }, { idempotencyKey: userid })
    expect(await outcomeOf(prefill())).toBe('done')
    await met
    expect(await effectsOn(userid)).toBe(1)
    expect(await outcomeOf(prefill())).toBe('user_exists')
    expect(await effectsOn(userid)).toBe(1)
  })

  test('on a user who was there before', async () => {
    const userid = newUserid()
    await client.prefillUser({ userid, ...ada })
    for (const [index, fate] of (['before', 'after', 'late'] as const).entries()) {
      const met = proxy.arm(fate, `${userid}`)
      expect(
        await outcomeOf(
          client.prefillUser({ userid, firstname: fate }, { idempotencyKey: `${userid}-${fate}` }),
        ),
      ).toBe('done')
      await met
      expect(await effectsOn(userid)).toBe(index + 2)
    }
  })
})

describe('a prefill without a key whose commit was lost', () => {
  test('is answered as done when it was', async () => {
    const userid = newUserid()
    const met = proxy.arm('after', userid)
    expect(await outcomeOf(client.prefillUser({ userid, ...ada }, { version: 'v1' }))).toBe('done')
    await met
    expect(await effectsOn(userid)).toBe(1)
  })

  test('is answered 503 when it was not, and has no effect', async () => {
    const userid = newUserid()
    const met = proxy.arm('before', userid)
    expect(await outcomeOf(client.prefillUser({ userid, ...ada }, { version: 'v1' }))).toBe('unavailable')
    await met
    expect(await effectsOn(userid)).toBe(0)
  })

  test('is never applied twice when the commit comes through late', async () => {
    const userid = newUserid()
    const met = proxy.arm('late', userid)
    const outcome = await outcomeOf(client.prefillUser({ userid, ...ada }, { version: 'v1' }))
    await met
    await expect.poll(() => effectsOn(userid), settled).toBe(1)
    expect(['done', 'unavailable']).toContain(outcome)
  })
})

test('those with a key and those without one, written together, each get their own truth', async () => {
  const marker = newUserid()
  const met = proxy.arm('before', marker)
  const calls = Array.from({ length: 40 }, (_, index) => {
    const userid = `${marker}-${index}`
    const options = index % 2 === 0 ? { idempotencyKey: userid } : { version: 'v1' as const }
    return outcomeOf(client.prefillUser({ userid, ...ada }, options)).then(outcome => ({
      userid,
      index,
      outcome,
    }))
  })
  const answers = await Promise.all(calls)
  await met
  for (const { userid, index, outcome } of answers) {
    if (index % 2 === 0) expect(outcome).toBe('done')
    expect(['done', 'unavailable']).toContain(outcome)
    expect(await effectsOn(userid)).toBe(outcome === 'done' ? 1 : 0)
  }
})

test('a keyed create whose answer was lost gives the same user, once', async () => {
  for (const fate of ['after', 'before', 'late'] as const) {
    const userid = newUserid()
    const met = proxy.arm(fate, userid)
    const create = () => client.createUser({ userid, ...ada }, { idempotencyKey: userid })
    const created = await create()
    await met
    expect(await create()).toEqual(created)
    const events = await database.query<{ eventname: string }>(
      sql`select eventname from events where userid = ${userid} order by event_id`,
    )
    expect(events.map(event => event.eventname)).toEqual([
      'enrollment_successful',
      'offer_activiation_successful',
    ])
  }
})

wholeRunTest(
  'a connection that falls silent holds nobody up for long, and the truth is still told',
  async () => {
    const userid = newUserid()
    const met = proxy.arm('silent', userid)
    const first = outcomeOf(client.prefillUser({ userid, ...ada }, { idempotencyKey: userid }))
    await met
    const neighbour = newUserid()
    const second = outcomeOf(client.prefillUser({ userid: neighbour }, { idempotencyKey: neighbour }))
    expect([await first, await second]).toEqual(['done', 'done'])
    expect([await effectsOn(userid), await effectsOn(neighbour)]).toEqual([1, 1])
  },
)
