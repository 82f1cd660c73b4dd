import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { dataDirOf, type Input, type Option, valued } from '@benefit-enrolment/cli/command'
import { type OwnedDatabase, ownEmbeddedDatabase } from '@benefit-enrolment/embedded-postgres'
import type { Config } from '../config.ts'
import { checkConnection } from '../db/connection-check.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../db/database.ts'
import { SERVICE_SESSIONS } from '../db/pool.ts'
import { rewriteTable } from '../db/rewrite-table.ts'
import { type Installation, loadKeyringFor, markInstallation } from '../installation.ts'
import { describeCause, type Log, levelOf, openLog } from '../log.ts'
import type { ErasureList } from '../membership/erasure-list/list.ts'
import { makeQuiet } from '../quiet.ts'
import type { Service } from '../service.ts'
import { nodeEndedOn } from '../system/node-support.ts'
import type { Keyring } from '../vault/keyring.ts'
import { serviceVersion } from '../version.ts'
import type { AddressRules } from '../webhooks/egress/address.ts'
import { placesOf } from './feeds/run-context.ts'
import {
  checkBaseUrl,
  checkHost,
  isSecure,
  type ListenAddress,
  listenAddressOf,
  listenErrorOf,
} from './listen-address.ts'
import { openLogStream } from './log-stream.ts'
import { bringErasures } from './operator/erasures.ts'
import { reach } from './reach.ts'
import { signalled } from './signals.ts'
import { webhookRulesOf } from './workspace.ts'

/** The options of the commands that serve. */
export const servingOptions: Readonly<Record<string, Option>> = {
  port: valued('PORT', 'port to listen on (default 8080; 0 picks a free one)'),
  host: valued('HOST', 'address to listen on (default 127.0.0.1)'),
}

