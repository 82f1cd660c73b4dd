import type { EnrolmentState, Locale } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { DocumentKind } from '../records/documents.ts'
import type {
  CloseReason,
  Consent,
  Designation,
  Enrolment,
  OwnEndReason,
  SwapPair,
  User,
  UserStatus,
} from '../rules/state.ts'

/** A row of `users` as the loading statement returns it, with its dependent rows. */
export type UserRow = {
  partner_id: string
  service_id: string
  version: number
  userid: string
  status: UserStatus
  created_at: Instant
  updated_at: Instant
  prefill_count: number
  prefill_written_at: Instant | null
  entry_expires_at: Instant | null
  offer: string | null
  offer_since: Instant | null
  offer_version: number | null
  offer_in_force: boolean
  offer_admits: boolean
  pending_offer: string | null
  pending_offer_at: Instant | null
  swap_pairs: SwapPairRow[] | null
  swap_at: Instant | null
  cancel_at: Instant | null
  cancel_requested_at: Instant | null
  cancel_reason: string | null
  erased_at: Instant | null
  /** Its place among the names that were asked for, from 1 on. */
  place: number
  /** Null when there is none, or it was not requested. */
  wrapped_key: Buffer | null
  enrolments: EnrolmentRow[] | null
  consents: ConsentRow[] | null
  designations: DesignationRow[] | null
  /** The sealed documents in base64; null when there are none, or they were not requested. */
  documents: [kind: DocumentKind, sealed: string][] | null
}

/** An earlier version stored the absent half of a pair as null; this one leaves it out. */
type SwapPairRow = { add?: string | null; remove?: string | null }

/**
 * A row of `enrolments` as a JSON array, with instants in milliseconds. With a name on every value, the names were most
 * of the cost of loading a user.
 */
type EnrolmentRow = [
  id: string,
  benefit: string,
  offer: string,
  isFixed: boolean,
  state: EnrolmentState,
  plannedBy: 'offer' | 'swap' | null,
  catalogueVersion: number,
  pickedAt: Instant,
  startsAt: Instant,
  endsAt: Instant | null,
  ownEndAt: Instant | null,
  ownEndReason: OwnEndReason | null,
  actionDueAt: Instant | null,
  closeReason: CloseReason | null,
  isSingle: boolean,
  corrects: string | null,
  correctedEndAt: Instant | null,
]

/** A row of `consents` as a JSON array. */
type ConsentRow = [
  name: string,
  version: string,
  agreedAt: Instant,
  locale: Locale,
  channel: Consent['channel'] | null,
]

/** A row of `beneficiary_designations` without its sealed part, as a JSON array. */
type DesignationRow = [
  benefit: string,
  version: number,
  status: Designation['status'],
  who: Designation['who'],
  writtenAt: Instant,
  decidedAt: Instant | null,
]

/** The user of a row. */
export function userOf(row: UserRow): User {
  return {
    partnerId: row.partner_id,
    serviceId: row.service_id,
    userid: row.userid,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    prefillCount: row.prefill_count,
    prefillWrittenAt: row.prefill_written_at ?? undefined,
    entryExpiresAt: row.entry_expires_at ?? undefined,
    offer:
      row.offer !== null && row.offer_since !== null && row.offer_version !== null
        ? {
            name: row.offer,
            since: row.offer_since,
            version: row.offer_version,
            inForce: row.offer_in_force,
            admits: row.offer_admits,
          }
        : undefined,
    pendingOffer:
      row.pending_offer !== null && row.pending_offer_at !== null
        ? { name: row.pending_offer, at: row.pending_offer_at }
        : undefined,
    swap:
      row.swap_pairs !== null && row.swap_at !== null
        ? { pairs: row.swap_pairs.map(pairOf), at: row.swap_at }
        : undefined,
    cancel:
      row.cancel_at !== null && row.cancel_requested_at !== null && row.cancel_reason !== null
        ? { at: row.cancel_at, requestedAt: row.cancel_requested_at, reason: row.cancel_reason }
        : undefined,
    enrolments: (row.enrolments ?? []).map(enrolmentOf),
    consents: (row.consents ?? []).map(consentOf),
    designations: (row.designations ?? []).map(designationOf),
    erasedAt: row.erased_at ?? undefined,
  }
}

function pairOf({ add, remove }: SwapPairRow): SwapPair {
  return { add: add ?? undefined, remove: remove ?? undefined }
}

function enrolmentOf([
  id,
  benefit,
  offer,
  isFixed,
  state,
  plannedBy,
  version,
  pickedAt,
  startsAt,
  endsAt,
  ownEndAt,
  ownEndReason,
  actionDueAt,
  closeReason,
  isSingle,
  corrects,
  correctedEnd,
]: EnrolmentRow): Enrolment {
  return {
    id,
    benefit,
    offer,
    isFixed,
    state,
    version,
    pickedAt,
    startsAt,
    plannedBy: plannedBy ?? undefined,
    endsAt: endsAt ?? undefined,
    ownEnd: ownEndAt === null || ownEndReason === null ? undefined : { at: ownEndAt, reason: ownEndReason },
    actionDueAt: actionDueAt ?? undefined,
    closeReason: closeReason ?? undefined,
    isSingle,
    corrects: corrects ?? undefined,
    correctedEnd: correctedEnd ?? undefined,
  }
}

function consentOf([name, version, agreedAt, locale, channel]: ConsentRow): Consent {
  return { name, version, agreedAt, locale, channel: channel ?? undefined }
}

function designationOf([benefit, version, status, who, writtenAt, decidedAt]: DesignationRow): Designation {
  return {
    benefit,
    version,
    status,
    who,
    writtenAt,
    decidedAt: decidedAt ?? undefined,
  }
}
