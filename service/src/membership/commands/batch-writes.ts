import type { Instant } from '../../calendar/calendar.ts'
import type { Query } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { ConfirmationRow } from '../records/confirmations.ts'
import type { ConsentWrite } from '../records/consents.ts'
import type { DesignationWrite } from '../records/designations.ts'
import type { DocumentKind } from '../records/documents.ts'
import type { RetainedRow } from '../records/retained-rows.ts'
import type { HistoryLine, Who } from '../rules/history.ts'
import type { Enrolment, User } from '../rules/state.ts'
import type { LoadedUser } from './loaded-user.ts'
import type { SearchHash } from './search-hashes.ts'

/** One change of one user. */
export type HistoryRow = {
  readonly user: User
  /** The version of the user after the change. */
  readonly version: number
  readonly at: Instant
  readonly who: Who
  readonly lines: readonly HistoryLine[]
  readonly eventIds: readonly string[]
  readonly actor: string | undefined
  readonly requestId: string | undefined
  readonly reference: string | undefined
}
/** An event with the bytes that every attempt sends. */
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
  /** The hashes by which the account is found from now on; only for the account's own data. */
  readonly found?: readonly SearchHash[] | undefined
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
}

/** Everything that one batch writes. */
export type BatchWrites = {
  /** The real time of the writing. */
  readonly recordedAt: Instant
  /** Erased users who give up their name to a new user. */
  readonly renamed: readonly { partnerId: string; serviceId: string }[]
  readonly users: readonly ChangedUser[]
  /** Erased users, with the texts that replace their userids. */
  readonly erased: readonly ErasedUserRow[]
  /** Users whose cancel or erasure took effect, so that their links and sessions end. */
  readonly ended: readonly User[]
  readonly enrolments: readonly { user: User; enrolment: Enrolment }[]
  readonly consents: readonly ConsentWrite[]
  readonly confirmations: readonly ConfirmationRow[]
  /** Records that are kept after erasures, sealed under keys of their own. */
  readonly retained: readonly RetainedRow[]
  readonly designations: readonly DesignationWrite[]
  /** Earlier proposals of beneficiaries that are now confirmed or dropped. */
  readonly decidedDesignations: readonly Omit<DesignationWrite, 'sealed'>[]
  readonly documents: readonly DocumentChange[]
  readonly history: readonly HistoryRow[]
  readonly events: readonly EventRow[]
  readonly staleKeys: readonly { partnerId: string; operation: string; keyHash: Buffer }[]
  readonly keys: readonly ReservedKey[]
  /** Statements of commands that are committed together with their changes. */
  readonly alongside: readonly Query[]
}
