import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import type { Query } from '../../db/sql.ts'
import type { KeyReservation } from '../../idempotency/key-reservation.ts'
import type { Clock, Partner } from '../../partners/partner.ts'
import type { Raised } from '../rules/events.ts'
import type { Who } from '../rules/history.ts'
import type { Refusal } from '../rules/refusal.ts'
import type { Consent, User } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'
import type { Confirmation } from './confirmations.ts'
import type { NewDesignation } from './designations.ts'
import type { DocumentKind, Person } from './documents.ts'

/** What a command sees of its user: the state with everything due applied, and the personal data on demand. */
export type Member = { readonly user: User; readonly person: (kind: DocumentKind) => Person | undefined }

/** What a command decides on. */
export type CommandContext = {
  readonly now: Instant
  /** Whether something due had to be applied first. */
  readonly wasDue: boolean
  /** The user, with all that is due applied; `undefined` when the partner has none of this name. */
  readonly member: Member | undefined
  /** The user, or a new one of this name. */
  readonly orNew: () => User
  /** The rules that hold, judged on the given personal data or on the account's. */
  readonly terms: (person?: Person) => Terms
}

/** What a command wants to be written. */
export type Change = {
  readonly user: User
  readonly events: readonly Raised[]
  /** Documents to write, or to delete by null. */
  readonly documents?: Partial<Record<DocumentKind, unknown>>
  /** What the person agreed to, told of the user as it then is: sealed and stored beside the change. */
  readonly confirmation?: (after: User) => Confirmation
  /** What shows that the consents were given which the command's actor puts on record: sealed beside them. */
  readonly evidence?: string
  /** Whom new designations of the user name: sealed and stored beside the change. */
  readonly designations?: readonly NewDesignation[]
}

/** A decided command: its change where there is one, and its answer, told of the user as it then is. */
export type Decided<Reply> = { readonly answer: (after: User) => Reply; readonly change?: Change }

/** One write on one user. */
export type Command<Reply> = {
  readonly partner: Partner
  readonly userid: string
  readonly who: Who
  readonly why: string
  readonly reservation?: KeyReservation | undefined
  /** The credential, page session or operator behind `who`, kept with the change. */
  readonly actor?: string | undefined
  /** The request it came with, kept with the change. */
  readonly requestId?: string | undefined
  /** Whether it begins a new user where there is none; an erased user of the name then makes no difference. */
  readonly startsAnew?: boolean
  /** What the caller calls it, such as the reference of a confirmation; kept with the change. */
  readonly reference?: string | undefined
  /** Statements about the same partner that are committed with its change, and only with it, such as its audit entry. */
  readonly alongside?: readonly Query[]
  /** Decides by the rules alone; asked again, on what is there then, when somebody else wrote first. */
  readonly decide: (commandContext: CommandContext) => Decided<Reply> | Refusal
}

/** How a command went: its answer, or a refusal; `replayed` when an idempotency key had it answered before. */
export type CommandResult<Reply> =
  | { readonly reply: Reply; readonly replayed: boolean }
  | (Refusal & { readonly replayed: boolean })

/** What the executor needs of its surroundings. */
export type ExecutorContext = {
  readonly database: Database
  readonly clock: Clock
  readonly sandbox: boolean
  /** Prepares the catalogue versions that these users name, then `terms` is synchronous; `undefined`: they are ready. */
  readonly prepareTerms: (versions: readonly number[]) => Promise<void> | undefined
  readonly terms: (partner: Partner, person: () => Person | undefined) => Terms
  /** The hash of a consent's text, kept with the consent. */
  readonly consentHash: (consent: Consent) => Buffer | undefined
  /** Told after a commit of the users that it changed, as they now are. */
  readonly onWritten: (users: Iterable<{ readonly user: User; readonly version: number }>) => void
  /** Told after a commit that raised so many events, of these partners. */
  readonly onEvents: (partnerIds: ReadonlySet<string>, count: number) => void
}
