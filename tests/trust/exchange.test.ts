import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { Shown } from '../command/keyring-stage.ts'
import type { Created } from '../command/place.ts'
import { clientOf, codeOf, newWorkplace } from '../command/place.ts'
import { run, runJson, startProcess } from '../command/process.ts'
import { everydayOr, isLong, otherDatabaseTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada } from '../rig.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { type Journal, openJournal } from './journal.ts'
import { type FaultStage, openFaultStage } from './stage.ts'

// Replaced while requests pour in: processes, credentials, the schema, the day.

let stage: FaultStage | undefined
let balancer: Balancer | undefined
afterEach(async () => {
  await balancer?.close()
  await stage?.close()
  balancer = undefined
  stage = undefined
})

async function more(journal: Journal, count: number): Promise<void> {
  const wanted = journal.acknowledged() + count
  await expect.poll(journal.acknowledged, { timeout: 180_000, interval: 20 }).toBeGreaterThan(wanted)
}

/** Repeated when the machine was too slow for the time limits of statements, which production has too. */
const unlessTooSlow = { timeout: 900_000, retry: { count: 3, condition: /^Too slow/ } }

test('a rolling restart of two processes under load refuses nothing', unlessTooSlow, async () => {
  stage = await openFaultStage()
  const start = async (process: number) => {
    // Long enough that, on a busy machine, each connection is used once more, and so asked to close.
    const started = await stage?.start({ process, drainSeconds: everydayOr(5, 20) })
    if (!started || started === 'killed') throw new Error('it did not start')
    return started
  }
  const running = [await start(0), await start(1)]
  balancer = await startBalancer(stage.ports)
  const { port } = balancer
  // A pool may leave a connection unused until the process at its other end closes it, just as it is used again.
  const agents = Array.from({ length: 8 }, () => new Agent({ connections: 1 }))
  const { clientOf: clientFor } = stage
  const clients = agents.map(dispatcher =>
    clientFor(port, {}, (input, init) => fetch(input as string, { ...init, dispatcher } as object) as never),
  )
  // Most of this test is the wait for the processes to drain, through which all writers write.
  const journal = openJournal(clients, { writers: 8, name: 'rolling', ...(isLong ? {} : { pauseMs: 500 }) })
  for (const process of everydayOr([0, 1], [0, 1, 0, 1])) {
    await more(journal, everydayOr(20, 40))
    expect(await running[process]?.stop()).toBe(0)
    running[process] = await start(process)
  }
  await more(journal, everydayOr(20, 40))
  await journal.stop()
  await Promise.all(agents.map(agent => agent.close()))
  const again = journal.entries.filter(entry => entry.isAcknowledged && entry.sent !== 1)
  if (again.length > 0 && stage.refusals().length > 0)
    throw new Error(`Too slow: ${stage.refusals().join(' ')}`)
  // Sent once and acknowledged: no refusal, and no broken connection.
  expect(again).toEqual([])
  await stage.check(journal)
})

