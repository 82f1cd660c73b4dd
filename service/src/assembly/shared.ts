import { openTrail, type Trail } from '../audit/trail.ts'
import { learnLayout } from '../db/spread.ts'
import { openStatistics, type Statistics } from '../db/statistics.ts'
import { describeCause, type Log } from '../log.ts'
import { type Directory, openDirectory } from '../partners/directory.ts'
import { partnerOf } from '../partners/keys.ts'
import { type Clock, clockOn, type Partner } from '../partners/partner.ts'
import { listPartners, type PartnerRow } from '../partners/store.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { ServiceOptions } from './options.ts'

/** The part of the options that every process of the service has, also one that serves only the console. */
export type SharedOptions = Pick<
  ServiceOptions,
  'database' | 'deliveryDatabase' | 'keyring' | 'installation' | 'real' | 'log'
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

/** Learns how the tables are spread over the database's machines, and opens what several parts use. */
export async function openShared<Options extends SharedOptions>(options: Options): Promise<Shared<Options>> {
  const { database, deliveryDatabase, keyring, real, log } = options
  const mode = options.installation.sandbox ? 'sandbox' : 'live'
  await Promise.all([learnLayout(database), learnLayout(deliveryDatabase)])
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
    allPartners: async () => openedPartners(await listPartners(database), keyring, log),
    trail,
    statistics,
    async close() {
      await statistics.idle()
      await trail.close()
    },
  }
}

/** Leaves out the partners whose keys cannot be opened, so that what the service does by itself goes on for the others. */
function openedPartners(rows: readonly PartnerRow[], keyring: Keyring, log: Log): Partner[] {
  const failed: { readonly row: PartnerRow; readonly error: unknown }[] = []
  const opened = rows.flatMap(row => {
    try {
      return [partnerOf(row, keyring)]
    } catch (error) {
      failed.push({ row, error })
      return []
    }
  })
  const [first] = failed
  // One line for all, because with the wrong keys none can be opened.
  if (first)
    log('partner_not_opened', {
      partnerid: first.row.partner_id,
      partners: failed.length,
      ...describeCause(first.error),
    })
  return opened
}
