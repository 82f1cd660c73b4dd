import type { ConsoleOptions } from '../console/listener/start.ts'
import { startConsole } from '../console/listener/start.ts'
import type { Database } from '../db/database.ts'
import type { ErasureList } from '../membership/erasure-list/list.ts'
import { listErasure } from './operations.ts'
import { openShared, type SharedOptions } from './shared.ts'
import { openUsers } from './users.ts'

/** A console that operators reach. */
export type RunningConsole = {
  /** Where it listens, `http://HOST:PORT`. */
  readonly address: string
  /** Where operators reach it. */
  readonly url: string
  /** Answers what was accepted, and releases what it opened; the database stays open. */
  close(): Promise<void>
}

/**
 * Opens the operators' console on a database and its keys alone. The service learns of changes from the database: of a
 * partner within a second, of events and endpoints within two. Rejects when the address is taken, and when the
 * browser's files were not built.
 */
export async function openConsole(
  options: Omit<SharedOptions, 'deliveryDatabase'> & {
    readonly at: ConsoleOptions
    /** The pool of the looks; absent: the same as of the acts. */
    readonly looking?: Database
    /** Where partners and people reach the service. */
    readonly publicUrl: () => Promise<string>
    readonly erasures: ErasureList | undefined
  },
): Promise<RunningConsole> {
  const { at, publicUrl, looking = options.database } = options
  const database = inTwoPools(looking, options.database)
  const shared = await openShared({ ...options, database, deliveryDatabase: options.database })
  const users = openUsers(shared, { dispatcher: { nudge() {} } }, () => false)
  const { directory, clock, trail, mode } = shared
  const noteErasure: Parameters<typeof startConsole>[0]['noteErasure'] = erasure =>
    listErasure(options, erasure)
  const parts = { ...options, database, ...users, directory, clock, trail, mode, publicUrl, noteErasure }
  const { close, ...where } = await startConsole(parts, at)
  return {
    ...where,
    async close() {
      await close()
      await shared.close()
    },
  }
}

/**
 * Statements run in the pool of the looks, which is small so that operators give way to partners; transactions, which may wait for rows
 * that somebody holds, in that of the acts.
 */
function inTwoPools(looking: Database, acting: Database): Database {
  return {
    ...looking,
    transaction: acting.transaction,
    commit: acting.commit,
    of: partnerId => inTwoPools(looking.of(partnerId), acting.of(partnerId)),
  }
}
