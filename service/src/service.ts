import type { OperationIdOf, RequestLimits, SandboxOperationId } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { beneficiaryHandlers } from './accounts/beneficiary-handlers.ts'
import { accountHandlers } from './accounts/handlers.ts'
import { noteReads } from './accounts/note-reads.ts'
import { openBlockKeys } from './audit/block-keys.ts'
import { deleteBefore, sealBlocks } from './audit/seal.ts'
import { openTrail } from './audit/trail.ts'
import { benefitHandlers } from './benefits/handlers.ts'
import { openPublished } from './catalogue/published.ts'
import { deleteOldSignIns } from './console/operators/store.ts'
import { type RunningConsole, startConsole } from './console/page/listener.ts'
import type { Database } from './db/database.ts'
import { newestMigration } from './db/migrate.ts'
import type { Rewritten } from './db/rewrite-table.ts'
import { learnLayout } from './db/spread.ts'
import { openStatistics } from './db/statistics.ts'
import { probeWrites } from './db/write-probe.ts'
import { mountDocs } from './docs/mount.ts'
import { type AdmissionLimits, defaultLimits } from './http/admission.ts'
import { openGate } from './http/gate.ts'
import { watchLoad } from './http/load.ts'
import { type Handlers, type MountContext, mountOperations } from './http/mount.ts'
import { refuseEarly } from './http/refuse-early.ts'
import { refuseWhileQuiet } from './http/refuse-while-quiet.ts'
import { openRequestCounts } from './http/request-counts.ts'
import { defaultRequestLimits } from './http/request-limits.ts'
import { createServer } from './http/server.ts'
import { ServiceError } from './http/service-error.ts'
import { shedOverload } from './http/shedding.ts'
import type { Installation } from './installation.ts'
import { describeCause, type Log } from './log.ts'
import { openAccountCommands } from './membership/commands/account-command.ts'
import type { ExecutorContext } from './membership/commands/command.ts'
import { openCommandExecutor } from './membership/commands/executor.ts'
import { guardWrites } from './membership/commands/guard-writes.ts'
import { openTerms } from './membership/commands/open-terms.ts'
import { openReader } from './membership/commands/reader.ts'
import { deleteOldRefusedCreates, openRefusedCreates } from './membership/commands/refused-creates.ts'
import { openUserMemory } from './membership/commands/user-memory.ts'
import type { ErasureList, ListedErasure } from './membership/erasures/list.ts'
import { mountOAuth } from './oauth/handlers.ts'
import { offerHandlers } from './offers/handlers.ts'
import { authenticatePartner, type Caller, refuseFailures } from './partners/authenticate.ts'
import { openClaimants } from './partners/claimant.ts'
import { openDirectory } from './partners/directory.ts'
import { partnerOf } from './partners/keys.ts'
import { clockOn } from './partners/partner.ts'
import { limitRequests } from './partners/rate-limit.ts'
import { refusedCredential } from './partners/refused-credential.ts'
import { listPartners } from './partners/store.ts'
import { prefillHandlers } from './prefill/handlers.ts'
import { deferDispatcher, isQuiet, watchQuiet } from './quiet.ts'
import { linkTokenHandlers } from './registration/links/link-tokens.ts'
import { mountRegistration } from './registration/mount.ts'
import { deleteOldSessions } from './registration/session/store.ts'
import { sandboxHandlers } from './sandbox/handlers.ts'
import { dueMetrics } from './schedule/due-metrics.ts'
import { every } from './schedule/every.ts'
import { openSchedule } from './schedule/schedule.ts'
import { scrubKeys } from './schedule/scrub.ts'
import { mountFiles } from './system/files.ts'
import { loadMetrics } from './system/load-metrics.ts'
import { mountSystem } from './system/mount.ts'
import { poolMetrics } from './system/pool-metrics.ts'
import { buildMetrics } from './system/process-metrics.ts'
import { requestMetrics } from './system/request-metrics.ts'
import type { Keyring } from './vault/keyring.ts'
import { eventHandlers } from './webhooks/api/event-handlers.ts'
import { webhookHandlers } from './webhooks/api/handlers.ts'
import { type Dispatcher, type DispatcherOptions, openDispatcher } from './webhooks/delivery/dispatcher.ts'
import { webhookMetrics } from './webhooks/delivery/metrics.ts'
import type { AddressRules } from './webhooks/egress/address.ts'
import { createOutgoing } from './webhooks/egress/outgoing.ts'
import { createResolver } from './webhooks/egress/resolver.ts'
import { cleanUpWebhooks } from './webhooks/log/clean-up.ts'

