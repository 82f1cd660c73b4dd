// @databases stock

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { urlOf } from '../command/database-url.ts'
import { clientOf } from '../command/place.ts'
import { newDirectory, runJson, type ServiceProcess, startKeptProcess } from '../command/process.ts'
import { wholeRunTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, demoCatalogueFile, freshDatabase } from '../rig.ts'
import { openOwnJournal } from '../trust/journal.ts'
import { checkLedger } from '../trust/ledger.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'
import { createPartnerOf, type Receiver, startReceiver } from './receiver.ts'

// A service that reaches its database through a proxy, and a direct connection for the tests. The last test compares the
// books of all others.
let proxy: PostgresProxy
let receiver: Receiver
let service: ServiceProcess
let database: Database
let client: Client
let partnerId: string
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const { address, drop } = await freshDatabase()
  const { path: cwd, remove } = await newDirectory()
  proxy = await startPostgresProxy(address)
  receiver = await startReceiver()
  const env = {
    ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64'),
    // The receiver is on this machine, which production refuses unless its operator says otherwise.
    ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
  }
  service = await startKeptProcess(['serve', '--port', '0'], {
    cwd,
    env: { ...env, DATABASE_URL: proxy.url },
  })
  const direct = { cwd, env: { ...env, DATABASE_URL: urlOf(address) } }
  await runJson(['catalogue', 'publish', demoCatalogueFile], direct)
  const partner = await createPartnerOf(receiver, direct, '--offer', 'starter')
  partnerId = partner.partnerid
  database = openDatabase(address, { max: 2, ...patientDatabase })
  client = clientOf(service, partner, { timeoutMs: 30_000 })
  endings.push(
    () => service.stop(),
    receiver.close,
    proxy.close,
    () => database.close(),
    drop,
    remove,
  )
})
afterAll(async () => {
  for (const end of endings) await end()
})

/** What had an effect, or may have had one; a request that must have none is sent without it. */
const journal = openOwnJournal()

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

describe('a keyed prefill whose commit was lost is answered as done, and has one effect', () => {
  test.each(['before', 'after', 'late'] as const)('cut %s it', async fate => {
    const userid = newUserid()
    const met = proxy.arm(fate, userid)
    const prefill = () => client.prefillUser({ userid, ...ada }, { idempotencyKey: userid })
    await journal.write(userid, 'prefill', prefill)
    await met
    expect(await outcomeOf(prefill())).toBe('user_exists')
  })

  test('on a user who was there before', async () => {
    const userid = newUserid()
    await journal.write(userid, 'prefill', () => client.prefillUser({ userid, ...ada }))
    for (const fate of ['before', 'after', 'late'] as const) {
      const met = proxy.arm(fate, `${userid}`)
      const key = { idempotencyKey: `${userid}-${fate}` }
      await journal.write(userid, 'prefill', () => client.prefillUser({ userid, firstname: fate }, key))
      await met
    }
  })
})

describe('a prefill without a key whose commit was lost', () => {
  const prefill = (userid: string) => client.prefillUser({ userid, ...ada }, { version: 'v1' })

  test('is answered as done when it was', async () => {
    const userid = newUserid()
    const met = proxy.arm('after', userid)
    await journal.write(userid, 'prefill', () => prefill(userid))
    await met
  })

  test('is answered 503 when it was not, and has no effect', async () => {
    const userid = newUserid()
    const met = proxy.arm('before', userid)
    expect(await outcomeOf(prefill(userid))).toBe('unavailable')
    await met
  })

  test('is never applied twice when the commit comes through late', async () => {
    const userid = newUserid()
    const met = proxy.arm('late', userid)
    const outcome = await outcomeOf(prefill(userid))
    await met
    expect(['done', 'unavailable']).toContain(outcome)
    // It is there soon, whatever was answered.
    journal.note(userid, 'prefill')
    await expect
      .poll(() => database.query(sql`select 1 as found from users where userid = ${userid}`))
      .toEqual([{ found: 1 }])
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
    if (outcome === 'done') journal.note(userid, 'prefill')
  }
})

test('a keyed create whose answer was lost gives the same user, once', async () => {
  for (const fate of ['after', 'before', 'late'] as const) {
    const userid = newUserid()
    const met = proxy.arm(fate, userid)
    const create = () => client.createUser({ userid, ...ada }, { idempotencyKey: userid })
    const created = await journal.write(userid, 'create', create)
    await met
    expect(await create()).toEqual(created)
  }
})

wholeRunTest(
  'a connection that falls silent holds nobody up for long, and the truth is still told',
  async () => {
    const userid = newUserid()
    const neighbour = newUserid()
    const prefill = (id: string) =>
      journal.write(id, 'prefill', () => client.prefillUser({ userid: id, ...ada }, { idempotencyKey: id }))
    const met = proxy.arm('silent', userid)
    const first = prefill(userid)
    await met
    await Promise.all([first, prefill(neighbour)])
  },
)

test('afterwards all books agree', async () => {
  const logs = service.stdout() + service.stderr()
  await checkLedger({ journal, receiver, database, partnerId, logs })
})
