import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Language } from '../../catalogue/model.ts'
import type { Database } from '../../db/database.ts'
import type { Log } from '../../log.ts'
import type { CommandExecutor } from '../../membership/commands/executor.ts'
import type { Reader } from '../../membership/reading/reader.ts'
import type { NoteRefused } from '../../membership/records/refused-creates.ts'
import type { Person } from '../../membership/rules/person.ts'
import type { Terms } from '../../membership/rules/terms.ts'
import type { Directory } from '../../partners/directory.ts'
import type { Clock, Partner } from '../../partners/partner.ts'
import type { Keyring } from '../../vault/keyring.ts'
import type { SecretMode } from '../../vault/secret.ts'
import type { BrowserFiles } from '../browser-files.ts'

/** What the registration page needs of its surroundings. */
export type PageContext = {
  readonly database: Database
  readonly directory: Directory
  readonly executor: CommandExecutor
  readonly reader: Reader
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly clock: Clock
  /** The rules for one person of a partner; ready for use after a read. */
  readonly terms: (partner: Partner, person: () => Person | undefined) => Terms
  readonly baseUrl: () => string
  readonly basePath: string
  /** The languages that people may choose. */
  readonly languages: readonly Language[]
  readonly log: Log
  /** Records that an enrollment was refused when the form was sent, and why. */
  readonly noteRefused: NoteRefused
  /**
   * Records that a person's data was shown to the visitor who opened a link; `serviceId` is `undefined` for somebody
   * of whom nothing is known yet.
   */
  readonly noteOpened: (
    request: Pick<FastifyRequest, 'id' | 'ip'>,
    session: { partnerId: string; sessionId: string; serviceId: string | undefined },
  ) => void
  /**
   * Records and counts a secret that the service never made; throws `too_many_requests` when its address has sent too
   * many.
   */
  readonly refuseUnknown: (request: FastifyRequest) => void
}

/** What the routes of the page need: its surroundings, and the files that browsers load. */
export type PageRoutes = { readonly context: PageContext; readonly files: () => Promise<BrowserFiles> }

/** One request to the page, and what its answer needs. */
export type Exchange = PageRoutes & { readonly reply: FastifyReply }
