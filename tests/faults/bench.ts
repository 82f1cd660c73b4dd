import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { type Client, type ClientOptions, createClient, type PartnerClient } from '../../client/src/index.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { urlOf } from '../command/database-url.ts'
import type { Created } from '../command/place.ts'
import {
  endDatabase,
  newDirectory,
  type Place,
  runJson,
  type ServiceProcess,
  startKeptProcess,
} from '../command/process.ts'
import { freePort } from '../free-port.ts'
import { patientDatabase } from '../patient-database.ts'
import { demoCatalogueFile, freshDatabase } from '../rig.ts'
import {
  type Entry,
  type Journal,
  type JournalOptions,
  type OwnJournal,
  openJournal,
  openOwnJournal,
} from '../trust/journal.ts'
import { type Books, checkEmbeddedLedger, checkLedger } from '../trust/ledger.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'
import { createPartnerOf, type Receiver, startReceiver } from './receiver.ts'

/** A point of the program (`points.mjs`), and which pass of it. */
export type Point = { readonly point: string; readonly count: number }

/** How a process is started, always on the port of its place, so that clients find it again. */
export type StartOptions = {
  readonly process?: number
  /** How far its clock is ahead. */
  readonly aheadMs?: number
  readonly drainSeconds?: number
  /** More settings. */
  readonly env?: Readonly<Record<string, string>>
  /** What Node starts instead of the command: another version of it. */
  readonly program?: string
}

export type BenchOptions = {
  /** `embedded`: the service has a database of its own, on a small disk where one can be mounted; else one of the test's server. */
  readonly home?: 'embedded'
  /** A database that is there, in place of a new one. */
  readonly on?: DatabaseAddress
  /** The service reaches its database through a proxy, which can lose commits. */
  readonly proxied?: boolean
  /** The keys lie in a file that all processes share, and can be rotated. */
  readonly keyring?: 'file'
  /** Gets an empty database, and makes its tables. */
  readonly migrate?: (place: Place) => Promise<unknown>
  /** Whether the receiver refuses some events at first, which costs some seconds of waiting; it does unless this is false. */
  readonly refuses?: boolean
}

/** A partner with its receiver, and what is written for it: the records that are compared at the end. */
export type Tenant = {
  readonly partner: Created
  readonly receiver: Receiver
  /** Writes that a test sends itself. */
  readonly own: OwnJournal
  /** A client with the partner's credentials, or with newer ones. */
  clientOf(port: number, newer?: Partial<Created>, more?: Partial<ClientOptions>): PartnerClient
  /** Writes that go to the first processes in turn, or to whoever these clients ask. */
  openJournal(options: JournalOptions & { processes?: number; clients?: readonly Client[] }): Journal
  /** Waits until so many more writes are acknowledged, which shows that the service works. */
  more(count: number): Promise<void>
  /** What was written so far. */
  entries(): readonly Entry[]
  /** While no process runs: makes due what waits for its next attempt, or was claimed by a process that is dead. */
  letAllBeDue(): Promise<unknown>
  /** Notes what is not on record as delivered, after a fault: from the first call on the ledger bears no repeat of what was. */
  noteUndelivered(): Promise<void>
  /**
   * Fails unless each acknowledged write was sent once: no refusal, and no broken connection. It says `Too slow` where the database
   * ended statements for which this machine took too long.
   */
  checkNothingRefused(): void
  /** Waits until all events are delivered, and compares the records, of this database or of the one that it moved to. */
  check(movedTo?: Database): Promise<void>
}

