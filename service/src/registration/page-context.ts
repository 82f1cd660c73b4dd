import type { Database } from '../db/database.ts'
import type { Log } from '../log.ts'
import type { Person } from '../membership/documents.ts'
import type { Ledger } from '../membership/ledger.ts'
import type { Reader } from '../membership/reader.ts'
import type { Terms } from '../membership/terms.ts'
import type { Directory } from '../partners/directory.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { SecretMode } from '../vault/secret.ts'

/** What the registration page needs of its surroundings. */
export type PageContext = {
  readonly database: Database
  readonly directory: Directory
  readonly ledger: Ledger
  readonly reader: Reader
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly clock: Clock
  /** The rules for one person of a partner; ready for use after a read. */
  readonly terms: (partner: Partner, person: () => Person | undefined) => Terms
  readonly baseUrl: () => string
  readonly basePath: string
  readonly log: Log
}
