/** The process of the console: a child of the service, which tells it everything and ends it (`assembly/console-child.ts`). */
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import {
  type ConsoleSettings,
  openQuestions,
  type ToConsole,
  type ToService,
} from './assembly/console-messages.ts'
import { type ConsoleService, openConsoleService, type Serving } from './assembly/console-service.ts'
import { openDatabase } from './db/database.ts'
import { Unavailable } from './db/failure.ts'
import { loadKeyringFor } from './installation.ts'
import { describeCause, type Log, levelOf, logLevels } from './log.ts'

// On a machine with much memory V8 lets the heap grow to four times what was alive before it collects; 1.6 times is enough.
setFlagsFromString('--heap-growing-percent=60')

/**
 * Connections to the database: the commands of five operators may wait for rows that somebody holds, and the others still read.
 */
const MOST_CONNECTIONS = 6
/** A new connection plans each statement anew, which costs a screen some milliseconds, and an operator opens a few a minute. */
const KEPT_UNUSED_MS = 600_000

const questions = openQuestions()
let written = logLevels.length
let refused = false
let opened: ConsoleService | undefined

function sendToService(message: ToService, sent: () => void = ignore) {
  if (process.connected) process.send?.(message, undefined, undefined, sent)
  else sent()
}
// All lines go through the service, so that two processes never write into each other's lines.
const log: Log = (event, fields = {}) => {
  if (logLevels.indexOf(levelOf(event)) < written) sendToService({ kind: 'log', event, fields })
}

/** Calls a function of the service. */
function call<Result>(name: keyof Serving, ...args: unknown[]): Promise<Result> {
  return questions.ask(id => sendToService({ kind: 'call', id, name, args }))
}
const serving: Serving = {
  deliver: partnerIds => call('deliver', partnerIds),
  forget: partnerId => call('forget', partnerId),
  about: () => call('about'),
  listErasure: erasure =>
    call<void>('listErasure', erasure).catch(cause => {
      throw new Unavailable('not listed', { cause })
    }),
}

/** Opens the console with its own connections to the database. Rejects when the database or the keys cannot be read. */
async function open({
  at,
  publicUrl,
  address,
  keys,
  installation,
}: ConsoleSettings): Promise<ConsoleService> {
  const database = openDatabase(address, {
    max: MOST_CONNECTIONS,
    idleTimeoutMs: KEPT_UNUSED_MS,
    onError: error => log('database_connection_lost', describeCause(error)),
  })
  const keyring = await loadKeyringFor(database, {
    ...keys,
    onUnreadable: error => log('keyring_unreadable', describeCause(error)),
  })
  const common = { database, keyring, installation, real: Date.now, log }
  const { serve, close } = await openConsoleService({
    ...common,
    at,
    publicUrl,
    serving,
    mayNotWrite: () => refused,
  })
  return { serve, close: () => close().then(database.close) }
}

/** Says why it cannot go on, and ends once that was said. */
function fail(error: unknown): void {
  sendToService({ kind: 'log', event: 'console_failed', fields: describeCause(error) }, () => process.exit(1))
}

async function listen(message: ToConsole, socket: Socket | undefined): Promise<void> {
  if (message.kind === 'start') {
    const { settings } = message
    refused = settings.mayNotWrite
    written = logLevels.indexOf(settings.logLevel) + 1
    opened = await open(settings)
    sendToService({ kind: 'ready' })
  } else if (message.kind === 'connection') {
    // There is none where the browser has left meanwhile.
    if (socket) opened?.serve(socket)
  } else if (message.kind === 'writes') refused = message.refused
  else if (message.kind === 'report') {
    const { user, system } = process.cpuUsage()
    const value = { memoryBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 }
    sendToService({ kind: 'answer', id: message.id, value })
  } else if (message.kind === 'stop') {
    await opened?.close()
    sendToService({ kind: 'closed' }, () => process.exit(0))
  } else questions.answered(message)
}

process.on('message', (message: ToConsole, socket: Socket | undefined) => {
  listen(message, socket).catch(fail)
})
// The service is gone, perhaps killed: the console must not outlive it.
process.on('disconnect', () => process.exit(0))
process.on('uncaughtException', fail)
// A terminal and systemd send these to every process of the service at once; the service then ends this one in its order.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, ignore)

function ignore() {}
