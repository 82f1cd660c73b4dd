import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { Shown } from '../command/keyring-stage.ts'
import { codeOf, newWorkplace } from '../command/place.ts'
import { run, runJson } from '../command/process.ts'
import { everydayOr, isLong, otherDatabaseTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada } from '../rig.ts'
import { type Balancer, pooledClients, startBalancer } from './balancer.ts'
import { type Journal, openJournal, openOwnJournal } from './journal.ts'
import { checkReadable } from './readable.ts'
import { type FaultStage, openFaultStage } from './stage.ts'

// Replaced while requests pour in: processes, credentials, the schema, the day.

const preload = new URL('faults.mjs', import.meta.url)

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
  await expect.poll(journal.acknowledged, { interval: 20 }).toBeGreaterThan(wanted)
}

/** Repeated when the machine was too slow for the time limits of statements, which production has too. */
const unlessTooSlow = { timeout: 900_000, retry: { count: 3, condition: /^Too slow/ } }

test('a rolling restart of two processes under load refuses nothing', unlessTooSlow, async () => {
  stage = await openFaultStage()
  const start = async (process: number) => {
    // So long that, even on a busy machine, each connection is used once more and gets the answer that asks it to close.
    const started = await stage?.start({ process, drainSeconds: isLong ? 20 : 5 })
    if (!started || started === 'killed') throw new Error('it did not start')
    return started
  }
  const running = [await start(0), await start(1)]
  balancer = await startBalancer(stage.ports)
  const pool = pooledClients(stage, { port: balancer.port, count: 8 })
  // Most of this test is the wait for the processes to drain, through which all writers write.
  const journal = openJournal(pool.clients, {
    writers: 8,
    name: 'rolling',
    ...(isLong ? {} : { pauseMs: 500 }),
  })
  for (const process of isLong ? [0, 1, 0, 1] : [0, 1]) {
    await more(journal, isLong ? 40 : 20)
    expect(await running[process]?.stop()).toBe(0)
    running[process] = await start(process)
    // Whoever restarts processes waits for this, too: else the balancer would have nowhere to send to.
    const port = stage.ports[process] ?? 0
    await expect.poll(() => balancer?.sendsTo(port), { timeout: 60_000, interval: 20 }).toBe(true)
  }
  await more(journal, isLong ? 40 : 20)
  await journal.stop()
  await pool.close()
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
      .poll(() => codeOf(stale.getUser({ userid: 'stale' })), { interval: 100 })
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
otherDatabaseTest('root key and pepper rotated under load, on two processes: all books agree', async () => {
  stage = await openFaultStage({ keyring: 'file' })
  const { place } = stage
  await stage.start({ process: 0 })
  await stage.start({ process: 1 })
  const journal = stage.openJournal({ writers: 6, name: 'keys', processes: 2 })
  for (let rotations = 0; rotations < (isLong ? 2 : 1); rotations += 1) {
    await more(journal, 20)
    expect((await run(['keyring', 'rotate'], place)).code).toBe(0)
  }
  await more(journal, 40)
  await journal.stop()
  await stage.check(journal)
})

// What a statement before the commit wrote is lost with it, so only a long run kills there, too, and after the commit.
const rewrapPoints = isLong
  ? ['before 1', 'after 1', 'before commit 1', 'after commit 1']
  : ['before commit 1']
test.each(rewrapPoints)(
  'a rewrap killed %s, and the service with it: credentials, keys and all that is sealed stay readable, and the next one ends it',
  async point => {
    stage = await openFaultStage({ keyring: 'file' })
    const { place, start } = stage
    const [port = 0] = stage.ports
    const service = await start()
    const journal = stage.openJournal({ writers: 6, name: 'rewrap' })
    await more(journal, 20)
    const fault = { NODE_OPTIONS: `--import=${preload}`, TEST_FAULT: `rotation rewrap ${point}` }
    expect((await run(['keyring', 'rotate'], { ...place, env: { ...place.env, ...fault } })).code).toBeNull()
    if (service !== 'killed') await service.stop('SIGKILL')
    const again = await start()
    await more(journal, 20)
    await journal.stop()
    await stage.check(journal)
    await checkReadable(stage.clientOf(port), { ...stage, entries: journal.entries })

    await runJson(['keyring', 'rewrap'], place)
    const { keys } = await runJson<Shown>(['keyring', 'show'], place)
    const roots = keys.filter(({ kind }) => kind === 'root')
    expect(roots.map(({ state, inuse }) => [state, inuse['partners']])).toEqual([
      ['old', 0],
      ['current', 1],
    ])
    if (again !== 'killed') await again.stop('SIGKILL')
    await start()
    await checkReadable(stage.clientOf(port), { ...stage, entries: journal.entries })
  },
)

/** The first step, one in the middle, and the end; a long run tries more of them. */
const migrationPoints = isLong
  ? ['before 1', 'after 1', 'before 2', 'after 3']
  : everydayOr(['after 3'], ['before 1', 'after 3'])
test.each(migrationPoints)(
  'a migration killed %s of its steps is finished by the next one, and what is then served is in the books',
  async point => {
    stage = await openFaultStage({
      refuses: false,
      async migrate(place) {
        const fault = { NODE_OPTIONS: `--import=${preload}`, TEST_FAULT: `migration ${point}` }
        const killed = await run(['migrate'], { ...place, env: { ...place.env, ...fault } })
        expect(killed.code).toBeNull()
        expect((await run(['migrate'], place)).code).toBe(0)
      },
    })
    const shapeOf = async (url: Parameters<typeof openDatabase>[0]) => {
      const database = openDatabase(url, { max: 1, ...patientDatabase })
      const rows = await database.query(sql`
        select table_name, column_name, data_type, is_nullable from information_schema.columns
        where table_schema = 'public' order by 1, 2`)
      await database.close()
      return rows
    }
    const whole = await newWorkplace()
    expect(await shapeOf(stage.address)).toEqual(await shapeOf(whole.address))
    await whole.remove()
    await stage.start()
    const journal = stage.openJournal({ writers: 6, name: 'migrated' })
    await more(journal, 20)
    await journal.stop()
    await stage.check(journal)
  },
)

// `npm test` kills a service among due changes in tests/life/month-end.test.ts.
otherDatabaseTest.each(everydayOr(['before commit'], ['before commit', 'after commit']))(
  'due changes killed %s take effect once, for everybody',
  async point => {
    stage = await openFaultStage({ refuses: false })
    const { start, clientOf, ports, database, partner } = stage
    // The end of a month that is far enough away for this process to run before it.
    const today = new Date()
    const end = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 2, 1)
    const aheadMs = (days: number) => end + days * 86_400_000 - today.getTime()
    const first = await start({ aheadMs: aheadMs(-10) })
    const client = clientOf(ports[0] ?? 0)
    const journal = openOwnJournal()
    const users = Array.from({ length: 20 }, (_, index) => `due-${index}`)
    for (const userid of users) {
      await journal.write(userid, 'create', () => client.createUser({ userid, ...ada, offername: 'starter' }))
      await journal.write(userid, 'cancel', () => client.cancelUser({ userid }))
      journal.note(userid, 'due cancel')
    }
    if (first !== 'killed') expect(await first.stop()).toBe(0)
    const killed = await start({ aheadMs: aheadMs(2), fault: { point: `due change ${point}`, count: 1 } })
    if (killed !== 'killed') await expect.poll(() => killed.child.signalCode).toBe('SIGKILL')
    await start({ aheadMs: aheadMs(2) })
    const cancelled = () =>
      database.query(sql`
        select 1 from users where partner_id = ${partner.partnerid} and status = 'cancelled'`)
    await expect.poll(cancelled).toHaveLength(users.length)
    await stage.check(journal)
  },
)
