import type { RequestLimits } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { accountHandlers } from './accounts/handlers.ts'
import { benefitHandlers } from './benefits/handlers.ts'
import { openPublished } from './catalogue/published.ts'
import type { Database } from './db/database.ts'
import { sql } from './db/sql.ts'
import { openStatistics } from './db/statistics.ts'
import { type AdmissionLimits, defaultLimits } from './http/admission.ts'
import { openGate } from './http/gate.ts'
import { watchLoad } from './http/load.ts'
import { mountOperations } from './http/mount.ts'
import { refuseEarly } from './http/refuse-early.ts'
import { defaultRequestLimits } from './http/request-limits.ts'
import { createServer } from './http/server.ts'
import { ServiceError } from './http/service-error.ts'
import { shedOverload } from './http/shedding.ts'
import type { Installation } from './installation.ts'
import { describeCause, type Log } from './log.ts'
import { openAccountCommands } from './membership/account-command.ts'
import type { LedgerContext } from './membership/command.ts'
import { type Ledger, openLedger } from './membership/ledger.ts'
import { openTerms } from './membership/open-terms.ts'
import { openReader } from './membership/reader.ts'
import { mountOAuth } from './oauth/handlers.ts'
import { offerHandlers } from './offers/handlers.ts'
import { authenticatePartner, refuseFailures } from './partners/authenticate.ts'
import { openClaimants } from './partners/claimant.ts'
import { openDirectory } from './partners/directory.ts'
import { partnerOf } from './partners/keys.ts'
import { clockOn } from './partners/partner.ts'
import { limitRequests } from './partners/rate-limit.ts'
import { listPartners } from './partners/store.ts'
import { prefillHandlers } from './prefill/handlers.ts'
import { linkTokenHandlers } from './registration/link-tokens.ts'
import { mountRegistration } from './registration/mount.ts'
import { deleteOldSessions } from './registration/store.ts'
import { sandboxHandlers } from './sandbox/handlers.ts'
import { openSchedule } from './schedule/schedule.ts'
import { loadMetrics } from './system/load-metrics.ts'
import { mountSystem } from './system/mount.ts'
import type { Keyring } from './vault/keyring.ts'
import type { AddressRules } from './webhooks/address.ts'
import { cleanUpWebhooks } from './webhooks/clean-up.ts'
import { type Dispatcher, type DispatcherOptions, openDispatcher } from './webhooks/dispatcher.ts'
import { eventHandlers } from './webhooks/event-handlers.ts'
import { webhookHandlers } from './webhooks/handlers.ts'
import { webhookMetrics } from './webhooks/metrics.ts'
import { createOutgoing } from './webhooks/outgoing.ts'
import { createResolver } from './webhooks/resolver.ts'

/** What a service is made of. */
export type ServiceOptions = {
  readonly database: Database
  /** Connections of their own for the delivery of webhooks, so that neither starves the other. */
  readonly deliveryDatabase: Database
  readonly keyring: Keyring
  readonly installation: Installation
  readonly host: string
  readonly port: number
  /** Where the world reaches it; absent: the address it listens on. */
  readonly baseUrl?: string | undefined
  readonly trustProxy?: readonly string[]
  readonly log: Log
  /** Real time. */
  readonly real: () => number
  /** Which addresses webhooks may reach. */
  readonly webhookRules: AddressRules
  readonly dispatcher?: DispatcherOptions
  /** From where on it sheds; absent: the defaults. */
  readonly limits?: AdmissionLimits
  /** What a request may be; absent: the defaults. */
  readonly requestLimits?: RequestLimits
  /** True while writes are refused because the disk is nearly full. */
  readonly lowOnSpace?: () => boolean
}

/** A running service. */
export type Service = {
  /** Where it listens, `http://HOST:PORT`. */
  readonly address: string
  readonly baseUrl: string
  /** The numbers of this process, as Prometheus reads them. */
  metrics(): Promise<string>
  /** What delivers the webhooks. */
  readonly dispatcher: Dispatcher
  /** Applies everything that is due now. */
  runDue(): Promise<number>
  /** Answers what was accepted, ends its work and lets go of everything; the database stays open. */
  close(): Promise<void>
}