/** What a partner may call on every service; what only a sandbox has is mounted apart. */
type PartnerOperationId = Exclude<OperationIdOf<'partner'>, SandboxOperationId>

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
  /** Whether each request is a line of the log; absent: it is. */
  readonly logsRequests?: boolean
  /** Real time. */
  readonly real: () => number
  /** Which addresses webhooks may reach. */
  readonly webhookRules: AddressRules
  readonly dispatcher?: DispatcherOptions
  /** From where on it sheds; absent: the defaults. */
  readonly limits?: AdmissionLimits
  /** What a request may be; absent: the defaults. */
  readonly requestLimits?: RequestLimits
  /** Whom to tell of something unsafe, as `security.txt` says it; absent: a page of the docs. */
  readonly securityContact?: string | undefined
  /** Where the operators' console listens; absent: there is none. */
  readonly console?: { readonly host: string; readonly port: number; readonly url: string | undefined }
  /** Writes the table of wrapped keys anew; absent where `enrolment maintain` does it. */
  readonly rewriteKeys?: () => Promise<Rewritten>
  /** How long entries of the audit log are kept; absent: six years. */
  readonly auditKeepMs?: number
  /** The list of erasures outside the database; absent: there is none. */
  readonly erasures?: ErasureList | undefined
  /** True while writes are refused because the disk is nearly full. */
  readonly lowOnSpace?: () => boolean
}

/** A running service. */
export type Service = {
  /** Where it listens, `http://HOST:PORT`. */
  readonly address: string
  readonly baseUrl: string
  /** Where operators reach the console, if there is one. */
  readonly consoleUrl: string | undefined
  /** The numbers of this process, as Prometheus reads them. */
  metrics(): Promise<string>
  /** What delivers the webhooks. */
  readonly dispatcher: Dispatcher
  /** Applies everything that is due now. */
  runDue(): Promise<number>
  /**
   * Is not ready from now on but serves as before, so that a load balancer has time to send requests elsewhere before
   * `close`; each answer asks its caller to connect anew.
   */
  drain(): void
  /** Answers what was accepted, ends its work and lets go of everything; the database stays open. */
  close(): Promise<void>
}

