import { type Config, isPort } from '../config.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { type OwnedDatabase, ownEmbeddedDatabase } from '../embedded/own.ts'
import { claimInstallation, type Installation } from '../installation.ts'
import { describeCause, type Log, logTo } from '../log.ts'
import { OperatorError } from '../operator-error.ts'
import type { Service } from '../service.ts'
import { type Keyring, loadKeyring } from '../vault/keyring.ts'
import type { AddressRules } from '../webhooks/address.ts'
import { type Input, type Option, UsageError } from './command.ts'
import { dataDirOf, reach, webhookRulesOf } from './workspace.ts'

/** The options of the commands that serve. */
export const servingOptions: Readonly<Record<string, Option>> = {
  port: { type: 'string', value: 'PORT', help: 'port to listen on (default 8080; 0 picks a free one)' },
  host: { type: 'string', value: 'HOST', help: 'address to listen on (default 127.0.0.1)' },
}

/** What is there once the service runs. */
export type Running = {
  readonly service: Service
  readonly database: Database
  readonly deliveryDatabase: Database
  readonly webhookRules: AddressRules
  readonly keyring: Keyring
  readonly installation: Installation
  readonly dataDir: string
  readonly log: Log
}

type Prepared = Omit<Running, 'service'>

/** Work beside the service: made before it listens, ended after it. */
export type Beside = {
  /** Before the service listens: the catalogue, the partner. */
  readonly prepare?: (prepared: Prepared) => Promise<void>
  /** After it listens and before it says so. Gives what is printed then, and what ends it. */
  readonly started?: (running: Running) => Promise<{ greeting: string; close: () => Promise<void> }>
}

/**
 * Runs the service until a signal ends it: accepted requests are answered, then the database is left in order.
 * A second signal within a second is the same Ctrl-C arriving twice; a later one ends the process at once.
 */
export const runService = async (
  input: Input,
  config: Config,
  wanted: 'sandbox' | 'live',
  beside: Beside = {},
): Promise<void> => {
  // First of all: what is refused here has made nothing.
  const place = placeOf(input, config)
  const log = logTo(process.stderr, Date.now)
  const ended = signalled(log)
  const dataDir = dataDirOf(input, config)
  const closers: (() => Promise<void>)[] = []
  try {
    const owned = config.databaseUrl === undefined ? await ownEmbeddedDatabase({ dataDir, log }) : undefined
    if (owned) closers.unshift(() => owned.stop())
    const prepared = await prepare(config, { dataDir, owned, log, wanted })
    closers.unshift(() => prepared.database.close())
    closers.unshift(() => prepared.deliveryDatabase.close())
    await beside.prepare?.(prepared)
    const service = await listen(place, config, { prepared, owned })
    closers.unshift(() => service.close())
    const { startMetricsListener } = await import('../system/metrics-listener.ts')
    const endMetrics = await startMetricsListener(config.metricsPort, service)
    closers.unshift(endMetrics)
    const besides = await beside.started?.({ ...prepared, service })
    if (besides) closers.unshift(besides.close)
    // Told last, as whoever reads it may stop us right away.
    process.stdout.write(`listening on ${service.address}\n${besides?.greeting ?? ''}`)
    log('started', { address: service.address, sandbox: prepared.installation.sandbox })
    await ended
  } finally {
    for (const close of closers) {
      await close().catch(error => log('close_failed', describeCause(error)))
    }
  }
  log('stopped')
}

const deliveryConnections = 4

const prepare = async (
  config: Config,
  context: { dataDir: string; owned: OwnedDatabase | undefined; log: Log; wanted: 'sandbox' | 'live' },
): Promise<Prepared> => {
  const { dataDir, owned, log, wanted } = context
  const address = owned?.address ?? { url: config.databaseUrl ?? '' }
  const onError = (error: Error) => log('database_connection_lost', describeCause(error))
  const database = openDatabase(address, { max: config.databaseConnections, onError })
  try {
    const applied = await reach(database)
    if (applied.length > 0) log('migrated', { applied })
    const keyring = loadKeyring({
      dataDir,
      ...(config.rootKey === undefined ? {} : { rootKey: config.rootKey }),
      onUnreadable: error => log('keyring_unreadable', describeCause(error)),
    })
    const installation = await claimInstallation(database, { keyring, wanted, now: Date.now() })
    const deliveryDatabase = openDatabase(address, { max: deliveryConnections, onError })
    const webhookRules = webhookRulesOf(config, installation)
    return { database, deliveryDatabase, webhookRules, keyring, installation, dataDir, log }
  } catch (error) {
    await database.close()
    throw error
  }
}

type Place = { readonly host: string; readonly port: number }

/** Where to listen. Throws UsageError on what is no port. */
const placeOf = (input: Input, config: Config): Place => {
  const text = input.text('port')
  if (text !== undefined && !isPort(text))
    throw new UsageError('--port must be a port number from 0 to 65535; see --help.')
  return {
    host: input.text('host') ?? config.host ?? '127.0.0.1',
    port: text === undefined ? (config.port ?? 8080) : Number(text),
  }
}

const listen = async (
  { host, port }: Place,
  config: Config,
  context: { prepared: Prepared; owned: OwnedDatabase | undefined },
): Promise<Service> => {
  const { prepared, owned } = context
  // What is most to load comes last: whatever refuses the start does so without it.
  const { startService } = await import('../service.ts')
  try {
    return await startService({
      database: prepared.database,
      deliveryDatabase: prepared.deliveryDatabase,
      webhookRules: prepared.webhookRules,
      keyring: prepared.keyring,
      installation: prepared.installation,
      host,
      port,
      baseUrl: config.baseUrl,
      trustProxy: config.trustProxy,
      limits: config.limits,
      requestLimits: config.requestLimits,
      log: prepared.log,
      real: Date.now,
      ...(owned ? { lowOnSpace: owned.lowOnSpace } : {}),
    })
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'EADDRINUSE') {
      throw new OperatorError(
        `Port ${port} is taken: stop what listens there, or give another --port (0 picks a free one).`,
      )
    }
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES' || code === 'ENOTFOUND') {
      throw new OperatorError(`It cannot listen on ${host}:${port} (${code}): give another --host or --port.`)
    }
    throw error
  }
}

/** Resolves at the first SIGTERM, SIGINT or SIGHUP. */
const signalled = (log: Log): Promise<void> =>
  new Promise(resolve => {
    let firstAt = 0
    const onSignal = (signal: string) => {
      const now = Date.now()
      if (firstAt > 0 && now - firstAt > 1000) process.exit(130)
      if (firstAt > 0) return
      firstAt = now
      log('stopping', { signal })
      // Whatever hangs must not hold the process longer than an orchestrator waits.
      setTimeout(() => process.exit(1), 14_000).unref()
      resolve()
    }
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, onSignal)
    process.on('uncaughtException', error => {
      log('crashed', describeCause(error))
      process.exitCode = 1
      process.exit(1)
    })
  })
