import { setTimeout } from 'node:timers/promises'
import { dataDirOf, type Input, type Option, valued } from '@benefit-enrolment/command'
import { type OwnedDatabase, ownEmbeddedDatabase } from '@benefit-enrolment/embedded-postgres'
import type { Config } from '../config.ts'
import { describeCause, type Log, levelOf } from '../log.ts'
import type { ErasureList } from '../membership/erasure-list/list.ts'
import type { Service } from '../service.ts'
import { nodeEndedOn } from '../system/node-support.ts'
import { serviceVersion } from '../version.ts'
import { checkBaseUrl, checkHost, isSecure, type ListenAddress, listenAddressOf } from './listen-address.ts'
import { DELIVERY_CONNECTIONS, listen, openServingProcess, type Prepared, prepare } from './open-service.ts'
import { bringErasures } from './operator/erasures.ts'
import { signalled } from './signals.ts'

/** The options of the commands that serve. */
export const servingOptions: Readonly<Record<string, Option>> = {
  port: valued('PORT', 'port to listen on (default 8080; 0 picks a free one)'),
  host: valued('HOST', 'address to listen on (default 127.0.0.1)'),
}

/** The parts that exist once the service runs. */
type Running = Prepared & { readonly service: Service; readonly erasures: ErasureList | undefined }

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
  const { log: write, flush } = openServingProcess(config)
  let isSilent = beside.isForPeople === true
  const log: Log = (event, fields) => {
    if (isSilent && event === 'database_account') process.stderr.write(accountNote(fields))
    else if (!isSilent || levelOf(event) !== 'info') write(event, fields)
  }
  const logsRequests =
    config.logLevel === 'info' && (!beside.isForPeople || input.environment['ENROLMENT_LOG'] !== undefined)
  if (wanted === 'live') checkBaseUrl(address, config, input.flag('insecure-http'))
  let replaceWorkers: (() => void) | undefined
  const ended = signalled(log, config.drainSeconds, () => replaceWorkers)
  const dataDir = dataDirOf(input)
  const closers: (() => Promise<void>)[] = []
  const end = (close: () => Promise<void>) =>
    close().catch(error => log('close_failed', describeCause(error)))
  try {
    const owned = config.databaseUrl === undefined ? await ownEmbeddedDatabase({ dataDir, log }) : undefined
    if (owned) closers.unshift(() => owned.stop())
    const context = { dataDir, embedded: owned, log, wanted, quiet: input.flag('quiet') }
    const prepared = await prepare(config, context)
    closers.unshift(prepared.deliveryDatabase.close, prepared.database.close)
    const { list: erasures, close: stopErasing } = await bringErasures(config, prepared)
    closers.unshift(stopErasing)
    await beside.prepare?.(prepared)
    const processes = wanted === 'live' ? await processesOf(config, prepared) : 1
    const opened = { prepared, owned, erasures, logsRequests }
    const serving =
      processes > 1
        ? await serveByWorkers(address, config, { ...opened, processes })
        : await serveHere(address, config, opened)
    replaceWorkers = serving.replace
    closers.unshift(serving.close)
    const { startMetricsListener } = await import('../system/metrics-listener.ts')
    closers.unshift(await startMetricsListener(config.metrics, serving))
    const besides =
      serving.service && (await beside.started?.({ ...prepared, service: serving.service, erasures }))
    if (besides) closers.unshift(besides.close)
    const { address: here, baseUrl } = serving
    const answer = { address: here, baseurl: baseUrl, ...besides?.answer }
    const greeting = input.flag('json') ? `${JSON.stringify(answer)}\n` : (besides?.greeting ?? '')
    // Printed last, because a reader of this line may stop the process right away.
    process.stdout.write(`listening on ${here}\n${greeting}`)
    isSilent = false
    log('started', {
      version: serviceVersion,
      address: here,
      sandbox: prepared.installation.sandbox,
      ...(processes > 1 && { processes }),
    })
    const endedOn = nodeEndedOn(process.version, Date.now())
    if (endedOn !== undefined) log('node_unsupported', { node: process.version, since: endedOn })
    if (wanted === 'live' && !isSecure(config)) log('insecure_base_url', { baseurl: baseUrl })
    const signal = await ended
    // A person at a terminal should not have to wait; an orchestrator needs time to send requests elsewhere.
    if (signal === 'SIGTERM' && wanted === 'live' && config.drainSeconds > 0) {
      serving.drain()
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

/** What serves the address: this process, or others of which it is the parent. */
type Serving = {
  readonly address: string
  readonly baseUrl: string
  /** Absent: other processes serve. */
  readonly service?: Service
  /** Puts new processes in the place of those that serve; absent: this process serves. */
  readonly replace?: () => void
  metrics(): Promise<string>
  drain(): void
  close(): Promise<void>
}

type Opened = {
  readonly prepared: Prepared
  readonly owned: OwnedDatabase | undefined
  readonly erasures: ErasureList | undefined
  readonly logsRequests: boolean
}

async function processesOf(config: Config, { database }: Prepared): Promise<number> {
  const { countProcesses } = await import('./processes/count.ts')
  return countProcesses(config, database, DELIVERY_CONNECTIONS)
}

async function serveHere(address: ListenAddress, config: Config, opened: Opened): Promise<Serving> {
  const scrubs = opened.owned !== undefined
  const service = await listen(address, config, { ...opened, processes: 1, scrubs })
  const { metricsOf, processMetrics } = await import('../system/process-metrics.ts')
  // prom-client measures from its first call on, so it is called before the first scrape.
  if (config.metrics.port !== undefined) await processMetrics()
  const { address: here, baseUrl, drain, close } = service
  return { address: here, baseUrl, drain, close, service, metrics: () => metricsOf(service) }
}

async function serveByWorkers(
  address: ListenAddress,
  config: Config,
  { prepared, owned, processes }: Opened & { readonly processes: number },
): Promise<Serving> {
  const { startWorkers } = await import('./processes/workers.ts')
  return startWorkers({
    embedded: owned?.address,
    listenAt: address,
    processes,
    lowOnSpace: prepared.lowOnSpace,
    drainSeconds: config.drainSeconds,
    log: prepared.log,
  })
}