/** Assembles and starts a service on a database that is migrated. Rejects when the address is taken. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { database, keyring, installation, log, real } = options
  const { sandbox } = installation
  const mode = sandbox ? 'sandbox' : 'live'
  const clock = clockOn(real)
  let address = ''
  const baseUrl = () => options.baseUrl ?? address
  const basePath = options.baseUrl ? new URL(options.baseUrl).pathname.replace(/\/+$/, '') : ''
  let isClosing = false
  let scrubAt = 0
  let askedAt = Number.NEGATIVE_INFINITY

  const resolver = createResolver()
  const outgoing = createOutgoing({ rules: options.webhookRules, resolver })
  const metrics = webhookMetrics({ database: options.deliveryDatabase, real })
  await Promise.all([learnLayout(database), learnLayout(options.deliveryDatabase)])
  const directory = openDirectory({ database, keyring, mode, real })
  const { dispatcher, start: startDispatcher } = deferDispatcher(() =>
    openDispatcher(
      { database: options.deliveryDatabase, directory, outgoing, metrics, real, log },
      options.dispatcher,
    ),
  )
  const quiet = watchQuiet({
    database,
    isQuiet: await isQuiet(database),
    onResume: () => {
      log('resumed')
      act()
    },
    onError: error => log('quiet_failed', describeCause(error)),
  })
  const mayNotWrite = () => quiet.isQuiet() || (options.lowOnSpace?.() ?? false)
  const trail = openTrail({
    database,
    keyring,
    real,
    onError: (error, lost) => log('audit_failed', { lost, ...describeCause(error) }),
  })
  const statistics = openStatistics(database, error => log('analyze_failed', describeCause(error)))
  const published = openPublished({ database, real })
  const { terms, prepareTerms, consentHash } = openTerms({ published, real })
  const memory = openUserMemory(real)
  const context: ExecutorContext = {
    database,
    clock,
    sandbox,
    terms,
    prepareTerms,
    consentHash,
    onWritten: users => {
      for (const { user, version } of users) memory.keep(user, version)
    },
    onEvents: (partnerIds, count) => {
      dispatcher.nudge(partnerIds)
      statistics.noteEvents(count)
    },
  }
  const executor = guardWrites(openCommandExecutor(context), mayNotWrite)
  const reader = openReader({ ...context, memory })
  const allPartners = async () => (await listPartners(database)).map(row => partnerOf(row, keyring))
  const schedule = openSchedule({
    database,
    // An executor of its own, with short batches: what is due never stands in front of a request.
    executor: guardWrites(openCommandExecutor(context, 64), mayNotWrite),
    clock,
    partners: allPartners,
    isServing: () => performance.now() - askedAt < 100,
    tidy: async () => {
      memory.tidy()
      await cleanUpWebhooks(options.deliveryDatabase, real())
      await deleteOldSessions(database, real())
      await deleteOldRefusedCreates(database, real())
      await deleteOldSignIns(database, real())
      await scrub()
      await deleteBefore(database, real() - (options.auditKeepMs ?? sixYearsMs))
    },
    onError: error => log('schedule_failed', describeCause(error)),
  })
  const sealing = every(sealEveryMs, () =>
    sealBlocks(database, openBlockKeys(database, keyring), real()).catch(error =>
      log('seal_failed', describeCause(error)),
    ),
  )
  const scrub = async (): Promise<void> => {
    const { rewriteKeys } = options
    if (!rewriteKeys || real() < scrubAt) return
    scrubAt = real() + scrubEveryMs
    const erasedBefore = real() - scrubAfterMs
    await scrubKeys({ database, rewrite: rewriteKeys, now: real(), erasedBefore }).catch(error =>
      log('scrub_failed', describeCause(error)),
    )
  }
  const act = () => {
    startDispatcher()
    schedule.start()
    sealing.start()
  }
  const commands = openAccountCommands({ executor, reader, terms })

  const limits = options.limits ?? defaultLimits
  const requestLimits = options.requestLimits ?? defaultRequestLimits
  const counts = openRequestCounts()
  const app: FastifyInstance = createServer({
    baseUrl,
    basePath,
    trustProxy: options.trustProxy ?? [],
    log,
    real,
    limits: requestLimits,
    counts,
    logsRequests: options.logsRequests ?? true,
    onRequest: () => {
      askedAt = performance.now()
    },
    isClosing: () => isClosing,
  })
  const gate = openGate(limits)
  const pools = poolMetrics({ requests: database, deliveries: options.deliveryDatabase })
  const endWatch = watchLoad(gate, log, pools.look)
  const shedding = { gate, claimantOf: openClaimants(directory) }
  shedOverload(app, shedding)
  refuseEarly(app, { ...shedding, basePath, baseUrl, real })
  refuseWhileQuiet(app, { isQuiet: quiet.isQuiet, pagesBelow: `${basePath}/register` })
  const takesWrites = probeWrites(database)
  const limit = limitRequests(real)
  const counted = refuseFailures({ sandbox, real, limit: requestLimits.failedAuthentications })
  const refuse: typeof counted = (request, error, why) => {
    trail.noteRefusal({ ...refusedCredential(request.headers), address: request.ip })
    return counted(request, error, why)
  }
  mountOAuth(app, { database, directory, keyring, mode, real, refuse, baseUrl, basePath })
  mountSystem(app, {
    ...{ log, baseUrl, basePath, sandbox },
    limits: { ...limits, ...requestLimits },
    isQuiet: quiet.isQuiet,
    isReady: async () => !isClosing && !(options.lowOnSpace?.() ?? false) && (await takesWrites()),
  })
  mountFiles(app, { database, basePath })
  mountDocs(app, {
    ...{ baseUrl, basePath, sandbox, real },
    limits: { ...limits, ...requestLimits },
    securityContact: options.securityContact,
  })
  const webhooks = { database, rules: options.webhookRules, real, onChange: dispatcher.refresh }
  mountRegistration(app, {
    ...{ database, directory, executor, reader, keyring, mode },
    ...{ clock, terms, baseUrl, basePath, log },
    noteOpened: ({ partnerId, sessionId, serviceId }) =>
      trail.note({
        ...{ partnerId, serviceId, actorKind: 'session', actor: sessionId },
        ...{ action: 'openPage', result: 'shown' },
      }),
    refuseUnknown: request => {
      const unknown = new ServiceError('unauthorized')
      const refusal = counted(request, unknown, { is: 'unknown' })
      if (refusal !== unknown) throw refusal
    },
  })
  const noteErasure = async (erasure: ListedErasure): Promise<void> => {
    try {
      await options.erasures?.note(erasure)
    } catch (cause) {
      log('erasure_not_listed', describeCause(cause))
      throw new ServiceError('unavailable', undefined, { cause })
    }
  }
  const handlers: Handlers<Caller, PartnerOperationId> = {
    ...prefillHandlers({ executor, clock }),
    ...benefitHandlers({ reader, commands, memory, baseUrl }),
    ...noteReads(trail, {
      ...accountHandlers({
        ...{ commands, reader, clock, noteErasure },
        noteRefused: openRefusedCreates(database),
      }),
      ...beneficiaryHandlers({ commands, reader, database, clock }),
    }),
    ...offerHandlers({ commands, clock }),
    ...linkTokenHandlers({ database, reader, keyring, mode, real, baseUrl }),
    ...webhookHandlers(webhooks),
    ...eventHandlers(webhooks),
  }
  const mounting: MountContext<Caller> = {
    basePath,
    authenticate: authenticatePartner({ directory, refuse, real }),
    limit: caller => limit(caller.partner),
  }
  mountOperations(app, handlers, mounting)
  if (sandbox) mountOperations(app, sandboxHandlers({ database, directory, clock, schedule }), mounting)
  const numbers = [
    metrics.render,
    loadMetrics(gate, memory),
    pools.render,
    dueMetrics({ database, clock, partners: allPartners }),
    buildMetrics(await newestMigration(database)),
    async () => requestMetrics(counts),
  ]
  const endDelivery = async () => {
    endWatch()
    await dispatcher.close()
    await outgoing.close()
    resolver.close()
    await statistics.idle()
    await trail.close()
  }
  let running: RunningConsole | undefined
  try {
    address = await app.listen({ host: options.host, port: options.port, backlog: 4096 })
    if (options.console)
      running = await startConsole(
        {
          ...{ database, directory, executor, reader, clock, terms, log, keyring, mode, real },
          ...{
            publicUrl: baseUrl,
            consoleUrl: options.console.url,
            onWebhookChange: dispatcher.refresh,
            mayNotWrite,
          },
        },
        options.console,
      )
  } catch (error) {
    await app.close()
    await quiet.close()
    await endDelivery()
    throw error
  }
  if (quiet.isQuiet()) log('quiet')
  else act()

  return {
    address,
    baseUrl: baseUrl(),
    consoleUrl: running?.url,
    dispatcher,
    metrics: async () => (await Promise.all(numbers.map(render => render()))).join(''),
    runDue: schedule.runAll,
    drain() {
      isClosing = true
    },
    async close() {
      isClosing = true
      await running?.close()
      await app.close()
      await quiet.close()
      await schedule.close()
      await sealing.close()
      await endDelivery()
    },
  }
}

/** Together well below the day within which the keys of erased users leave the files. */
const scrubEveryMs = 3_600_000
const scrubAfterMs = 12 * 3_600_000
/** About as late as a block may be, after the two minutes in which rows may still be written. */
const sealEveryMs = 30_000
const sixYearsMs = 6 * 366 * 86_400_000