/** Processes of a service that may be hurt, and their first partner. */
export type Bench = Tenant & {
  /** Where commands run beside the service. */
  readonly place: Place & { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  /** A direct connection, and its address; not to an embedded database. */
  readonly database: Database
  readonly address: DatabaseAddress
  readonly proxy: PostgresProxy | undefined
  /** The directory of an embedded database, and whether its disk is a small one. */
  readonly dataDir: string
  readonly isSmall: boolean
  readonly ports: readonly number[]
  /** What each place ran last. */
  readonly processes: readonly ServiceProcess[]
  newTenant(): Promise<Tenant>
  start(which?: StartOptions): Promise<ServiceProcess>
  /** Starts a process that ends at this point, and waits for its end. Rejects when it does not come there. */
  killedAt(point: Point, which?: StartOptions): Promise<void>
  close(): Promise<void>
}

const preload = new URL('points.mjs', import.meta.url)

/** The settings with which a command ends at a point. */
export function endingAt({ point, count }: Point): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${preload}`, TEST_FAULT: `${point} ${count}` }
}

/** Makes the bench; on a database of the test's server nothing runs on it yet, on an embedded one the first process. */
export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const isEmbedded = options.home === 'embedded'
  const { address, drop } = options.on
    ? { address: options.on, drop: async () => {} }
    : await freshDatabase({ empty: options.migrate !== undefined })
  const { path, remove } = await newDirectory()
  const isSmall = isEmbedded && mountSmall(path)
  const dataDir = join(path, 'data')
  const ports = [await freePort(), await freePort()]
  const place = {
    cwd: path,
    env: {
      ...(isEmbedded ? {} : { DATABASE_URL: urlOf(address) }),
      ...(isEmbedded || options.keyring ? {} : { ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') }),
      ENROLMENT_ERASURES: join(path, 'erasures'),
      // The receiver is on this machine, which production refuses unless its operator says otherwise.
      ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
    },
  }
  const proxy = options.proxied ? await startPostgresProxy(address) : undefined
  const database = openDatabase(address, { max: 2, ...patientDatabase })
  const started: ServiceProcess[] = []
  const processes: ServiceProcess[] = []
  const receivers: Receiver[] = []

  const start = async ({ process = 0, ...which }: StartOptions = {}, fault = {}) => {
    const env = {
      ...place.env,
      ...(proxy ? { DATABASE_URL: proxy.url } : {}),
      NODE_OPTIONS: `--import=${preload}`,
      TEST_CLOCK_MS: String(which.aheadMs ?? 0),
      ENROLMENT_DRAIN_SECONDS: String(which.drainSeconds ?? 0),
      ...which.env,
      ...fault,
    }
    const words = ['serve', '--port', String(ports[process])]
    const one = await startKeptProcess(words, { ...place, env }, which.program)
    started.push(one)
    processes[process] = one
    return one
  }
  const newTenant = async (): Promise<Tenant> => {
    const receiver = await startReceiver({ refuses: options.refuses ?? true })
    receivers.push(receiver)
    const partner = await createPartnerOf(receiver, place)
    const check = (books: Omit<Books, 'database'>, movedTo: Database) =>
      isEmbedded ? checkEmbeddedLedger({ ...books, dataDir }) : checkLedger({ ...books, database: movedTo })
    return openTenant({ partner, receiver, ports, database, started, check })
  }
  await options.migrate?.(place)
  // Without a service a command makes the keys, and marks the database as one in production, at a fifth of the work of a start.
  if (isEmbedded) await start()
  const tenant = await newTenant()
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  return {
    ...tenant,
    ...{ place, database, address, proxy, dataDir, isSmall, ports, processes, newTenant },
    start: which => start(which),
    async killedAt({ point, count }, which = {}) {
      const one = await start(which, { TEST_FAULT: `${point} ${count}` }).catch((error: unknown) => {
        // A point may be passed before the process listens.
        if (!/ended with null/.test(String(error))) throw error
      })
      if (!one) return
      if (one.child.signalCode === null)
        await once(one.child, 'exit', { signal: AbortSignal.timeout(120_000) }).catch(() => {
          throw new Error(`never passed: ${point} ${count}`)
        })
      expect(one.child.signalCode).toBe('SIGKILL')
    },
    async close() {
      await Promise.all(started.map(one => one.stop('SIGKILL')))
      for (const receiver of receivers) await receiver.close()
      await proxy?.close()
      await database.close()
      await drop()
      await endDatabase(dataDir)
      if (isSmall) execFileSync('umount', ['-l', path])
      await remove()
    },
  }
}

/** Mounts a small file system there, if this system allows it. */
function mountSmall(path: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'small', path], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

function openTenant(of: {
  readonly partner: Created
  readonly receiver: Receiver
  readonly ports: readonly number[]
  readonly database: Database
  readonly started: readonly ServiceProcess[]
  readonly check: (books: Omit<Books, 'database'>, movedTo: Database) => Promise<void>
}): Tenant {
  const { partner, receiver, ports, database, started } = of
  const own = openOwnJournal()
  const journals: Journal[] = []
  let undelivered: Set<string> | undefined
  const clientOf: Tenant['clientOf'] = (port, newer = {}, more = {}) =>
    createClient({
      // Longer than any answer takes on a busy machine: a write that is given up would be sent again, which some tests
      // forbid.
      ...{ baseUrl: `http://127.0.0.1:${port}`, tries: 1, timeoutMs: 60_000, deadlineMs: 60_000 },
      clientId: partner.clientid,
      clientSecret: newer.clientsecret ?? partner.clientsecret,
      apiKey: newer.apikey ?? partner.apikey,
      ...more,
    })
  const entries = () => [...own.entries, ...journals.flatMap(journal => journal.entries)]
  const acknowledged = () => journals.reduce((sum, journal) => sum + journal.acknowledged(), 0)
  return {
    ...{ partner, receiver, own, clientOf, entries },
    openJournal({ processes = 1, clients = ports.slice(0, processes).map(one => clientOf(one)), ...more }) {
      const journal = openJournal(clients, more)
      journals.push(journal)
      return journal
    },
    // Not by `expect.poll`, which does not know its test where tests run side by side.
    async more(count) {
      const wanted = acknowledged() + count
      const isThere = () => expect(acknowledged()).toBeGreaterThan(wanted)
      await vi.waitFor(isThere, { timeout: 120_000, interval: 20 })
    },
    letAllBeDue: () =>
      database.query(sql`
        update deliveries set due_at = statement_timestamp()
        where partner_id = ${partner.partnerid} and due_at > statement_timestamp()`),
    async noteUndelivered() {
      const rows = await database.query<{ event_id: string }>(sql`
        select event_id from deliveries where partner_id = ${partner.partnerid}`)
      undelivered = new Set([...(undelivered ?? []), ...rows.map(row => row.event_id)])
    },
    checkNothingRefused() {
      const again = entries().filter(entry => entry.isAcknowledged && entry.sent !== 1)
      const slow = started.flatMap(one => one.log().map(line => `${line['causecode']}`)).filter(isSlowness)
      if (again.length > 0 && slow.length > 0) throw new Error(`Too slow: ${slow.join(' ')}`)
      expect(again).toEqual([])
    },
    check: (movedTo = database) =>
      of.check(
        {
          journal: { entries: entries(), wrong: journals.flatMap(({ wrong }) => wrong) },
          receiver,
          partnerId: partner.partnerid,
          logs: started.map(one => one.stdout() + one.stderr()).join(''),
          ...(undelivered ? { undelivered } : {}),
        },
        movedTo,
      ),
  }
}

/** Time limits of statements and locks, which a machine that stands still can reach, but no restart. */
function isSlowness(code: string): boolean {
  return code === '57014' || code === '55P03'
}
