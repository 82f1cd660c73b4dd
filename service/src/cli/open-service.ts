import { setFlagsFromString } from 'node:v8'
import type { SocketAddress } from '@benefit-enrolment/embedded-postgres'
import type { ServiceOptions } from '../assembly/options.ts'
import type { Config } from '../config.ts'
import { checkConnection } from '../db/connection-check.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../db/database.ts'
import { SERVICE_SESSIONS } from '../db/pool.ts'
import { rewriteTable } from '../db/rewrite-table.ts'
import { type Installation, loadKeyringFor, markInstallation } from '../installation.ts'
import { describeCause, type Log, openLog } from '../log.ts'
import type { ErasureList } from '../membership/erasure-list/list.ts'
import { makeQuiet } from '../quiet.ts'
import type { Service } from '../service.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { AddressRules } from '../webhooks/egress/address.ts'
import { placesOf } from './feeds/run-context.ts'
import { type ListenAddress, listenErrorOf } from './listen-address.ts'
import { openLogStream } from './log-stream.ts'
import { reach } from './reach.ts'
import { webhookRulesOf } from './workspace.ts'

/** What a process has before it listens. */
export type Prepared = {
  readonly database: Database
  readonly deliveryDatabase: Database
  readonly webhookRules: AddressRules
  readonly keyring: Keyring
  readonly installation: Installation
  readonly address: DatabaseAddress
  readonly dataDir: string
  /** Whether the disk of the embedded database is nearly full. */
  readonly lowOnSpace: () => boolean
  readonly log: Log
}

/** The embedded database, as a process sees it that need not own it. */
type Embedded = { readonly address: SocketAddress; readonly lowOnSpace: () => boolean }

/** The most connections that deliver webhooks. */
export const DELIVERY_CONNECTIONS = 4

/** Sets up a process that serves: its memory, and its log, of which nothing is lost when the process ends. */
export function openServingProcess(config: Config): ReturnType<typeof openLog> {
  // On a machine with much memory V8 lets the heap grow to four times what was alive before it collects; 1.6 times is enough.
  setFlagsFromString('--heap-growing-percent=60')
  // When most of what one line of code allocates outlives a collection, V8 lets that line make only old objects. During a
  // burst of load that is true of much that a request makes. Then such objects, and all they refer to, fill the old heap
  // although they are needed for milliseconds, and collecting it took 29 % of the time of a read.
  setFlagsFromString('--no-allocation-site-pretenuring')
  const opened = openLog(openLogStream(), Date.now, config.logLevel)
  // Every way out except a kill passes here, and standard error accepts the text before the process is gone.
  process.on('exit', opened.flush)
  return opened
}

/**
 * Opens the database, brings its schema up, and reads keys and marks. Throws OperatorError when database or keys are not to
 * be used like that.
 */
export async function prepare(
  config: Config,
  context: {
    dataDir: string
    embedded: Embedded | undefined
    log: Log
    wanted: 'sandbox' | 'live'
    quiet: boolean
  },
): Promise<Prepared> {
  const { dataDir, embedded, log, wanted } = context
  const address = embedded?.address ?? { url: config.databaseUrl ?? '' }
  const onError = (error: Error) => log('database_connection_lost', describeCause(error))
  const shared = { onError, sessionName: SERVICE_SESSIONS }
  await checkConnection(address)
  const database = openDatabase(address, { max: config.databaseConnections, ...shared })
  try {
    const applied = await reach(database, 'bring up', {
      onHeldUp: name => log('migration_held_up', { name }),
    })
    if (applied.length > 0) log('migrated', { applied })
    const keyring = await loadKeyringFor(database, {
      dataDir,
      rootKey: config.rootKey,
      onUnreadable: error => log('keyring_unreadable', describeCause(error)),
    })
    const installation = await markInstallation(database, { keyring, wanted, now: Date.now() })
    if (context.quiet) await makeQuiet(database, Date.now())
    const deliveryDatabase = openDatabase(address, { max: DELIVERY_CONNECTIONS, ...shared })
    const webhookRules = webhookRulesOf(config, installation)
    const own = { dataDir, lowOnSpace: embedded?.lowOnSpace ?? (() => false), log }
    return { database, deliveryDatabase, webhookRules, keyring, installation, address, ...own }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Starts the service on what was prepared. Throws OperatorError when it cannot listen there. */
export async function listen(
  { host, port }: ListenAddress,
  config: Config,
  context: {
    prepared: Prepared
    erasures: ErasureList | undefined
    logsRequests: boolean
    /** How many processes share the machine. */
    processes: number
    /** Whether this process removes the keys of erased users from the files of the embedded database. */
    scrubs: boolean
    /** The connections come from a parent that listens; absent: this process listens. */
    handed?: ServiceOptions['handed']
    /** Tells the other processes; absent: there are none. */
    tellOthers?: ServiceOptions['tellOthers']
  },
): Promise<Service> {
  const { prepared, erasures, logsRequests, processes, scrubs, handed, tellOthers } = context
  const { address } = prepared
  // The largest part is loaded last, so that a refused start does not load it.
  const { startService } = await import('../service.ts')
  try {
    return await startService({
      ...prepared,
      host,
      port,
      processes,
      baseUrl: config.baseUrl,
      trustProxy: config.trustProxy,
      webhookProxy: config.webhookProxy,
      limits: config.limits,
      requestLimits: config.requestLimits,
      auditKeepMs: config.auditKeepMs,
      securityContact: config.securityContact,
      drafts: config.drafts,
      erasures,
      feeds: placesOf({ config, ...prepared }),
      logsRequests,
      real: Date.now,
      ...(handed && { handed }),
      ...(tellOthers && { tellOthers }),
      ...(scrubs && {
        rewriteKeys: cell => rewriteTable({ ...address, user: 'postgres' }, { table: 'data_keys', cell }),
      }),
    })
  } catch (error) {
    throw listenErrorOf(error, { host, port })
  }
}
