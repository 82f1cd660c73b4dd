import type { ConsoleGate } from '../assembly/console-gate.ts'
import type { Config } from '../config.ts'
import type { DatabaseAddress } from '../db/database.ts'
import type { Installation } from '../installation.ts'
import type { Log } from '../log.ts'
import { OperatorError } from '../operator-error.ts'
import type { ProviderSettings } from '../operators/provider-settings.ts'
import type { Service } from '../service.ts'
import { isLoopbackName } from './listen-address.ts'

/**
 * Throws OperatorError when operators would send their sessions unencrypted, or the console could not know its own host
 * name.
 */
export function checkConsole(host: string, { consolePort, consoleUrl }: Config): void {
  if (consoleUrl?.startsWith('http:') && !isLoopbackName(new URL(consoleUrl).hostname))
    throw new OperatorError('ENROLMENT_CONSOLE_BASE_URL must be https, as people sign in there.')
  if (consolePort === undefined || consoleUrl !== undefined || isLoopbackName(host)) return
  throw new OperatorError(
    'ENROLMENT_CONSOLE_BASE_URL must be the https address by which operators reach the console, since it answers to no other name.',
  )
}

/**
 * Opens the console of a running service, in a process of its own; `undefined` where the operator has not opened it.
 * Rejects when its address is taken.
 */
export async function openConsoleOf(
  service: Service,
  context: {
    readonly config: Config
    readonly host: string
    readonly signIn: ProviderSettings | undefined
    readonly address: DatabaseAddress
    readonly dataDir: string
    readonly installation: Installation
    readonly log: Log
  },
): Promise<ConsoleGate | undefined> {
  const { config, host, signIn, address, dataDir, installation, log } = context
  // A person who tries the service out gets a console without asking; in production an operator must open it.
  const port = config.consolePort ?? (installation.sandbox && isLoopbackName(host) ? 0 : undefined)
  if (port === undefined) return undefined
  const { openConsoleGate } = await import('../assembly/console-gate.ts')
  return openConsoleGate({
    service,
    settings: {
      at: { host, port, url: config.consoleUrl, trustProxy: config.trustProxy, signIn },
      address,
      keys: { dataDir, rootKey: config.rootKey },
      installation,
      logLevel: config.logLevel,
    },
    log,
  })
}
