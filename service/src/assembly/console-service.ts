import type { Socket } from 'node:net'
import type { ServingProcess } from '../console/console-context.ts'
import { prepareConsole } from '../console/listener/start.ts'
import { openDatabase } from '../db/database.ts'
import { Unavailable } from '../db/failure.ts'
import { takeHandedConnections } from '../http/handed-connections.ts'
import { loadKeyringFor } from '../installation.ts'
import { describeCause, type Log } from '../log.ts'
import type { ListedErasure } from '../membership/erasure-list/list.ts'
import { consoleParts } from './console.ts'
import type { ConsoleSettings, Questions, ToService } from './console-messages.ts'
import { openShared } from './shared.ts'
import { openUsers } from './users.ts'

/** A console that takes connections from the service. */
export type ConsoleService = {
  take(socket: Socket): void
  /** Answers what was accepted, and releases everything. */
  close(): Promise<void>
}

/**
 * Connections to the database: the commands of five operators may wait for rows that somebody holds, and the others still read.
 */
const MOST_CONNECTIONS = 6
/** A new connection plans each statement anew, which costs a screen some milliseconds, and an operator opens a few a minute. */
const KEPT_UNUSED_MS = 600_000

/**
 * Opens the console in this process, with its own connections to the database and its own memory of partners. What only the
 * process of the service can do is left to it: it delivers webhooks, applies what is due, cleans up, signs the audit trail and
 * keeps the list of erasures. Rejects when the database or the keys cannot be read.
 */
export async function openConsoleService(context: {
  readonly settings: ConsoleSettings
  readonly tell: (message: ToService) => void
  readonly questions: Questions
  readonly mayNotWrite: () => boolean
  readonly log: Log
}): Promise<ConsoleService> {
  const { settings, tell, questions, mayNotWrite, log } = context
  const { at, keys, installation } = settings
  const database = openDatabase(settings.address, {
    max: MOST_CONNECTIONS,
    idleTimeoutMs: KEPT_UNUSED_MS,
    onError: error => log('database_connection_lost', describeCause(error)),
  })
  const keyring = await loadKeyringFor(database, {
    ...keys,
    onUnreadable: error => log('keyring_unreadable', describeCause(error)),
  })
  const opened = await openShared({
    database,
    deliveryDatabase: database,
    keyring,
    installation,
    real: Date.now,
    log,
  })
  const forget = (partnerId: string) => {
    opened.directory.forget(partnerId)
    tell({ kind: 'forget', partnerId })
  }
  const shared = { ...opened, directory: { ...opened.directory, forget } }
  const nudge = (partnerIds?: ReadonlySet<string>) =>
    tell({ kind: 'deliver', ...(partnerIds ? { partnerIds: [...partnerIds] } : {}) })
  const needs = {
    shared,
    users: openUsers(shared, { dispatcher: { nudge } }, mayNotWrite),
    publicUrl: () => settings.publicUrl,
    serving: () => questions.ask<ServingProcess>(id => tell({ kind: 'about', id })),
    isApart: true,
    mayNotWrite,
    noteErasure: (erasure: ListedErasure) =>
      questions
        .ask<void>(id => tell({ kind: 'list erasure', id, erasure }))
        .catch(cause => {
          throw new Unavailable('not listed', { cause })
        }),
    onWebhookChange: () => nudge(),
  }
  const prepared = await prepareConsole(consoleParts(needs, at.url), at)
  prepared.listensOn(at.port)
  const take = takeHandedConnections(prepared.app)
  await prepared.app.ready()
  return {
    take,
    async close() {
      await prepared.close()
      await shared.close()
      await database.close()
    },
  }
}
