// @databases citus stock

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import type { PartnerClient } from '../../client/src/index.ts'
import { openDatabase } from '../../service/src/db/database.ts'
import { urlOf } from '../command/database-url.ts'
import { newWorkplace } from '../command/place.ts'
import { type Place, run, runJson, runRefused, startKeptProcess } from '../command/process.ts'
import { type Bench, endingAt, openBench } from '../faults/bench.ts'
import { everydayOr } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada } from '../rig.ts'
import { openRandom, seedsOf } from '../seeds.ts'
import { checkReadable } from './readable.ts'

/** How many users there are beside those of the writers, in the middle of their lives. */
const users = Number(process.env['TEST_MOVED_USERS'] ?? 40)

/** The empty databases through which it moves after the embedded one, one after the other, if others than one of this test's server. */
const houses = process.env['TEST_HOUSES']?.split(',')

/** Each table is compared twice, here and there. */
const [seed = 0] = seedsOf(1)
const random = openRandom(seed)
const killedAt = houses ? [50] : everydayOr([50], [1, 2 + random(44), 46 + random(30), 78])

// Only catches a hang, of as many users as were asked for.
vi.setConfig({ testTimeout: 900_000 + users * 10 })

type Step = 'prefill' | 'create' | 'cancel' | 'erase'
const lives: readonly (readonly Step[])[] = [
  ['prefill'],
  ['create'],
  ['prefill', 'create'],
  ['create', 'cancel'],
  ['prefill', 'create', 'erase'],
]

/** Takes in four fifths of the users as members, and makes the others by bulks, each with one of the lives. */
async function makeMany({ place, partner, clientOf, own, ports: [port = 0] }: Bench): Promise<void> {
  const made = Math.ceil(users / 5)
  const members = Array.from({ length: users - made }, (_, number) => `member-${number}`)
  const file = join(place.cwd, 'members.ndjson')
  const cover = { offername: 'starter', offersince: '2024-05-01', benefits: ['telehealth'] }
  await writeFile(file, members.map(userid => `${JSON.stringify({ userid, ...ada, ...cover })}\n`).join(''))
  const taken = await runJson(['import', partner.partnerid, file, '--reason', 'moves in'], place)
  expect(taken).toMatchObject({ taken: members.length, refused: 0 })
  for (const userid of members) own.note(userid, 'import')
  for (const step of [0, 1, 2]) {
    const lines = Array.from({ length: made }, (_, number) =>
      bulkLine(`many-${number}`, lives[number % lives.length]?.[step]),
    )
    const sent = lines.filter(line => line !== undefined)
    for await (const { line, status } of clientOf(port).bulk(sent)) {
      const { operation = 'create', body } = sent[line - 1] ?? {}
      expect([operation, status]).toEqual([operation, 200])
      own.note(body?.userid ?? '', operation)
    }
  }
}

function bulkLine(userid: string, operation: Step | undefined) {
  if (operation === undefined) return undefined
  if (operation === 'prefill') return { operation, body: { userid, ...ada } }
  if (operation === 'create') return { operation, body: { userid, ...ada, offername: 'starter' } }
  return { operation, body: { userid } }
}

/** What a partner reads: all its users and events, and some users whole. */
async function readAll(client: PartnerClient): Promise<string[]> {
  const found: string[] = []
  for await (const user of client.eachUser()) {
    found.push(JSON.stringify(user))
    if (found.length % 500 === 1) found.push(JSON.stringify(await client.getUser({ userid: user.userid })))
  }
  for await (const event of client.eachEvent()) found.push(JSON.stringify(event))
  return found
}

test(`a database in use moves into an embedded one and back to an own one, killed at ${killedAt}: all books and reads agree`, async () => {
  const bench = await openBench({ keyring: 'file', refuses: false })
  onTestFinished(() => bench.close())
  const { place, partner } = bench
  const [port = 0] = bench.ports
  const service = await bench.start()
  await makeMany(bench)
  const journal = bench.openJournal({ writers: 6, name: 'house' })
  await expect.poll(journal.acknowledged, { interval: 20 }).toBeGreaterThan(everydayOr(80, 400))
  await journal.stop()
  const before = await readAll(bench.clientOf(port))
  await service.stop()

  const { address, remove } = await newWorkplace({}, { empty: true })
  onTestFinished(remove)
  // A copy would make sixteen cells, each time that it begins again.
  if (inject('testServer').kind === 'cluster')
    await runJson(['migrate', '--cells', '2'], {
      ...place,
      env: { ...place.env, DATABASE_URL: urlOf(address) },
    })
  const { DATABASE_URL: _, ...env } = place.env
  const data = join(place.cwd, 'house')
  const urls = houses ?? [urlOf(address)]
  let from: Place = place
  let words: readonly string[] = ['copy']
  for (const to of [data, ...urls]) {
    for (const pass of killedAt) {
      const fault = endingAt({ point: 'copy after', count: pass })
      const killed = await run([...words, '--to', to], { ...from, env: { ...from.env, ...fault } })
      expect(killed.code).toBeNull()
    }
    expect(await runJson([...words, '--to', to], from)).toMatchObject({ quiet: true })
    expect(await runRefused([...words, '--to', to], from)).toMatch(/^The destination holds a database/)
    from = { ...place, env: to === data ? env : { ...env, DATABASE_URL: to } }
    words = to === data ? ['copy', '--data', data] : ['copy']
  }

  await runJson(['resume'], from)
  const again = await startKeptProcess(['serve', '--port', String(port)], from)
  onTestFinished(async () => {
    await again.stop('SIGKILL')
  })
  const database = openDatabase({ url: urls.at(-1) ?? '' }, { max: 2, ...patientDatabase })
  onTestFinished(() => database.close())
  await database.learnCells()
  const after = await readAll(bench.clientOf(port))
  expect(after.length).toBe(before.length)
  expect(after.filter((line, index) => line !== before[index]).slice(0, 5)).toEqual([])
  await bench.check(database)
  await checkReadable(bench.clientOf(port), { place: from, partner, entries: bench.entries() })
})
