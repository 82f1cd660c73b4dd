import type { FastifyInstance } from 'fastify'
import { openRequestCounts } from '../../http/request-counts.ts'
import { defaultRequestLimits } from '../../http/request-limits.ts'
import { createServer } from '../../http/server.ts'
import { openProvider } from '../../operators/provider.ts'
import type { ProviderSettings } from '../../operators/provider-settings.ts'
import { openDueCounts } from '../background/due-counts.ts'
import { withFewStatements } from '../background/few-statements.ts'
import { openSlowWork } from '../background/slow-work.ts'
import type { ConsoleContext, ConsoleParts } from '../console-context.ts'
import { readConsoleFiles } from '../screen/console-files.ts'
import type { ConsoleServer } from './console-server.ts'
import { ownUrlOf } from './guard.ts'
import { mountConsole } from './listener.ts'

/** Where the console's connections are accepted, and how operators sign in. */
export type ConsoleOptions = {
  readonly host: string
  readonly port: number
  /** The address by which operators reach it; absent: the address on which it listens. */
  readonly url: string | undefined
  /** The proxies whose word about the caller's address is taken, as for partners' requests. */
  readonly trustProxy?: readonly string[] | undefined
  /** The identity provider; absent: only links. */
  readonly signIn?: ProviderSettings | undefined
}

/** A console that is mounted on a server, and does not listen yet. */
export type PreparedConsole = {
  readonly app: FastifyInstance
  /** Answers what was accepted, and ends what takes long. */
  close(): Promise<void>
}

/** Prepares the console on a server of its own. Rejects when the browser's files were not built. */
export async function prepareConsole(
  parts: ConsoleParts,
  { host, port, url, signIn, trustProxy = [] }: ConsoleOptions,
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
  const address = { consoleUrl: url, port }
  const provider = signIn && openProvider(signIn, context.real)
  const server: ConsoleServer = { context, address, files, provider }
  const app = createServer({
    baseUrl: () => url ?? ownUrlOf(host, port),
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
    async close() {
      await slow.close()
      await app.close()
    },
  }
}
