import { newestMigration } from '../db/migrate.ts'
import { probeWrites } from '../db/write-probe.ts'
import { mountDocs } from '../docs/mount.ts'
import { openRequestCounts } from '../http/request-counts.ts'
import { defaultRequestLimits } from '../http/request-limits.ts'
import { createServer } from '../http/server.ts'
import { ServiceError } from '../http/service-error.ts'
import { defaultTurnLimits, openShedding } from '../http/shedding/shedding.ts'
import { mountOAuth } from '../oauth/handlers.ts'
import { type Callers, openCallers } from '../partners/authenticate.ts'
import { type Quiet, refuseWhileQuiet } from '../quiet.ts'
import { mountRegistration } from '../registration/mount.ts'
import { offeredLanguages } from '../registration/views/say.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { mountFiles } from '../system/files.ts'
import { loadMetrics } from '../system/load-metrics.ts'
import { mountSystem } from '../system/mount.ts'
import { poolMetrics } from '../system/pool-metrics.ts'
import { buildMetrics } from '../system/process-metrics.ts'
import { requestMetrics } from '../system/request-metrics.ts'
import { mountApi } from './api.ts'
import { type Counts, openCounts } from './counts.ts'
import type { Delivery } from './delivery.ts'
import type { ServiceOptions } from './options.ts'
import type { Shared } from './shared.ts'
import type { Users } from './users.ts'

/** The parts that answer requests. */
type ListenerContext = {
  readonly users: Users
  readonly delivery: Delivery
  readonly schedule: Schedule
  readonly quiet: Quiet
  /** Called for each request, before anything else. */
  readonly onRequest: () => void
}

/** The listener of partners and of the people they send. */
export type Listener = {
  /** Where partners and people reach the service, known once it listens. */
  readonly baseUrl: () => string
  /** The metrics of requests, connections and memory, as Prometheus reads them. */
  readonly metrics: readonly (() => Promise<string>)[]
  /** Begins to listen and returns the address. Rejects when the address is taken. */
  listen(): Promise<string>
  /** Reports from now on that it is not ready, and asks each caller to connect anew, but serves as before. */
  drain(): void
  /** Asks each caller to connect anew; serves and is ready as before. */
  retire(): void
  /** Counts what a process beside this one has counted. */
  readonly hear: Counts['hear']
  /** Answers the requests that were accepted and stops listening. */
  close(): Promise<void>
}

/** Prepares the listener: what is refused before it is read, then every page and operation. */
export async function openListener(shared: Shared, context: ListenerContext): Promise<Listener> {
  const { options } = shared
  let isClosing = false
  let isRetired = false
  let address = ''
  const state: ServiceState = {
    baseUrl: () => options.baseUrl ?? address,
    basePath: options.baseUrl ? new URL(options.baseUrl).pathname.replace(/\/+$/, '') : '',
    isClosing: () => isClosing,
    isLeaving: () => isClosing || isRetired,
  }
  const callers = openCallers({ directory: shared.directory, database: options.database, real: options.real })
  const { app, counts, pools, shedding } = openServer(shared, { ...context, callers }, state)
  const { refuse, rates, bulks, hear } = openCounts(shared)
  mountPublicRoutes(app, shared, { ...context, ...state, refuse })
  mountRegistrationPage(app, shared, { ...context, ...state, refuse })
  mountApi(app, shared, {
    ...context,
    ...state,
    refuse,
    callers,
    rates,
    bulks,
    turns: shedding.turns,
  })

  return {
    baseUrl: state.baseUrl,
    metrics: [
      loadMetrics(shedding, context.users.memory),
      pools.render,
      buildMetrics(await newestMigration(options.database)),
      async () => requestMetrics(counts),
    ],
    async listen() {
      if (options.handed) {
        address = await serveHanded(app, options.handed)
        return address
      }
      // Given the name `localhost`, Fastify would open a second listener on ::1, without all that is attached to the first:
      // no request there would wait for its turn, and a stop would wait for its idle connections.
      const host = options.host === 'localhost' ? '127.0.0.1' : options.host
      address = await app.listen({ host, port: options.port, backlog: 4096 })
      return address
    },
    drain() {
      isClosing = true
    },
    retire() {
      isRetired = true
    },
    hear,
    async close() {
      isClosing = true
      await app.close()
      callers.close()
      shedding.close()
    },
  }
}

