import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { urlOf } from '../command/database-url.ts'
import { clientOf } from '../command/place.ts'
import {
  newDirectory,
  type Place,
  runJson,
  type ServiceProcess,
  startKeptProcess,
} from '../command/process.ts'
import { freePort } from '../free-port.ts'
import { holdLocks } from '../hold-locks.ts'
import { wholeRunTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, demoCatalogueFile, freshDatabase } from '../rig.ts'
import { openJournal, openOwnJournal } from '../trust/journal.ts'
import { type Books, checkLedger } from '../trust/ledger.ts'
import { createPartnerOf, type Receiver, startReceiver } from './receiver.ts'

let address: DatabaseAddress
let metricsPort: number
let place: Place
let receiver: Receiver
let partnerId: string
let service: ServiceProcess
let client: Client
const endings: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  const fresh = await freshDatabase()
  address = fresh.address
  const directory = await newDirectory()
  metricsPort = await freePort()
  receiver = await startReceiver({ refuses: true })
  place = {
    cwd: directory.path,
    env: {
      DATABASE_URL: urlOf(address),
      // The receiver is on this machine, which production refuses unless its operator says otherwise.
      ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
      ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64'),
      ENROLMENT_METRICS_PORT: String(metricsPort),
      NODE_OPTIONS: `--import=${new URL('break-down.mjs', import.meta.url)}`,
    },
  }
  service = await startKeptProcess(['serve', '--port', '0'], place)
  endings.push(() => service.stop('SIGKILL'), receiver.close, fresh.drop, directory.remove)
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  const partner = await createPartnerOf(receiver, place)
  partnerId = partner.partnerid
  client = clientOf(service, partner)
})
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

/**
 * Returns the exit code. 0 means that everything ended within the 15 seconds that an orchestrator waits, because the
 * service ends itself with another code after 14.
 */
function terminate(): Promise<number | null> {
  return service.stop('SIGTERM')
}

/** Compares the books; unless a process runs by now, events may still wait. */
async function checkTheBooks(journal: Books['journal'], logs: string, mayWait: boolean): Promise<void> {
  const database = openDatabase(address, { max: 2, ...patientDatabase })
  try {
    await checkLedger({ journal, receiver, database, partnerId, logs, mayWait })
  } finally {
    await database.close()
  }
}

function written(): string {
  return service.stdout() + service.stderr()
}

// Repeated with a new service when this machine was too slow to release the lock in time.
const inTime = { retry: { count: 9, condition: /^Held for too long/ } }

test('SIGTERM lets every accepted request be answered, though it has to wait', inTime, async () => {
  const journal = openOwnJournal()
  const save = (userid: string) =>
    journal.write(userid, 'prefill', () => client.prefillUser({ userid, ...ada }))
  await save('locked')
  const held = await holdLocks(urlOf(address), [
    `select 1 from users where partner_id = '${partnerId}' and userid = 'locked' for update`,
  ])
  // The first blocks the queue in which the others then wait.
  const prefill = (userid: string) => save(userid).catch((error: { code: string }) => error.code)
  const calls = [prefill('locked')]
  await expect.poll(held.waiting, { interval: 20 }).toBe(1)
  for (let count = 0; count < 20; count += 1) calls.push(prefill(`waiting-${count}`))
  // Only a request that has arrived is accepted; it may also have been answered already, if the first has left the
  // queue.
  await expect.poll(arrived, { interval: 20 }).toBe(calls.length)
  const ended = terminate()
  await expect.poll(() => service.log().some(line => line.event === 'stopping'), { interval: 20 }).toBe(true)
  const heldMs = await held.release()
  const answers = await Promise.all(calls)
  // A write that waits for its lock is given up after a few seconds.
  if (heldMs > 1500 && answers.includes('unavailable'))
    throw new Error('Held for too long, as this machine is slow')
  expect(answers).toEqual(calls.map(() => 'prefill saved'))
  expect(await ended).toBe(0)
  await checkTheBooks(journal, written(), true)
})

/** How many writes of this test the service works on or has answered. */
async function arrived(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const inFlight = /^http_requests_in_flight (\d+)$/m.exec(text)?.[1]
  const answered = service.log().filter(line => line.event === 'request' && line['route'] === '/user/prefill')
  return Number(inFlight) + answered.length - 1
}

wholeRunTest('SIGTERM under load ends with 0, and all books agree once the next process runs', async () => {
  const load = openJournal([client], { writers: 30, name: 'stopped' })
  await expect.poll(load.acknowledged, { interval: 20 }).toBeGreaterThan(300)
  expect(await terminate()).toBe(0)
  await load.stop()
  const statuses = service
    .log()
    .filter(line => line.event === 'request')
    .map(line => line['status'])
  expect([...new Set(statuses)].filter(status => status !== 200)).toEqual([])
  // Lines are gathered before they are written; a stop must write all of them.
  expect(statuses.length).toBeGreaterThanOrEqual(load.acknowledged())
  expect(service.log().at(-1)?.event).toBe('stopped')
  const logs = written()
  service = await startKeptProcess(['serve', '--port', '0'], place)
  await checkTheBooks(load, logs, false)
})

test('an error that nobody caught ends with 1, and its line follows all lines before it', async () => {
  const journal = openOwnJournal()
  for (let count = 0; count < 20; count += 1) {
    const userid = `before-${count}`
    await journal.write(userid, 'prefill', () => client.prefillUser({ userid, ...ada }))
  }
  expect(await service.stop('SIGUSR2')).toBe(1)
  const events = service.log().map(line => line.event)
  expect(events.filter(event => event === 'request').length).toBeGreaterThanOrEqual(20)
  expect(service.log().at(-1)).toMatchObject({ event: 'crashed', cause: 'RangeError' })
  await checkTheBooks(journal, written(), true)
})
