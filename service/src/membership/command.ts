import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import type { Claim } from '../idempotency/claim-of.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import type { DocumentKind, Person } from './documents.ts'
import type { Raised } from './events.ts'
import type { Who } from './history.ts'
import type { Refusal } from './refusal.ts'
import type { Consent, User } from './state.ts'
import type { Terms } from './terms.ts'

/** What a command sees of its user: the state with everything due applied, and the personal data on demand. */
export type Member = { readonly user: User; readonly person: (kind: DocumentKind) => Person | undefined }

/** What a command decides on. */
export type Situation = {
  readonly now: Instant
  /** Whether something due had to be applied first. */
  readonly wasDue: boolean
  /** The user, settled; `undefined` when the partner has none of this name. */
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
}

/** A decided command: its change where there is one, and its answer, told of the user as it then is. */
export type Decided<Reply> = { readonly answer: (after: User) => Reply; readonly change?: Change }

/** One write on one user. */
export type Command<Reply> = {
  readonly partner: Partner
  readonly userid: string
  readonly who: Who
  readonly why: string
  readonly claim?: Claim | undefined
  /** Decides by the rules alone; run again when the transaction is. */
  readonly decide: (situation: Situation) => Decided<Reply> | Refusal
}

/** How a command went: its answer, or a refusal; `replayed` when an idempotency key had it answered before. */
export type Outcome<Reply> =
  | { readonly reply: Reply; readonly replayed: boolean }
  | (Refusal & { readonly replayed: boolean })

/** What the ledger needs of its surroundings. */
export type LedgerContext = {
  readonly database: Database
  readonly clock: Clock
  readonly sandbox: boolean
  /** Prepares the catalogue versions that these users name; then `terms` is synchronous. */
  readonly prepareTerms: (versions: readonly number[]) => Promise<void>
  readonly terms: (partner: Partner, person: () => Person | undefined) => Terms
  /** The hash of a consent's text, kept with the consent. */
  readonly consentHash: (consent: Consent) => Buffer | undefined
  /** Told after a commit that raised so many events, of these partners. */
  readonly onEvents: (partnerIds: ReadonlySet<string>, count: number) => void
}
