import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { openRequestCounts } from '../../http/request-counts.ts'
import { defaultRequestLimits } from '../../http/request-limits.ts'
import { createServer } from '../../http/server.ts'
import { openDueCounts } from '../background/due-counts.ts'
import { withFewStatements } from '../background/few-statements.ts'
import { openSlowWork } from '../background/slow-work.ts'
import type { ConsoleContext, ConsoleParts } from '../console-context.ts'
import { openProvider } from '../operators/provider.ts'
import type { ProviderSettings } from '../operators/provider-settings.ts'
import { readConsoleFiles } from '../screen/console-files.ts'
import type { ConsoleServer } from './console-server.ts'
import { mountConsole } from './listener.ts'
import { cannotListen, ownUrlOf } from './place.ts'

/** A running console. */
export type RunningConsole = {
  /** The address by which operators reach it, without a slash at the end. */
  readonly url: string
  close(): Promise<void>
}

/** Where the console listens, and how operators sign in. */
export type ConsoleOptions = {
  readonly host: string
  readonly port: number
  /** The address by which operators reach it; absent: the address on which it listens. */
  readonly url: string | undefined
  /** The proxies whose word about the caller's address is taken, as for partners' requests. */
  readonly trustProxy?: readonly string[] | undefined
  /** The identity provider; absent: only links and passkeys. */
  readonly signIn?: ProviderSettings | undefined
}

/** A console that is mounted on a server, and does not listen yet. */
export type PreparedConsole = {
  readonly app: FastifyInstance
  /** Sets the port of the listener, which a Host without another name must have. */
  listensOn(port: number): void
  /** Answers what was accepted, and ends what takes long. */
  close(): Promise<void>
}

/** Prepares the console on a server of its own. Rejects when the browser's files were not built. */
export async function prepareConsole(
  parts: ConsoleParts,
  { host, signIn, trustProxy = [] }: Omit<ConsoleOptions, 'port'>,
): Promise<PreparedConsole> {
  const slow = openSlowWork()
  const database = withFewStatements(parts.database)
  const context: ConsoleContext = {
    ...parts,
    database,
    slow,
    dueCounts: openDueCounts(database, { slow, log: parts.log }),
  }
  const files = await readConsoleFiles()
  const address = { consoleUrl: context.consoleUrl, port: 0 }
  const provider = signIn && openProvider(signIn, context.real)
  const server: ConsoleServer = { context, address, files, provider }
  const app = createServer({
    baseUrl: () => context.consoleUrl ?? ownUrlOf(host, address.port),
    basePath: '',
    trustProxy,
    log: (event, fields) => context.log(event === 'request' ? 'console_request' : event, fields),
    real: context.real,
    limits: defaultRequestLimits,
    // Counts of its own: operators' requests do not count as partners' load.
    counts: openRequestCounts(),
  })
  void app.register(async scope => mountConsole(scope, server))
  return {
    app,
    listensOn(port) {
      address.port = port
    },
    async close() {
      await slow.close()
      await app.close()
    },
  }
}

/**
 * Starts the console on a listener of its own, so that no partner's request ever reaches it. Rejects when the port is
 * taken or the browser's files were not built.
 */
export async function startConsole(parts: ConsoleParts, options: ConsoleOptions): Promise<RunningConsole> {
  const { host, port } = options
  const { app, listensOn, close } = await prepareConsole(parts, options)
  try {
    await app.listen({ host, port, backlog: 256 })
  } catch (error) {
    throw cannotListen(options, error)
  }
  const listening = app.server.address() as AddressInfo
  listensOn(listening.port)
  return { url: parts.consoleUrl ?? ownUrlOf(host, listening.port), close }
}