/** Assembles and starts a service on a database that is migrated. Rejects when the address is taken. */
export const startService = async (options: ServiceOptions): Promise<Service> => {
  const { database, keyring, installation, log, real } = options
  const { sandbox } = installation
  const mode = sandbox ? 'sandbox' : 'live'
  const clock = clockOn(real)
  let address = ''
  const baseUrl = () => options.baseUrl ?? address
  const basePath = options.baseUrl ? new URL(options.baseUrl).pathname.replace(/\/+$/, '') : ''
  let isClosing = false
  let askedAt = Number.NEGATIVE_INFINITY

  const resolver = createResolver()
  const outgoing = createOutgoing({ rules: options.webhookRules, resolver })
  const metrics = webhookMetrics({ database: options.deliveryDatabase, real })
  const directory = openDirectory({ database, keyring, mode, real })
  const dispatcher = openDispatcher(
    { database: options.deliveryDatabase, directory, outgoing, metrics, real, log },
    options.dispatcher,
  )
  const statistics = openStatistics(database, error => log('analyze_failed', describeCause(error)))
  const published = openPublished({ database, real })
  const { terms, prepareTerms, consentHash } = openTerms({ published, real })
  const context: LedgerContext = {
    database,
    clock,
    sandbox,
    terms,
    prepareTerms,
    consentHash,
    onEvents: (partnerIds, count) => {
      dispatcher.nudge(partnerIds)
      statistics.noteEvents(count)
    },
  }
  const ledger = guardSpace(openLedger(context), options.lowOnSpace)
  const reader = openReader(context)
  const schedule = openSchedule({
    database,
    // A ledger of its own, with short batches: what is due never stands in front of a request.
    ledger: guardSpace(openLedger(context, 64), options.lowOnSpace),
    clock,
    partners: async () => (await listPartners(database)).map(row => partnerOf(row, keyring)),
    isServing: () => performance.now() - askedAt < 100,
    tidy: async () => {
      await cleanUpWebhooks(options.deliveryDatabase, real())
      await deleteOldSessions(database, real())
    },
    onError: error => log('schedule_failed', describeCause(error)),
  })
  const commands = openAccountCommands({ ledger, reader, terms })

  const limits = options.limits ?? defaultLimits
  const requestLimits = options.requestLimits ?? defaultRequestLimits
  const app: FastifyInstance = createServer({
    baseUrl,
    basePath,
    trustProxy: options.trustProxy ?? [],
    log,
    real,
    limits: requestLimits,
  })
  app.addHook('onRequest', (_request, _reply, done) => {
    askedAt = performance.now()
    done()
  })
  const gate = openGate(limits)
  const endWatch = watchLoad(gate, log)
  const shedding = { gate, claimantOf: openClaimants(directory) }
  shedOverload(app, shedding)
  refuseEarly(app, { ...shedding, basePath, baseUrl, real })
  const limit = limitRequests(real)
  const refuse = refuseFailures({ sandbox, real, limit: requestLimits.failedAuthentications })
  mountOAuth(app, { database, directory, keyring, mode, real, refuse, baseUrl, basePath })
  mountSystem(app, {
    baseUrl,
    basePath,
    sandbox,
    limits: { ...limits, ...requestLimits },
    isReady: async () => !isClosing && !(options.lowOnSpace?.() ?? false) && (await isReachable(database)),
  })
  const webhooks = { database, rules: options.webhookRules, real, onChange: dispatcher.refresh }
  mountRegistration(app, {
    database,
    directory,
    ledger,
    reader,
    keyring,
    mode,
    clock,
    terms,
    baseUrl,
    basePath,
    log,
  })
  mountOperations(
    app,
    {
      ...prefillHandlers({ ledger, clock }),
      ...benefitHandlers({ reader, commands, baseUrl }),
      ...accountHandlers({ commands, reader, clock }),
      ...offerHandlers({ commands }),
      ...linkTokenHandlers({ database, reader, keyring, mode, real, baseUrl }),
      ...webhookHandlers(webhooks),
      ...eventHandlers(webhooks),
      ...(sandbox ? sandboxHandlers({ database, directory, clock, schedule }) : {}),
    },
    {
      basePath,
      authenticate: authenticatePartner({ directory, refuse }),
      limit: caller => limit(caller.partner),
    },
  )
  const load = loadMetrics(gate)
  const endDelivery = async () => {
    endWatch()
    await dispatcher.close()
    await outgoing.close()
    resolver.close()
    await statistics.idle()
  }
  try {
    address = await app.listen({ host: options.host, port: options.port, backlog: 4096 })
  } catch (error) {
    await endDelivery()
    throw error
  }
  schedule.start()

  return {
    address,
    baseUrl: baseUrl(),
    dispatcher,
    metrics: async () => (await metrics.render()) + (await load()),
    runDue: schedule.runAll,
    async close() {
      isClosing = true
      await app.close()
      await schedule.close()
      await endDelivery()
    },
  }
}

const isReachable = async (database: Database): Promise<boolean> => {
  try {
    await database.query(sql`select 1`)
    return true
  } catch {
    return false
  }
}

/** Refuses writes while the disk is nearly full: the database must never run into its end. */
const guardSpace = (ledger: Ledger, lowOnSpace: (() => boolean) | undefined): Ledger =>
  lowOnSpace
    ? {
        ...ledger,
        submit: command =>
          lowOnSpace() ? Promise.reject(new ServiceError('unavailable')) : ledger.submit(command),
      }
    : ledger
