import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type ClientOptions, createClient, type PartnerClient } from '../../client/src/index.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { urlOf } from '../command/database-url.ts'
import type { Created } from '../command/place.ts'
import {
  newDirectory,
  type Place,
  runJson,
  type ServiceProcess,
  startKeptProcess,
} from '../command/process.ts'
import { createPartnerOf, type Receiver, startReceiver } from '../crash/receiver.ts'
import { freePort } from '../free-port.ts'
import { patientDatabase } from '../patient-database.ts'
import { demoCatalogueFile, freshDatabase } from '../rig.ts'
import { type Journal, type JournalOptions, openJournal } from './journal.ts'
import { checkLedger } from './ledger.ts'

/**
 * A service that may be killed at named points, its partner, the partner's receiver, and a direct connection to the
 * database.
 */
export type FaultStage = {
  readonly place: Place
  readonly partner: Created
  readonly receiver: Pick<Receiver, 'url' | 'username' | 'password'>
  readonly database: Database
  readonly address: DatabaseAddress
  /** Starts another process, always on the port of its place, so that clients find it again. */
  start(options?: StartOptions): Promise<ServiceProcess | 'killed'>
  /** Writes that go to the processes in turn. */
  openJournal(options: JournalOptions & { processes?: number; port?: number }): Journal
  /** A client with the partner's credentials, or with newer ones. */
  clientOf(port: number, newer?: Partial<Created>, fetch?: ClientOptions['fetch']): PartnerClient
  readonly ports: readonly number[]
  /**
   * The codes of errors that PostgreSQL returned to the processes for statements and locks for which this machine was
   * too slow.
   */
  refusals(): readonly string[]
  /** Waits until all events are delivered, and compares the three records, of this database or of the one that it moved to. */
  check(journal: Pick<Journal, 'entries' | 'wrong'>, movedTo?: Database): Promise<void>
  close(): Promise<void>
}

/** The point at which a process ends as in a crash, and how far its clock is ahead. */
export type StartOptions = {
  readonly fault?: { readonly point: string; readonly count: number }
  readonly aheadMs?: number
  readonly process?: number
  readonly drainSeconds?: number
  /** More settings. */
  readonly env?: Readonly<Record<string, string>>
  /** What Node starts instead of the command: another version of it. */
  readonly program?: string
}

const preload = new URL('faults.mjs', import.meta.url)

/**
 * Makes the stage; nothing runs on it yet. `through` gives the database's address as the service is to see it; with `keyring:
 * 'file'` the keys lie in a file that all processes share, and can be rotated; `migrate` gets an empty database and makes its
 * tables. The receiver refuses some events at first, which costs a test some seconds of waiting, unless `refuses` is false.
 */
export async function openFaultStage(
  options: {
    through?: (address: DatabaseAddress) => Promise<string>
    keyring?: 'file'
    migrate?: (place: Place) => Promise<void>
    refuses?: boolean
  } = {},
): Promise<FaultStage> {
  const { address, drop } = await freshDatabase({ empty: options.migrate !== undefined })
  const { path, remove } = await newDirectory()
  const ports = [await freePort(), await freePort()]
  const direct = {
    cwd: path,
    env: {
      DATABASE_URL: urlOf(address),
      ...(options.keyring === 'file' ? {} : { ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') }),
      ENROLMENT_ERASURES: join(path, 'erasures'),
      // The receiver is on this machine, which production refuses unless its operator says otherwise.
      ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
    },
  }
  const url = (await options.through?.(address)) ?? direct.env.DATABASE_URL
  const receiver: Receiver = await startReceiver({ refuses: options.refuses ?? true })
  const processes: ServiceProcess[] = []
  let logs = ''
  const start: FaultStage['start'] = async (which = {}) => {
    const { fault, aheadMs = 0, process = 0, drainSeconds = 0, program } = which
    const env = {
      ...direct.env,
      DATABASE_URL: url,
      ...(fault || aheadMs !== 0 ? { NODE_OPTIONS: `--import=${preload}` } : {}),
      TEST_CLOCK_MS: String(aheadMs),
      ENROLMENT_DRAIN_SECONDS: String(drainSeconds),
      ...which.env,
      ...(fault ? { TEST_FAULT: `${fault.point} ${fault.count}` } : {}),
    }
    try {
      const words = ['serve', '--port', String(ports[process])]
      const started = await startKeptProcess(words, { ...direct, env }, program)
      processes.push(started)
      return started
    } catch (error) {
      // A point may be passed before the process listens.
      if (fault && /ended with null/.test(String(error))) return 'killed'
      throw error
    }
  }
  await options.migrate?.(direct)
  // It makes the keys and marks the database as one in production, as the start of a service would at five times the work.
  const partner = await createPartnerOf(receiver, direct)
  await runJson(['catalogue', 'publish', demoCatalogueFile], direct)
  const database = openDatabase(address, { max: 2, ...patientDatabase })
  const clientOf: FaultStage['clientOf'] = (port, newer = {}, fetch = globalThis.fetch) =>
    createClient({
      // Longer than any answer takes on a busy machine: a write that is given up would be sent again, which some tests
      // forbid.
      baseUrl: `http://127.0.0.1:${port}`,
      tries: 1,
      timeoutMs: 60_000,
      deadlineMs: 60_000,
      fetch,
      clientId: partner.clientid,
      clientSecret: newer.clientsecret ?? partner.clientsecret,
      apiKey: newer.apikey ?? partner.apikey,
    })
  return {
    place: direct,
    partner,
    receiver,
    database,
    address,
    start,
    ports,
    clientOf,
    openJournal: ({ processes: count = 1, port, ...more }) =>
      openJournal(
        (port === undefined ? ports.slice(0, count) : [port]).map(one => clientOf(one)),
        more,
      ),
    refusals: () =>
      processes.flatMap(one => one.log().map(line => String(line['causecode'] ?? ''))).filter(isSlowness),
    async check(journal, movedTo = database) {
      logs = processes.map(one => one.stdout() + one.stderr()).join('')
      await checkLedger({ journal, receiver, database: movedTo, partnerId: partner.partnerid, logs })
    },
    async close() {
      await Promise.all(processes.map(one => one.stop('SIGKILL')))
      await receiver.close()
      await database.close()
      await drop()
      await remove()
    },
  }
}

/** Time limits of statements and locks, which a machine that stands still can reach, but no restart. */
function isSlowness(code: string): boolean {
  return code === '57014' || code === '55P03'
}
