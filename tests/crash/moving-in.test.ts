import { spawnSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BulkLine, createClient } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { type Created, newWorkplace, type Workplace } from '../command/place.ts'
import { run, runJson, runKilledWhen, type ServiceProcess, startKeptProcess } from '../command/process.ts'
import { freePort } from '../free-port.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { checkTables } from '../trust/canaries.ts'
import type { Kind } from '../trust/effects.ts'
import type { Entry } from '../trust/journal.ts'
import { checkUsers } from '../trust/ledger.ts'

let place: Workplace
let database: Database
let service: ServiceProcess
let port: number
const endings: (() => Promise<unknown>)[] = []

async function startService() {
  service = await startKeptProcess(['serve', '--port', String(port)], place)
}

beforeAll(async () => {
  const made = await newWorkplace()
  place = made.place
  database = openDatabase(made.address, { max: 2, ...patientDatabase })
  port = await freePort()
  await startService()
  endings.push(
    () => service.stop('SIGKILL'),
    () => database.close(),
    made.remove,
  )
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
})
afterAll(async () => {
  for (const end of endings) await end()
})

function newPartner(): Promise<Created> {
  return runJson<Created>(['partner', 'create', '--name', 'Moving'], place)
}

function acknowledged(userid: string, kind: Kind): Entry {
  return { userid, kind, sent: 1, isAcknowledged: true }
}

async function countUsers(partnerId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    sql`select count(*)::integer as count from users where partner_id = ${partnerId}`,
  )
  return row?.count ?? 0
}

test('an import that is killed at every tenth line and repeated takes each member once', async () => {
  const { partnerid: partnerId } = await newPartner()
  const userids = Array.from({ length: 50 }, (_, at) => `m${at}`)
  const { address: _, ...person } = ada
  const lines = userids.map(
    userid =>
      `${JSON.stringify({ userid, ...person, state: 'FL', offername: 'starter', offersince: '2024-05-01' })}\n`,
  )
  // A pipe for each run, as a killed one may leave lines in its own.
  const newPipe = (name: string) => {
    const file = join(place.cwd, name)
    expect(spawnSync('mkfifo', [file]).status).toBe(0)
    return { file, words: ['import', partnerId, file, '--reason', 'test'] }
  }
  for (let at = 10; at < lines.length; at += 10) {
    let isTime = false
    const { file, words } = newPipe(`members-${at}`)
    const killed = runKilledWhen(words, place, () => isTime)
    const pipe = createWriteStream(file).on('error', () => {})
    pipe.write(lines.slice(0, at).join(''))
    await expect.poll(() => countUsers(partnerId)).toBe(at)
    // The next lines are under way when it is killed, the last of them in the middle.
    pipe.write(
      lines
        .slice(at, at + 5)
        .join('')
        .slice(0, -9),
    )
    isTime = true
    expect(await killed).toBe(true)
    pipe.destroy()
  }
  const { file, words } = newPipe('members')
  const pipe = createWriteStream(file)
  pipe.end(lines.join(''))
  const { taken, equal } = JSON.parse((await run([...words, '--json'], place)).stdout) as Record<
    string,
    number
  >
  expect((taken ?? 0) + (equal ?? 0)).toBe(lines.length)
  const entries = userids.map(userid => acknowledged(userid, 'import'))
  await checkUsers({ journal: { entries, wrong: [] }, database, partnerId })
  await checkTables(database)
})

test('a bulk whose service is killed at every tenth line has one effect a line', async () => {
  const { partnerid: partnerId, clientid, clientsecret, apikey } = await newPartner()
  const client = createClient({
    baseUrl: service.address,
    clientId: clientid,
    clientSecret: clientsecret,
    apiKey: apikey,
    tries: 100,
    timeoutMs: 60_000,
  })
  const userids = Array.from({ length: 10 }, (_, at) => `b${at}`)
  const kinds = ['prefill', 'create', 'erase'] as const
  // A line about the same user begins another request, so each request has ten lines.
  const lines = kinds.flatMap(operation =>
    userids.map(userid => ({
      operation,
      body:
        operation === 'prefill'
          ? { userid }
          : operation === 'create'
            ? { userid, ...ada, offername: 'starter' }
            : { userid },
    })),
  ) as BulkLine[]
  const wrong: string[] = []
  for await (const { line, status } of client.bulk(lines)) {
    if (status !== 200) wrong.push(`${line} ${status}`)
    if (line % 10 !== 1) continue
    await service.stop('SIGKILL')
    await startService()
  }
  expect(wrong).toEqual([])
  const entries = kinds.flatMap(kind => userids.map(userid => acknowledged(userid, kind)))
  await checkUsers({ journal: { entries, wrong: [] }, database, partnerId })
  await checkTables(database)
})
