import { setFlagsFromString } from 'node:v8'
import { type Command, dataDirOf, type Input, valued } from '@benefit-enrolment/command'
import { openConsole } from '../assembly/console.ts'
import { type Config, readConfig } from '../config.ts'
import type { ConsoleOptions } from '../console/listener/start.ts'
import { checkConnection } from '../db/connection-check.ts'
import { openDatabase } from '../db/database.ts'
import { loadKeyringFor, markInstallation } from '../installation.ts'
import { describeCause, openLog } from '../log.ts'
import { OperatorError } from '../operator-error.ts'
import { readProviderSettings } from '../operators/provider-settings.ts'
import { readServiceUrl } from '../operators/store.ts'
import { serviceVersion } from '../version.ts'
import { checkHost, isLoopbackName, listenAddressOf, listenErrorOf } from './listen-address.ts'
import { openLogStream } from './log-stream.ts'
import { erasureListOf } from './operator/erasures.ts'
import { reach } from './reach.ts'
import { signalled } from './signals.ts'
import { runningDatabase } from './workspace.ts'

/** `enrolment console`: the operators' console, a process of its own that needs the database and the keys alone. */
export const runConsole: Command = {
  name: 'console',
  summary: "Run the operators' console, on the database and the keys of the service.",
  options: {
    port: valued('PORT', 'port to listen on (default ENROLMENT_CONSOLE_PORT or 8081; 0 picks a free one)'),
    host: valued('HOST', 'address to listen on (default 127.0.0.1)'),
  },
  run,
}

const PORT = 8081
/** The looks of all operators hold so many connections, and so many cores of the database's machine: partners have the rest. */
const MOST_LOOKS = 2
/** The acts of so many operators may wait for rows that somebody holds. */
const MOST_ACTS = 4
/** A new connection plans each statement anew, which costs a screen some milliseconds, and an operator opens a few a minute. */
const KEPT_UNUSED_MS = 600_000

async function run(input: Input): Promise<void> {
  const config = readConfig(input.environment)
  const address = listenAddressOf(input, { ...config, port: config.consolePort ?? PORT })
  await checkHost(address)
  const at = consoleOptions(address, config)
  // On a machine with much memory V8 lets the heap grow to four times what was alive before it collects; 1.6 times is enough.
  setFlagsFromString('--heap-growing-percent=60')
  const { log, flush } = openLog(openLogStream(), Date.now, config.logLevel)
  process.on('exit', flush)
  const ended = signalled(log)
  const dataDir = dataDirOf(input)
  const where =
    config.databaseUrl === undefined ? await runningDatabase(dataDir) : { url: config.databaseUrl }
  await checkConnection(where).catch(error => {
    if (config.databaseUrl !== undefined) throw error
    throw new OperatorError(
      'The embedded database runs only while the service does: start the service, then the console.',
    )
  })
  const onError = (error: Error) => log('database_connection_lost', describeCause(error))
  const kept = { idleTimeoutMs: KEPT_UNUSED_MS, onError }
  const looking = openDatabase(where, { ...kept, max: MOST_LOOKS })
  const database = openDatabase(where, { ...kept, max: MOST_ACTS })
  try {
    await reach(database, 'take')
    const keyring = await loadKeyringFor(database, {
      dataDir,
      rootKey: config.rootKey,
      onUnreadable: error => log('keyring_unreadable', describeCause(error)),
    })
    const installation = await markInstallation(database, { keyring, wanted: 'either', now: Date.now() })
    const erasures = await erasureListOf(config, dataDir)
    const publicUrl = async () => config.baseUrl ?? (await readServiceUrl(looking)) ?? 'http://127.0.0.1:8080'
    const shared = { database, looking, keyring, installation, real: Date.now, log }
    const opened = await openConsole({ ...shared, at, publicUrl, erasures }).catch(error => {
      throw listenErrorOf(error, address)
    })
    const answer = { address: opened.address, console: opened.url }
    process.stdout.write(
      `listening on ${opened.address}\n${input.flag('json') ? `${JSON.stringify(answer)}\n` : ''}`,
    )
    log('started', { version: serviceVersion, address: opened.address, console: opened.url })
    await ended
    await opened.close()
  } finally {
    await Promise.all([looking.close(), database.close()])
    flush()
  }
  log('stopped')
}

/**
 * Where the console listens, and how operators sign in. Throws OperatorError when operators would send their sessions
 * unencrypted, or the console could not know its own host name.
 */
export function consoleOptions(
  { host, port }: { readonly host: string; readonly port: number },
  { consoleUrl: url, consoleSignIn, trustProxy }: Config,
): ConsoleOptions {
  if (url?.startsWith('http:') && !isLoopbackName(new URL(url).hostname))
    throw new OperatorError('ENROLMENT_CONSOLE_BASE_URL must be https, as people sign in there.')
  if (url === undefined && !isLoopbackName(host))
    throw new OperatorError(
      'ENROLMENT_CONSOLE_BASE_URL must be the https address by which operators reach the console, since it answers to no other name.',
    )
  const signIn = consoleSignIn === undefined ? undefined : readProviderSettings(consoleSignIn)
  return { host, port, url, trustProxy, signIn }
}