/** Serves the connections that another process hands over. */
async function serveHanded(
  app: ReturnType<typeof createServer>,
  { address, connections }: NonNullable<ServiceOptions['handed']>,
): Promise<string> {
  await app.ready()
  // Node begins to watch the time limits of requests with this event.
  app.server.emit('listening')
  connections(socket => {
    // As those of a server of http: a caller may end its side after its request.
    socket.allowHalfOpen = true
    app.server.emit('connection', socket)
  })
  return address
}

/** Under which address the service is reached, and whether it is about to stop. */
type ServiceState = {
  readonly baseUrl: () => string
  readonly basePath: string
  readonly isClosing: () => boolean
  /** Whether callers should connect anew. */
  readonly isLeaving: () => boolean
}

type Server = ReturnType<typeof createServer>

/** What everything that is mounted gets. */
type Mounting = ListenerContext & ServiceState & Pick<Counts, 'refuse'>

/** Opens the server without routes: its limits, and what it refuses under load or as a quiet copy. */
function openServer(
  { options }: Shared,
  { quiet, onRequest, callers }: ListenerContext & { callers: Callers },
  state: ServiceState,
) {
  const { database, log, real } = options
  const counts = openRequestCounts()
  const app = createServer({
    ...state,
    trustProxy: options.trustProxy ?? [],
    log,
    real,
    limits: options.requestLimits ?? defaultRequestLimits,
    counts,
    logsRequests: options.logsRequests ?? true,
    onRequest,
  })
  const pools = poolMetrics({ requests: database, deliveries: options.deliveryDatabase })
  const shedding = openShedding(app, {
    limits: options.limits ?? defaultTurnLimits,
    guessPartner: callers.guessPartner,
    basePath: state.basePath,
    log,
    onTick: pools.sample,
    processes: options.processes ?? 1,
  })
  refuseWhileQuiet(app, { isQuiet: quiet.isQuiet, pagesBelow: `${state.basePath}/register` })
  return { app, counts, pools, shedding }
}

/** Mounts the token endpoint and everything that needs no authentication: health, description, files and docs. */
function mountPublicRoutes(
  app: Server,
  { options, directory, mode }: Shared,
  { baseUrl, basePath, isClosing, quiet, refuse }: Mounting,
): void {
  const { database, keyring, log, real, securityContact } = options
  const { sandbox } = options.installation
  const limits = {
    ...(options.limits ?? defaultTurnLimits),
    ...(options.requestLimits ?? defaultRequestLimits),
  }
  const lowOnSpace = () => options.lowOnSpace?.() ?? false
  const canWrite = probeWrites(database)
  mountOAuth(app, { database, directory, keyring, mode, real, refuse, baseUrl, basePath })
  mountSystem(app, {
    log,
    baseUrl,
    basePath,
    sandbox,
    limits,
    isQuiet: quiet.isQuiet,
    isReady: async () => !isClosing() && !lowOnSpace() && (await canWrite()),
  })
  mountFiles(app, { database, basePath })
  mountDocs(app, { baseUrl, basePath, sandbox, real, limits, securityContact })
}

/** Mounts the registration page. */
function mountRegistrationPage(
  app: Server,
  { options, clock, mode, directory, trail }: Shared,
  { users, baseUrl, basePath, refuse }: Mounting,
): void {
  const { database, keyring, log } = options
  mountRegistration(app, {
    database,
    directory,
    executor: users.executor,
    reader: users.reader,
    keyring,
    mode,
    languages: offeredLanguages(options.drafts),
    clock,
    terms: users.terms,
    baseUrl,
    basePath,
    log,
    noteRefused: users.noteRefused,
    noteOpened: (request, { partnerId, sessionId, serviceId }) =>
      trail.note({
        partnerId,
        serviceId,
        actorKind: 'session',
        actor: sessionId,
        action: 'openPage',
        result: 'shown',
        requestId: request.id,
        address: request.ip,
      }),
    refuseUnknown: request => {
      const unknown = new ServiceError('unauthorized')
      const refusal = refuse(request, unknown, { is: 'unknown' })
      if (refusal !== unknown) throw refusal
    },
  })
}
