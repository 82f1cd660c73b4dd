import type { Instant } from '../../calendar/calendar.ts'
import type { Query } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { RetainedRow } from '../erasures/retained-rows.ts'
import type { HistoryLine, Who } from '../rules/history.ts'
import type { Consent, ConsentChannel, Designation, Enrolment, User } from '../rules/state.ts'
import type { ConfirmationRow } from './confirmations.ts'
import type { DocumentKind } from './documents.ts'
import type { LoadedUser } from './loaded-user.ts'
import type { SearchHash } from './search-hashes.ts'

/** One change of one user. */
export type HistoryRow = {
  readonly user: User
  /** The version of the user that the change makes. */
  readonly version: number
  readonly at: Instant
  readonly who: Who
  readonly lines: readonly HistoryLine[]
  readonly eventIds: readonly string[]
  readonly actor: string | undefined
  readonly requestId: string | undefined
  readonly reference: string | undefined
}
/** An event with the bytes that will be sent. */
export type EventRow = {
  readonly id: string
  readonly user: Pick<User, 'partnerId' | 'serviceId' | 'userid'>
  readonly eventname: string
  readonly body: Buffer
  readonly data: Record<string, string>
}
/** An idempotency key that a command has spent. */
export type ReservedKey = {
  readonly partnerId: string
  readonly operation: string
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  readonly attemptId: string
  readonly serviceId: string
  readonly prefillNumber: number | undefined
  readonly sealedAnswer: Buffer | undefined
  readonly expiresAt: Instant
}
/** A document to write, or to delete when `sealed` is undefined. */
export type DocumentChange = {
  readonly user: User
  readonly kind: DocumentKind
  readonly sealed: Buffer | undefined
  readonly writtenAt: Instant
  /** By what the account is found from now on; of an account's own data alone. */
  readonly found?: readonly SearchHash[] | undefined
}

/** A version of whom a person names, as it is to be stored. */
export type DesignationWrite = {
  readonly user: Pick<User, 'partnerId' | 'serviceId'>
  readonly designation: Designation
  readonly sealed: Buffer
}

/** A user as it is to be written, where it still has the version that was read. */
export type ChangedUser = Pick<LoadedUser, 'user' | 'readVersion' | 'version' | 'wrappedKey'>

/** A user who is erased, and what stands for the userid from then on. */
export type ErasedUserRow = {
  readonly user: User
  readonly name: string
  readonly partner: Partner
  /** What opens the user's sealed records until the erasure is committed; `undefined`: nothing was ever sealed. */
  readonly key: Buffer | undefined
}

/** A consent as it is stored. */
export type ConsentWrite = {
  readonly user: User
  readonly consent: Consent
  readonly textHash: Buffer | undefined
  readonly channel: ConsentChannel
  /** The operator who put it on record. */
  readonly recordedBy: string | undefined
  readonly sealedEvidence: Buffer | undefined
}

/** Everything that one batch writes. */
export type BatchWrites = {
  /** When, in real time. */
  readonly recordedAt: Instant
  /** Users whose earlier namesake, erased, gives up the name. */
  readonly renamed: readonly { partnerId: string; serviceId: string }[]
  readonly users: readonly ChangedUser[]
  /** Erased users, and what stands for their userids from then on. */
  readonly erased: readonly ErasedUserRow[]
  /** Users whose cancel or erasure took effect: their links and sessions end. */
  readonly ended: readonly User[]
  readonly enrolments: readonly { user: User; enrolment: Enrolment }[]
  readonly consents: readonly ConsentWrite[]
  readonly confirmations: readonly ConfirmationRow[]
  /** What outlives the erasures, sealed under keys of its own. */
  readonly retained: readonly RetainedRow[]
  readonly designations: readonly DesignationWrite[]
  /** Designations that were proposed before and are decided now. */
  readonly decidedDesignations: readonly Omit<DesignationWrite, 'sealed'>[]
  readonly documents: readonly DocumentChange[]
  readonly history: readonly HistoryRow[]
  readonly events: readonly EventRow[]
  readonly staleKeys: readonly { partnerId: string; operation: string; keyHash: Buffer }[]
  readonly keys: readonly ReservedKey[]
  /** What commands bring along to be committed with their changes. */
  readonly alongside: readonly Query[]
}
