import { openTrail, type Trail } from '../audit/trail.ts'
import { openStatistics, type Statistics } from '../db/statistics.ts'
import { describeCause } from '../log.ts'
import { type Directory, openDirectory } from '../partners/directory.ts'
import { openPartners } from '../partners/open-partners.ts'
import { type Clock, clockOn, type Partner } from '../partners/partner.ts'
import { listPartners } from '../partners/store.ts'
import type { ServiceOptions } from './options.ts'

/** The part of the options that every process of the service has, also one that serves only the console. */
export type SharedOptions = Pick<
  ServiceOptions,
  'database' | 'deliveryDatabase' | 'keyring' | 'installation' | 'real' | 'log' | 'tellOthers'
>

/** What several parts of the service use. It is opened before them and closed after them. */
export type Shared<Options extends SharedOptions = ServiceOptions> = {
  readonly options: Options
  readonly clock: Clock
  readonly mode: 'sandbox' | 'live'
  readonly directory: Directory
  /** All partners whose keys can be opened. */
  readonly allPartners: () => Promise<Partner[]>
  readonly trail: Trail
  readonly statistics: Statistics
  /** Writes what the audit trail still holds in memory. */
  close(): Promise<void>
}

/** Learns which cells the database has, and opens what several parts use. */
export async function openShared<Options extends SharedOptions>(options: Options): Promise<Shared<Options>> {
  const { database, deliveryDatabase, keyring, real, log } = options
  const mode = options.installation.sandbox ? 'sandbox' : 'live'
  await Promise.all([database.learnCells(), deliveryDatabase.learnCells()])
  const trail = openTrail({
    database,
    keyring,
    real,
    onError: (error, lost) => log('audit_failed', { lost, ...describeCause(error) }),
  })
  const statistics = openStatistics(database, error => log('analyze_failed', describeCause(error)))
  return {
    options,
    clock: clockOn(real),
    mode,
    directory: openDirectory({ database, keyring, mode, real }),
    allPartners: async () => {
      const rows = await listPartners(database)
      return openPartners(rows, keyring, log)
    },
    trail,
    statistics,
    async close() {
      await statistics.idle()
      await trail.close()
    },
  }
}
