import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import type { Query } from '../db/sql.ts'
import type { KeyReservation } from '../idempotency/key-reservation.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import type { Confirmation } from './records/confirmations.ts'
import type { NewDesignation } from './records/designations.ts'
import type { ImportedCover } from './records/insurer-lines.ts'
import type { DocumentKind } from './records/sealed.ts'
import type { Who, Why } from './rules/history.ts'
import type { Person } from './rules/person.ts'
import type { Refusal } from './rules/refusal.ts'
import type { Consent, Raised, User } from './rules/state.ts'
import type { Terms } from './rules/terms.ts'

/** The user as a command sees it: the state with all due changes applied, and the personal data on demand. */
export type Member = { readonly user: User; readonly person: (kind: DocumentKind) => Person | undefined }

/** The data on which a command decides. */
export type CommandContext = {
  readonly now: Instant
  /** Whether a due change had to be applied first. */
  readonly wasDue: boolean
  /** The user, with all due changes applied; `undefined` when the partner has no user of this name. */
  readonly member: Member | undefined
  /** The user, or a new one of this name. */
  readonly orNew: () => User
  /** The rules, applied to the given personal data or to that of the account. */
  readonly terms: (person?: Person) => Terms
}

/** What a command writes. */
export type Change = {
  readonly user: User
  readonly events: readonly Raised[]
  /** Documents to write, or to delete when null. */
  readonly documents?: Partial<Record<DocumentKind, unknown>>
  /**
   * The agreement as the person saw it, made from the user after the change; it is sealed and stored with the change.
   */
  readonly confirmation?: (after: User) => Confirmation
  /** The evidence for consents that the command's actor puts on record, or that of each; it is sealed and stored with them. */
  readonly evidence?: string | ((consent: Consent) => string)
  /** New beneficiary designations of the user; they are sealed and stored with the change. */
  readonly designations?: readonly NewDesignation[]
  /** What a former system had told insurers, with the member numbers; sealed and stored with the change. */
  readonly told?: readonly ImportedCover[]
  /** The month, such as `2026-12`, before which an imported member is not charged; it is stored with the change. */
  readonly chargedFrom?: string
}

/** A decided command: its change if there is one, and its answer, made from the user after the change. */
export type Decided<Reply> = { readonly answer: (after: User) => Reply; readonly change?: Change }

/** One write on one user. */
export type Command<Reply> = {
  readonly partner: Partner
  readonly userid: string
  readonly who: Who
  readonly why: Why
  readonly reservation?: KeyReservation | undefined
  /** The credential, page session or operator behind `who`; stored with the change. */
  readonly actor?: string | undefined
  /** The request that brought the command; stored with the change. */
  readonly requestId?: string | undefined
  /** The trace that the request belongs to; the webhooks of the change carry it on. */
  readonly traceparent?: string | undefined
  /**
   * Whether the command creates a user when there is none; it then does not matter whether an erased user had the name.
   */
  readonly startsAnew?: boolean
  /** The caller's own reference, such as that of a confirmation; stored with the change. */
  readonly reference?: string | undefined
  /**
   * Statements about the same partner that are committed only together with the command's change, such as its audit
   * entry.
   */
  readonly alongside?: readonly Query[]
  /** Decides by the rules alone. It is called again, on the new state, when another process wrote first. */
  readonly decide: (commandContext: CommandContext) => Decided<Reply> | Refusal
}

/** The result of a command: its answer or a refusal; `replayed` when an idempotency key returned an earlier answer. */
export type CommandResult<Reply> =
  | { readonly reply: Reply; readonly replayed: boolean }
  | (Refusal & { readonly replayed: boolean })

/** What the executor needs from the other parts. */
export type ExecutorContext = {
  readonly database: Database
  readonly clock: Clock
  readonly sandbox: boolean
  /**
   * Loads the catalogue versions of these users, after which `terms` is synchronous; `undefined`: they are loaded
   * already.
   */
  readonly prepareTerms: (versions: readonly number[]) => Promise<void> | undefined
  readonly terms: (partner: Partner, person: () => Person | undefined) => Terms
  /** The hash of a consent's text, stored with the consent. */
  readonly consentHash: (consent: Consent) => Buffer | undefined
  /** Called after a commit with the users that it changed, as they are now. */
  readonly onWritten: (users: readonly { readonly user: User; readonly version: number }[]) => void
  /** Called after a commit with the partners whose events it raised. */
  readonly onEvents: (partnerIds: ReadonlySet<string>) => void
}
