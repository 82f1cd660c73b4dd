import type { AddressInfo } from 'node:net'
import { openRequestCounts } from '../../http/request-counts.ts'
import { defaultRequestLimits } from '../../http/request-limits.ts'
import { createServer } from '../../http/server.ts'
import { openProvider } from '../../operators/provider.ts'
import type { ProviderSettings } from '../../operators/provider-settings.ts'
import { writeConsoleUrl } from '../../operators/store.ts'
import type { ConsoleContext, ConsoleParts } from '../console-context.ts'
import { readConsoleFiles } from '../screen/console-files.ts'
import { ownUrlOf } from './console-server.ts'
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

/** Starts the console on a server of its own. Rejects when the address is taken, and when the browser's files were not built. */
export async function startConsole(
  parts: ConsoleParts,
  { host, port, url, signIn, trustProxy = [] }: ConsoleOptions,
): Promise<{ address: string; url: string; close(): Promise<void> }> {
  const context: ConsoleContext = {
    ...parts,
    counting: { ...parts, sandbox: parts.installation.sandbox },
  }
  const address = { consoleUrl: url, port }
  const files = await readConsoleFiles()
  const provider = signIn && openProvider(signIn, context.real)
  const app = createServer({
    baseUrl: () => url ?? ownUrlOf(host, address.port),
    basePath: '',
    trustProxy,
    log: (event, fields) => context.log(event === 'request' ? 'console_request' : event, fields),
    real: context.real,
    limits: defaultRequestLimits,
    // Counts of its own: operators' requests do not count as partners' load.
    counts: openRequestCounts(),
  })
  void app.register(async scope =>
    mountConsole(scope, { context, address, files, provider, sending: new Set() }),
  )
  try {
    await app.listen({ host, port })
  } catch (error) {
    await app.close()
    throw error
  }
  address.port = (app.server.address() as AddressInfo).port
  const own = ownUrlOf(host, address.port)
  await writeConsoleUrl(context.database, url ?? own)
  return { address: own, url: url ?? own, close: () => app.close() }
}
