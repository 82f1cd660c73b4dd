import { spawnSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { codeOf, newWorkplace } from '../command/place.ts'
import { root, run, runJson, runKilledWhen, runProcess } from '../command/process.ts'
import { everydayOr, isLong, otherDatabaseTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada } from '../rig.ts'
import { type Bench, type BenchOptions, endingAt, openBench } from './bench.ts'

// Commands that are killed, or change something while requests pour in, and what is due by itself: each has a promise of its own
// besides the ledger, so it is no row of `cases.test.ts`.

async function openedBench(options?: BenchOptions): Promise<Bench> {
  const bench = await openBench(options)
  onTestFinished(bench.close)
  return bench
}

// `npm test` has it with one writer for each pair of credentials, in tests/command/partners.test.ts.
otherDatabaseTest(
  'client secret and API key rotated under load: no failure while both live, none of the old accepted afterwards',
  async () => {
    const bench = await openedBench()
    const { place, partner, clientOf } = bench
    const [port = 0] = bench.ports
    await bench.start()
    const old = bench.openJournal({ writers: 6, name: 'old' })
    await bench.more(20)
    const rotate = (kind: string) =>
      runJson<{ secret: string; live: string[] }>(['key', 'rotate', partner.partnerid, '--kind', kind], place)
    const secret = await rotate('client_secret')
    const key = await rotate('api_key')
    const newer = { clientsecret: secret.secret, apikey: key.secret }
    const fresh = bench.openJournal({ clients: [clientOf(port, newer)], writers: 6, name: 'new' })
    await bench.more(40)
    await old.stop()
    for (const { live } of [secret, key])
      await runJson(['key', 'revoke', partner.partnerid, live[0] ?? ''], place)
    // Reads, because what is revoked may be accepted for another second.
    for (const [stale, code] of [
      [clientOf(port), 'invalid_client'],
      [clientOf(port, { clientsecret: newer.clientsecret }), 'invalid_api_key'],
    ] as const)
      await expect.poll(() => codeOf(stale.getUser({ userid: 'stale' })), { interval: 100 }).toBe(code)
    await bench.more(20)
    await fresh.stop()
    await bench.check()
  },
)

/** The first step, one in the middle, and the end; a long run tries more of them. */
const migrationPoints = isLong
  ? ['before 1', 'after 1', 'before 2', 'after 3']
  : everydayOr(['after 3'], ['before 1', 'after 3'])
test.each(migrationPoints)(
  'a migration killed %s of its steps is finished by the next one, and what is then served is in the books',
  async at => {
    const [point = '', count] = at.split(' ')
    const bench = await openedBench({
      refuses: false,
      async migrate(place) {
        const env = { ...place.env, ...endingAt({ point: `migration ${point}`, count: Number(count) }) }
        expect((await run(['migrate'], { ...place, env })).code).toBeNull()
        expect((await run(['migrate'], place)).code).toBe(0)
      },
    })
    const shapeOf = async (address: DatabaseAddress) => {
      const database = openDatabase(address, { max: 1, ...patientDatabase })
      const rows = await database.query(sql`
        select table_name, column_name, data_type, is_nullable from information_schema.columns
        where table_schema = 'public' order by 1, 2`)
      await database.close()
      return rows
    }
    const whole = await newWorkplace()
    expect(await shapeOf(bench.address)).toEqual(await shapeOf(whole.address))
    await whole.remove()
    await bench.start()
    const journal = bench.openJournal({ writers: 6, name: 'migrated' })
    await bench.more(20)
    await journal.stop()
    await bench.check()
  },
)

// `npm test` kills a service among due changes in tests/life/month-end.test.ts.
otherDatabaseTest.each(everydayOr(['before commit'], ['before commit', 'after commit']))(
  'due changes killed %s take effect once, for everybody',
  async at => {
    const bench = await openedBench({ refuses: false })
    const { own, database, partner } = bench
    // The end of a month that is far enough away for this process to run before it.
    const today = new Date()
    const end = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 2, 1)
    const aheadMs = (days: number) => end + days * 86_400_000 - today.getTime()
    const first = await bench.start({ aheadMs: aheadMs(-10) })
    const client = bench.clientOf(bench.ports[0] ?? 0)
    const users = Array.from({ length: 20 }, (_, index) => `due-${index}`)
    for (const userid of users) {
      await own.write(userid, 'create', () => client.createUser({ userid, ...ada, offername: 'starter' }))
      await own.write(userid, 'cancel', () => client.cancelUser({ userid }))
      own.note(userid, 'due cancel')
    }
    expect(await first.stop()).toBe(0)
    await bench.killedAt({ point: `due change ${at}`, count: 1 }, { aheadMs: aheadMs(2) })
    await bench.start({ aheadMs: aheadMs(2) })
    const cancelled = () =>
      database.query(sql`
        select 1 from users where partner_id = ${partner.partnerid} and status = 'cancelled'`)
    await expect.poll(cancelled).toHaveLength(users.length)
    await bench.check()
  },
)