// `npm test` has it with one writer for each pair of credentials, in tests/command/partners.test.ts.
otherDatabaseTest(
  'client secret and API key rotated under load: no failure while both live, none of the old accepted afterwards',
  async () => {
    stage = await openFaultStage()
    const { place, partner, ports } = stage
    await stage.start()
    const [port = 0] = ports
    const old = stage.openJournal({ writers: 6, name: 'old' })
    await more(old, 20)
    const rotate = (kind: string) =>
      runJson<{ secret: string; live: string[] }>(['key', 'rotate', partner.partnerid, '--kind', kind], place)
    const secret = await rotate('client_secret')
    const key = await rotate('api_key')
    const newer = { clientsecret: secret.secret, apikey: key.secret }
    const client = stage.clientOf(port, newer)
    const fresh = openJournal([client], { writers: 6, name: 'new' })
    await Promise.all([more(fresh, 20), more(old, 20)])
    await old.stop()
    expect(old.wrong).toEqual([])
    for (const [{ live }, name] of [
      [secret, 'secret'],
      [key, 'key'],
    ] as const)
      expect([name, (await run(['key', 'revoke', partner.partnerid, live[0] ?? ''], place)).code]).toEqual([
        name,
        0,
      ])
    // Reads, because what is revoked may be accepted for another second.
    const stale = stage.clientOf(port)
    await expect
      .poll(() => codeOf(stale.getUser({ userid: 'stale' })), { timeout: 180_000, interval: 100 })
      .toBe('invalid_client')
    await expect
      .poll(() =>
        codeOf(
          stage?.clientOf(port, { clientsecret: newer.clientsecret }).getUser({ userid: 'stale' }) ??
            Promise.resolve(),
        ),
      )
      .toBe('invalid_api_key')
    await more(fresh, 20)
    await fresh.stop()
    await stage.check({
      ...fresh,
      entries: [...old.entries, ...fresh.entries],
      wrong: [...old.wrong, ...fresh.wrong],
    })
  },
)

// One rotation beside two processes is in tests/command/keyring.test.ts.
otherDatabaseTest(
  'root key and pepper rotated again and again under load, on two processes: all books agree',
  async () => {
    stage = await openFaultStage({ keyring: 'file' })
    const { place } = stage
    await stage.start({ process: 0 })
    await stage.start({ process: 1 })
    const journal = stage.openJournal({ writers: 6, name: 'keys', processes: 2 })
    for (let rotations = 0; rotations < everydayOr(1, 2); rotations += 1) {
      await more(journal, 20)
      expect((await run(['keyring', 'rotate'], place)).code).toBe(0)
    }
    await more(journal, 40)
    await journal.stop()
    await stage.check(journal)
  },
)

test.each(everydayOr(['before commit 1'], ['before 1', 'after 1', 'before commit 1', 'after commit 1']))(
  'a rewrap killed %s, and the service with it: credentials, keys and all that is sealed stay readable, and the next one ends it',
  async point => {
    stage = await openFaultStage({ keyring: 'file' })
    const { place, start } = stage
    const service = await start()
    const journal = stage.openJournal({ writers: 6, name: 'rewrap' })
    await more(journal, 20)
    const preload = new URL('faults.mjs', import.meta.url)
    const fault = { NODE_OPTIONS: `--import=${preload}`, TEST_FAULT: `rotation rewrap ${point}` }
    expect((await run(['keyring', 'rotate'], { ...place, env: { ...place.env, ...fault } })).code).toBeNull()
    if (service !== 'killed') await service.stop('SIGKILL')
    const again = await start()
    await more(journal, 20)
    await journal.stop()
    await stage.check(journal)
    await expectReadable(stage, journal)

    await runJson(['keyring', 'rewrap'], place)
    const { keys } = await runJson<Shown>(['keyring', 'show'], place)
    const roots = keys.filter(({ kind }) => kind === 'root')
    expect(roots.map(({ state, inuse }) => [state, inuse['partners']])).toEqual([
      ['old', 0],
      ['current', 1],
    ])
    if (again !== 'killed') await again.stop('SIGKILL')
    await start()
    await expectReadable(stage, journal)
  },
)

/** Reads by the partner's credentials, opens everything that is sealed of every user, and verifies the signed record. */
async function expectReadable(
  { place, partner, ports, clientOf }: FaultStage,
  journal: Journal,
): Promise<void> {
  const isErased = new Set(journal.entries.filter(({ kind }) => kind === 'erase').map(({ userid }) => userid))
  const kept = journal.entries.filter(one => one.isAcknowledged && !isErased.has(one.userid))
  const client = clientOf(ports[0] ?? 0)
  for (const { userid } of kept.slice(-5)) expect(await client.getUser({ userid })).toMatchObject({ userid })
  const file = join(place.cwd ?? '', `${randomUUID()}.jsonl`)
  await runJson(['partner', 'export', partner.partnerid, file, '--reason', 'is everything there'], place)
  const [, ...lines] = (await readFile(file, 'utf8')).trim().split('\n')
  const exported = lines.map(line => JSON.parse(line) as { user: { userid: string }; documents: object })
  const readable = exported.filter(({ documents }) => JSON.stringify(documents).includes(ada.lastname))
  expect(readable.map(({ user }) => user.userid)).toEqual(
    expect.arrayContaining(kept.map(({ userid }) => userid)),
  )
  expect(await runJson(['audit', 'verify'], place)).toMatchObject({ ok: true })
}