/** The parts that exist once the service runs. */
type Running = {
  readonly service: Service
  readonly erasures: ErasureList | undefined
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

type Prepared = Omit<Running, 'service' | 'erasures'>

/** Work beside the service: prepared before it listens, ended after it. */
export type Beside = {
  /**
   * Whether a person reads along: routine lines are left out until the service has started, and the line for each request unless
   * ENROLMENT_LOG asks for it.
   */
  readonly isForPeople?: boolean
  /** Runs before the service listens: creates the catalogue and the partner. */
  readonly prepare?: (prepared: Prepared) => Promise<void>
  /**
   * Runs after the service listens and before it says so. Returns the text to print then, or with --json what to add to
   * the object that is printed, and the function that ends the work.
   */
  readonly started?: (
    running: Running,
  ) => Promise<{ greeting: string; answer: object; close: () => Promise<void> }>
}

/**
 * Runs the service until a signal ends it: it answers accepted requests, then leaves the database in order. A second
 * signal within a second is the same Ctrl-C arriving twice; a later one ends the process at once.
 */
export async function runService(
  input: Input,
  config: Config,
  wanted: 'sandbox' | 'live',
  beside: Beside = {},
): Promise<void> {
  // Checked first, so that a refusal leaves nothing behind.
  const address = listenAddressOf(input, config)
  await checkHost(address)
  // On a machine with much memory V8 lets the heap grow to four times what was alive before it collects; 1.6 times is enough.
  setFlagsFromString('--heap-growing-percent=60')
  // When most of what one line of code allocates outlives a collection, V8 lets that line make only old objects. During a
  // burst of load that is true of much that a request makes. Then such objects, and all they refer to, fill the old heap
  // although they are needed for milliseconds, and collecting it took 29 % of the time of a read.
  setFlagsFromString('--no-allocation-site-pretenuring')
  const { log: write, flush } = openLog(openLogStream(), Date.now, config.logLevel)
  let isSilent = beside.isForPeople === true
  const log: Log = (event, fields) => {
    if (isSilent && event === 'database_account') process.stderr.write(accountNote(fields))
    else if (!isSilent || levelOf(event) !== 'info') write(event, fields)
  }
  const logsRequests =
    config.logLevel === 'info' && (!beside.isForPeople || input.environment['ENROLMENT_LOG'] !== undefined)
  // Every way out except a kill passes here, and standard error accepts the text before the process is gone.
  process.on('exit', flush)
  if (wanted === 'live') checkBaseUrl(address, config, input.flag('insecure-http'))
  const ended = signalled(log, config.drainSeconds)
  const dataDir = dataDirOf(input)
  const closers: (() => Promise<void>)[] = []
  const end = (close: () => Promise<void>) =>
    close().catch(error => log('close_failed', describeCause(error)))
  try {
    const owned = config.databaseUrl === undefined ? await ownEmbeddedDatabase({ dataDir, log }) : undefined
    if (owned) closers.unshift(() => owned.stop())
    const prepared = await prepare(config, { dataDir, owned, log, wanted, quiet: input.flag('quiet') })
    closers.unshift(() => prepared.database.close())
    closers.unshift(() => prepared.deliveryDatabase.close())
    const erasures = await bringErasures(config, prepared)
    await beside.prepare?.(prepared)
    const service = await listen(address, config, { prepared, owned, erasures, logsRequests })
    closers.unshift(() => service.close())
    const { startMetricsListener } = await import('../system/metrics-listener.ts')
    closers.unshift(await startMetricsListener(config.metrics, service))
    const besides = await beside.started?.({ ...prepared, service, erasures })
    if (besides) closers.unshift(besides.close)
    const { address: here, baseUrl } = service
    const answer = { address: here, baseurl: baseUrl, ...besides?.answer }
    const greeting = input.flag('json') ? `${JSON.stringify(answer)}\n` : (besides?.greeting ?? '')
    // Printed last, because a reader of this line may stop the process right away.
    process.stdout.write(`listening on ${here}\n${greeting}`)
    isSilent = false
    log('started', {
      version: serviceVersion,
      address: service.address,
      sandbox: prepared.installation.sandbox,
    })
    const endedOn = nodeEndedOn(process.version, Date.now())
    if (endedOn !== undefined) log('node_unsupported', { node: process.version, since: endedOn })
    if (wanted === 'live' && !isSecure(config)) log('insecure_base_url', { baseurl: service.baseUrl })
    const signal = await ended
    // A person at a terminal should not have to wait; an orchestrator needs time to send requests elsewhere.
    if (signal === 'SIGTERM' && wanted === 'live' && config.drainSeconds > 0) {
      service.drain()
      await setTimeout(config.drainSeconds * 1000)
    }
  } finally {
    for (const close of closers) await end(close)
    // Gathered log lines are written here, so that the sentence about a refused start is the last line.
    flush()
  }
  log('stopped')
  // Everything is closed; a reader of the log that no longer reads must not hold the process back.
  void setTimeout(1000, undefined, { ref: false }).then(() => process.exit())
}

/** Root sees which user runs PostgreSQL in its place. */
function accountNote({ user, isShared }: Readonly<Record<string, unknown>> = {}): string {
  const whose = isShared
    ? 'because no user could be made for it'
    : 'a user of this machine that was made for it'
  return `PostgreSQL never runs as root: it runs as ${user}, ${whose}.\n`
}

const DELIVERY_CONNECTIONS = 4

async function prepare(
  config: Config,
  context: {
    dataDir: string
    owned: OwnedDatabase | undefined
    log: Log
    wanted: 'sandbox' | 'live'
    quiet: boolean
  },
): Promise<Prepared> {
  const { dataDir, owned, log, wanted } = context
  const address = owned?.address ?? { url: config.databaseUrl ?? '' }
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
    const own = { dataDir, lowOnSpace: owned?.lowOnSpace ?? (() => false), log }
    return { database, deliveryDatabase, webhookRules, keyring, installation, address, ...own }
  } catch (error) {
    await database.close()
    throw error
  }
}

async function listen(
  { host, port }: ListenAddress,
  config: Config,
  context: {
    prepared: Prepared
    owned: OwnedDatabase | undefined
    erasures: ErasureList | undefined
    logsRequests: boolean
  },
): Promise<Service> {
  const { prepared, owned, erasures, logsRequests } = context
  // The largest part is loaded last, so that a refused start does not load it.
  const { startService } = await import('../service.ts')
  try {
    return await startService({
      ...prepared,
      host,
      port,
      baseUrl: config.baseUrl,
      trustProxy: config.trustProxy,
      webhookProxy: config.webhookProxy,
      limits: config.limits,
      requestLimits: config.requestLimits,
      auditKeepMs: config.auditKeepMs,
      securityContact: config.securityContact,
      erasures,
      feeds: placesOf({ config, ...prepared }),
      logsRequests,
      real: Date.now,
      ...(owned && { rewriteKeys: () => rewriteTable({ ...owned.address, user: 'postgres' }, 'data_keys') }),
    })
  } catch (error) {
    throw listenErrorOf(error, { host, port })
  }
}