test('an import that is killed at every tenth line and repeated takes each member once', async () => {
  const { place, partner, own, database, ...bench } = await openedBench()
  await bench.start()
  const userids = Array.from({ length: 50 }, (_, at) => `m${at}`)
  const { address: _, ...person } = ada
  const cover = { state: 'FL', offername: 'starter', offersince: '2024-05-01' }
  const lines = userids.map(userid => `${JSON.stringify({ userid, ...person, ...cover })}\n`)
  const taken = () => database.query(sql`select 1 from users where partner_id = ${partner.partnerid}`)
  // A pipe for each run, as a killed one may leave lines in its own.
  const newPipe = (name: string) => {
    const file = join(place.cwd, name)
    expect(spawnSync('mkfifo', [file]).status).toBe(0)
    return { file, words: ['import', partner.partnerid, file, '--reason', 'test'] }
  }
  for (let at = 10; at < lines.length; at += 10) {
    let isTime = false
    const { file, words } = newPipe(`members-${at}`)
    const killed = runKilledWhen(words, place, () => isTime)
    const pipe = createWriteStream(file).on('error', () => {})
    pipe.write(lines.slice(0, at).join(''))
    await expect.poll(taken).toHaveLength(at)
    // The next lines are under way when it is killed, the last of them in the middle.
    const more = lines.slice(at, at + 5).join('')
    pipe.write(more.slice(0, -9))
    isTime = true
    expect(await killed).toBe(true)
    pipe.destroy()
  }
  const { file, words } = newPipe('members')
  createWriteStream(file).end(lines.join(''))
  const ended = await runJson<{ taken: number; equal: number }>(words, place)
  expect(ended.taken + ended.equal).toBe(lines.length)
  for (const userid of userids) own.note(userid, 'import')
  await bench.check()
})

/** A bench whose commands hand files over, with the demo feed published, and a member whom its next run tells of. */
async function openFeedBench(): Promise<{
  readonly bench: Bench
  readonly folder: string
  readonly place: Bench['place']
  readonly enrol: (userid: string) => Promise<unknown>
}> {
  const bench = await openedBench()
  const folder = join(bench.place.cwd, 'feeds')
  const place = { ...bench.place, env: { ...bench.place.env, ENROLMENT_FEEDS: folder } }
  await runJson(['feed', 'publish', join(root, 'service/assets/demo-feeds.yaml')], place)
  await bench.start()
  const client = bench.clientOf(bench.ports[0] ?? 0)
  const enrol = (userid: string) =>
    bench.own.write(userid, 'create', () => client.createUser({ userid, ...ada, offername: 'plus' }))
  return { bench, folder: join(folder, 'seaview'), place, enrol }
}

/** At which points a killed run has left its file. */
const feedPoints = {
  'feed run before': false,
  'feed run after commit': false,
  'feed file half written': false,
  'feed file written': false,
  'feed file named': true,
  'the command has the file': true,
  'feed run taken before': true,
}
const feedRun = ['feed', 'run', 'seaview']

test('a run that is killed at any point leaves no file or a whole one, and the next run gives the same under the same number', async () => {
  const { bench, folder, place, enrol } = await openFeedBench()
  const files = async () => (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.csv'))
  for (const [index, [point, hasFile]] of Object.entries(feedPoints).entries()) {
    await enrol(`killed-${index}`)
    const before = await files()
    const fault = point.startsWith('feed')
      ? endingAt({ point, count: 1 })
      : { ENROLMENT_FEED_COMMAND: 'kill -9 $PPID; :' }
    const { code } = await runProcess(feedRun, { ...place, env: { ...place.env, ...fault } })
    const left = (await files()).filter(name => !before.includes(name))
    expect([point, code, left.length > 0]).toEqual([point, null, hasFile])
    const [kept] = await Promise.all(left.map(name => readFile(join(folder, name), 'utf8')))
    const again = await runJson<{ run: number; file: string; status: string }>(feedRun, place)
    expect([point, again]).toMatchObject([point, { run: index + 1, status: 'taken', lines: 2 }])
    const whole = await readFile(again.file, 'utf8')
    expect(whole).toMatch(/^LINE,.*\r\n1,.*\r\n2,.*\r\n$/)
    if (kept !== undefined) expect(kept).toBe(whole)
  }
  await bench.check()
})

test('of two processes one makes the run, and the other makes none', async () => {
  const { place, enrol } = await openFeedBench()
  await enrol('once')
  const ended = await Promise.all([1, 2].map(() => run([...feedRun, '--json'], place)))
  const lines = ended.map(({ code, stdout }) =>
    code === 0 ? (JSON.parse(stdout) as { lines: number }).lines : 0,
  )
  expect(lines.toSorted()).toEqual([0, 2])
  for (const { code, stderr } of ended) if (code !== 0) expect(stderr).toContain('Another process is at work')
})