test.each(everydayOr(['after 3'], ['before 1', 'after 1', 'before 2', 'after 3', 'before 5', 'after 6']))(
  'a migration killed %s of its steps is finished by the next one',
  async point => {
    const { place, address, remove } = await newWorkplace({}, { empty: true })
    const preload = new URL('faults.mjs', import.meta.url)
    const fault = { NODE_OPTIONS: `--import=${preload}`, TEST_FAULT: `migration ${point}` }
    expect((await run(['migrate'], { ...place, env: { ...place.env, ...fault } })).code).toBeNull()
    expect((await run(['migrate'], place)).code).toBe(0)
    const shapeOf = async (url: Parameters<typeof openDatabase>[0]) => {
      const database = openDatabase(url, { max: 1, ...patientDatabase })
      const rows = await database.query(sql`
        select table_name, column_name, data_type, is_nullable from information_schema.columns
        where table_schema = 'public' order by 1, 2`)
      await database.close()
      return rows
    }
    const whole = await newWorkplace()
    expect(await shapeOf(address)).toEqual(await shapeOf(whole.address))
    await whole.remove()
    await remove()
  },
)

// `npm test` kills a service among due changes in tests/life/month-end.test.ts.
otherDatabaseTest.each(everydayOr(['before commit 1'], ['before commit 1', 'after commit 1']))(
  'due changes killed %s take effect once, for everybody',
  async point => {
    const { place, address, remove } = await newWorkplace()
    const preload = new URL('faults.mjs', import.meta.url)
    const env = { ...place.env, NODE_OPTIONS: `--import=${preload}` }
    const first = await startProcess(['dev', '--port', '0'], place)
    const partner = await runJson<Created>(['partner', 'create', '--name', 'Due'], place)
    const users = Array.from({ length: 20 }, (_, index) => `due-${index}`)
    for (const userid of users) {
      await clientOf(first, partner).createUser({ userid, ...ada, offername: 'starter' })
      await clientOf(first, partner).cancelUser({ userid })
    }
    expect(await first.stop()).toBe(0)
    const killed = await startProcess(['dev', '--port', '0'], {
      ...place,
      env: { ...env, TEST_FAULT: `due change ${point}` },
    })
    const in40Days = new Date(Date.now() + 40 * 86_400_000).toISOString()
    expect(await codeOf(clientOf(killed, partner).advanceClock({ advanceto: in40Days }))).not.toBe('')
    await expect.poll(() => killed.child.signalCode, { timeout: 180_000 }).toBe('SIGKILL')
    const after = await startProcess(['dev', '--port', '0'], place)
    for (const userid of users)
      expect(await clientOf(after, partner).getUser({ userid })).toMatchObject({ status: 'cancelled' })
    const database = openDatabase(address, { max: 1, ...patientDatabase })
    const told = () =>
      database.query<{ userid: string; times: number }>(sql`
        select userid, count(*) as times from events
        where partner_id = ${partner.partnerid} and eventname = 'offer_cancel_successful' group by userid`)
    await expect.poll(async () => (await told()).length, { timeout: 180_000 }).toBe(users.length)
    expect((await told()).filter(one => one.times !== 1)).toEqual([])
    await database.close()
    expect(await after.stop()).toBe(0)
    await remove()
  },
)
