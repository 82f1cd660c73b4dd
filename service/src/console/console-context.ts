import type { Trail } from '../audit/trail.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../log.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import type { ListedErasure } from '../membership/erasure-list/list.ts'
import type { Reader } from '../membership/reading/reader.ts'
import type { Person } from '../membership/rules/person.ts'
import type { Terms } from '../membership/rules/terms.ts'
import type { SignInContext } from '../operators/sign-in.ts'
import type { Directory } from '../partners/directory.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import type { CountContext } from '../statements/count.ts'

/** What every screen can use: the other parts of the service, and what the console keeps for itself. */
export type ConsoleContext = ConsoleParts & {
  /** What counting the lines of months needs. */
  readonly counting: CountContext
}

/** What the console needs from the other parts of the service. */
export type ConsoleParts = SignInContext & {
  readonly database: Database
  readonly directory: Directory
  readonly executor: CommandExecutor
  readonly reader: Reader
  readonly clock: Clock
  readonly terms: (partner: Partner, person: () => Person | undefined) => Terms
  /** Reads the newest catalogue, and these versions, where they are not in memory. */
  readonly prepareTerms: (versions: readonly number[]) => Promise<void> | undefined
  readonly log: Log
  readonly installation: { readonly sandbox: boolean }
  /** Records refusals of callers who were not identified yet, and names the network of everybody who is recorded. */
  readonly trail: Pick<Trail, 'note' | 'noteRefusal' | 'sourceOf'>
  /** The service's public address, from which links for users are made. */
  readonly publicUrl: () => Promise<string>
  /** Adds an erasure to the list outside the database; rejects when it is not on the disk. */
  readonly noteErasure: (erasure: ListedErasure) => Promise<void>
}
