import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { clientOf } from '../command/place.ts'
import {
  endDatabase,
  newDirectory,
  type Place,
  runJson,
  type ServiceProcess,
  startKeptProcess,
} from '../command/process.ts'
import { freePort } from '../free-port.ts'
import { everydayOr, timesOf } from '../long.ts'
import { demoCatalogueFile } from '../rig.ts'
import { type Journal, openJournal } from '../trust/journal.ts'
import { checkEmbeddedLedger } from '../trust/ledger.ts'
import { createPartnerOf, type Receiver, startReceiver } from './receiver.ts'

// `enrolment serve` on its own embedded database, always on the same port, with one partner and its receiver.
let dataDir: string
let port: number
let place: Place
let service: ServiceProcess
let services: ServiceProcess[]
let receiver: Receiver
let client: Client
let partnerId: string
const endings: (() => Promise<unknown>)[] = []

async function startService() {
  service = await startKeptProcess(['serve', '--port', String(port), '--data', dataDir], place)
  services.push(service)
}

beforeEach(async () => {
  services = []
  const directory = await newDirectory()
  dataDir = directory.path
  port = await freePort()
  // The receiver is on this machine, which production refuses unless its operator says otherwise.
  place = { env: { ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1' } }
  receiver = await startReceiver({ refuses: true })
  await startService()
  endings.push(
    () => service.stop('SIGKILL'),
    () => endDatabase(dataDir),
    receiver.close,
    directory.remove,
  )
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', dataDir], place)
  const partner = await createPartnerOf(receiver, place, '--data', dataDir)
  partnerId = partner.partnerid
  client = clientOf(service, partner, { timeoutMs: 15_000 })
})
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

const rounds = timesOf(everydayOr(1, 3), 250)
// Only catches a hang: each round is a whole start of the service, on a machine that may be busy.
const patience = 300_000 + rounds * 30_000
async function postmaster(): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

/** The process of the postmaster that was started after `killed`. */
async function postmasterAfter(killed: number): Promise<number> {
  const isAnother = (pid: number) => pid > 1 && pid !== killed
  await expect.poll(async () => isAnother(await postmaster()), { interval: 5 }).toBe(true)
  return postmaster()
}

/** Waits until more was acknowledged than before, which shows that the service works again. */
function moreThan(journal: Journal, count: number) {
  return expect.poll(journal.acknowledged, { interval: 20 }).toBeGreaterThan(count)
}

test(
  'kill -9 of the service, again and again: nothing acknowledged is lost, nothing is done twice, all is told',
  async () => {
    const journal = openJournal([client], { writers: 12, name: 'service' })
    for (let round = 0; round < rounds; round += 1) {
      await moreThan(journal, journal.acknowledged() + 20)
      // At a different moment of the work each time.
      await sleep(round * 17)
      await service.stop('SIGKILL')
      await startService()
    }
    await moreThan(journal, journal.acknowledged() + 20)
    await journal.stop()
    await checkTheBooks(journal)
  },
  patience,
)

test(
  'kill -9 of the database, again and again: the same, while the service lives on',
  async () => {
    const journal = openJournal([client], { writers: 12, name: 'database' })
    let killed = 0
    for (let round = 0; round < rounds; round += 1) {
      await moreThan(journal, journal.acknowledged() + 20)
      await sleep(round * 13)
      // Sessions that are busy outlive a killed postmaster for a moment, and go on answering.
      killed = await postmasterAfter(killed)
      process.kill(killed, 'SIGKILL')
    }
    await moreThan(journal, journal.acknowledged() + 20)
    await journal.stop()
    expect(await postmaster()).not.toBe(killed)
    expect(service.child.exitCode).toBeNull()
    await checkTheBooks(journal)
  },
  patience,
)

async function checkTheBooks(journal: Journal): Promise<void> {
  expect(journal.acknowledged()).toBeGreaterThan(rounds * 20)
  const logs = services.map(one => one.stdout() + one.stderr()).join('')
  await checkEmbeddedLedger({ journal, receiver, partnerId, logs, dataDir })
}
