import type { Socket } from 'node:net'
import type { ServingProcess } from '../console/console-context.ts'
import { type ConsoleOptions, prepareConsole } from '../console/listener/start.ts'
import { serveHandedConnections } from '../http/handed-connections.ts'
import type { ListedErasure } from '../membership/erasure-list/list.ts'
import { openShared, type SharedOptions } from './shared.ts'
import { openUsers } from './users.ts'

/** A console that serves connections which the service hands over. */
export type ConsoleService = {
  serve(socket: Socket): void
  /** Answers what was accepted, and releases what it opened; the database stays open. */
  close(): Promise<void>
}

/** What the console asks the process that serves partners, and tells it. */
export type Serving = {
  /** Events of these partners were committed; without partners, endpoints or waiting deliveries were changed. */
  deliver(partnerIds?: readonly string[]): Promise<void>
  /** A partner was changed. */
  forget(partnerId: string): Promise<void>
  about(): Promise<ServingProcess>
  /** Adds an erasure to the list outside the database; rejects when it is not on the disk. */
  listErasure(erasure: ListedErasure): Promise<void>
}

/**
 * Opens the console with its own memory of partners. What only the process of the service can do is left to it: it delivers
 * webhooks, applies what is due, cleans up, signs the audit trail and keeps the list of erasures. Rejects when the browser's
 * files were not built.
 */
export async function openConsoleService(
  options: Omit<SharedOptions, 'deliveryDatabase'> & {
    readonly at: ConsoleOptions
    /** Where partners and people reach the service. */
    readonly publicUrl: string
    readonly serving: Serving
    readonly mayNotWrite: () => boolean
  },
): Promise<ConsoleService> {
  const { database, at, serving, mayNotWrite } = options
  const shared = await openShared({ ...options, deliveryDatabase: database })
  const forget = (partnerId: string) => {
    shared.directory.forget(partnerId)
    void serving.forget(partnerId)
  }
  const nudge = (partnerIds: ReadonlySet<string>) => void serving.deliver([...partnerIds])
  const { executor, reader, terms, prepareTerms } = openUsers(shared, { dispatcher: { nudge } }, mayNotWrite)
  const { app, close } = await prepareConsole(
    {
      ...options,
      directory: { ...shared.directory, forget },
      executor,
      reader,
      terms,
      prepareTerms,
      clock: shared.clock,
      trail: shared.trail,
      mode: shared.mode,
      serving: serving.about,
      publicUrl: () => options.publicUrl,
      noteErasure: serving.listErasure,
      onWebhookChange: () => void serving.deliver(),
    },
    at,
  )
  const serve = serveHandedConnections(app)
  await app.ready()
  return {
    serve,
    async close() {
      await close()
      await shared.close()
    },
  }
}
