import type { Instant } from '../../calendar/calendar.ts'
import type { Query } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Command } from '../command.ts'
import type { LoadedUser } from '../reading/loaded-user.ts'
import type { SeenKey } from '../reading/seen-key.ts'
import type { ConfirmationRow } from '../records/confirmations.ts'
import type { ConsentWrite } from '../records/consents.ts'
import type { DocumentKind } from '../records/documents.ts'
import type { FarewellRow } from '../records/farewells.ts'
import type { LineRow } from '../records/insurer-lines.ts'
import type { RetainedRow } from '../records/retained-rows.ts'
import type { UserIds } from '../records/user-ids.ts'
import type { StoredLine } from '../rules/history.ts'
import type { User } from '../rules/state.ts'
import type { ChargedFrom, HeldPeriod } from './save-held-periods.ts'
import type { SearchHashes } from './search-hashes.ts'

/** One change of one user. */
export type HistoryRow = {
  readonly user: User
  /** The version of the user after the change. */
  readonly version: number
  readonly at: Instant
  readonly recordedAt: Instant
  readonly by: Pick<Command<unknown>, 'who' | 'why' | 'actor' | 'requestId' | 'reference' | 'traceparent'>
  readonly lines: readonly StoredLine[]
  readonly eventIds: readonly string[]
}
/** An event with the bytes that every attempt sends. */
export type EventRow = {
  readonly id: string
  readonly user: Pick<User, 'partnerId' | 'serviceId' | 'userid'>
  readonly eventname: string
  readonly body: Buffer
  /** What the log keeps besides the body. */
  readonly data: {
    readonly name?: string | undefined
    readonly reason?: string | undefined
    readonly traceparent?: string | undefined
  }
}
/** An idempotency key that a command has spent; later commands of the batch see it. */
export type ReservedKey = SeenKey & {
  readonly partnerId: string
  readonly operation: string
  readonly keyHash: Buffer
  readonly serviceId: string
  readonly sealedAnswer: Buffer | undefined
  readonly createdAt: Instant
}
/** A document to write, or to delete when `sealed` is undefined. */
export type DocumentChange = {
  readonly user: User
  readonly kind: DocumentKind
  readonly sealed: Buffer | undefined
  readonly writtenAt: Instant
  /** The hashes by which the person is found from now on; none for a draft. */
  readonly found?: SearchHashes | undefined
}

/** A user to write, if it still has the version that was read. */
export type ChangedUser = Pick<LoadedUser, 'user' | 'readVersion' | 'version' | 'wrappedKey'>

/** An erased user, and the text that replaces the userid. */
export type ErasedUserRow = {
  readonly user: User
  readonly name: string
  readonly partner: Partner
  /**
   * The key that opens the user's sealed records until the erasure is committed; `undefined`: nothing was ever sealed.
   */
  readonly key: Buffer | undefined
  /** How many lines insurers had been told about the user when the erasure was decided. */
  toldLines: number
}

/** Everything that one batch writes, collected while its commands are decided. */
export type BatchWrites = {
  /** The real time of the writing. */
  readonly recordedAt: Instant
  /** Erased users who give up their name to a new user. */
  readonly renamed: UserIds[]
  /** The users to write, with their enrolments and designations; by serviceid, which no two users have in common. */
  readonly changed: Map<string, LoadedUser>
  /** Erased users, with the texts that replace their userids. */
  readonly erased: ErasedUserRow[]
  /** Users whose cancel or erasure took effect, so that their links and sessions end. */
  readonly ended: User[]
  /** By user, name and version. */
  readonly consents: Map<string, ConsentWrite>
  readonly confirmations: ConfirmationRow[]
  /** Records that are kept after erasures, sealed under keys of their own. */
  readonly retained: RetainedRow[]
  /** What insurers must still be told of erased users. */
  readonly farewells: FarewellRow[]
  /** What former systems had told insurers. */
  readonly told: LineRow[]
  /** Imported members, and the months from which they are charged. */
  readonly chargedFrom: ChargedFrom[]
  /** The sealed beneficiaries of new designations, by user, benefit and version. */
  readonly named: Map<string, Buffer>
  /** By user and kind. */
  readonly documents: Map<string, DocumentChange>
  readonly history: HistoryRow[]
  /** Periods of offers that begin, end or get another end; by user, name and start. */
  readonly offerPeriods: Map<string, HeldPeriod>
  /** Users of whom a change concerned the past, by serviceid. */
  readonly correctedPasts: Map<string, User>
  readonly events: EventRow[]
  readonly staleKeys: Pick<ReservedKey, 'partnerId' | 'operation' | 'keyHash'>[]
  readonly keys: ReservedKey[]
  /** Statements of commands that are committed together with their changes. */
  readonly alongside: Query[]
}
