import type { EnrolmentState } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { CloseReason, Consent, Enrolment, OwnEndReason, SwapPair, User, UserStatus } from './state.ts'

/** A row of `users` as the loading statement gives it, with what hangs on it. */
export type UserRow = {
  partner_id: string
  service_id: string
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
  pending_offer: string | null
  pending_offer_at: Instant | null
  swap_pairs: { add: string | null; remove: string | null }[] | null
  swap_at: Instant | null
  cancel_at: Instant | null
  cancel_requested_at: Instant | null
  cancel_reason: string | null
  erased_at: Instant | null
  due_at: Instant | null
  wrapped_key: Buffer | null
  enrolments: EnrolmentRow[] | null
  consents: ConsentRow[] | null
}

/** A row of `enrolments` as JSON; instants as milliseconds. */
export type EnrolmentRow = {
  enrolment_id: string
  benefit: string
  offer: string
  is_fixed: boolean
  state: EnrolmentState
  planned_by: 'offer' | 'swap' | null
  catalogue_version: number
  picked_at: Instant
  starts_at: Instant
  ends_at: Instant | null
  own_end_at: Instant | null
  own_end_reason: string | null
  action_due_at: Instant | null
  close_reason: string | null
}

/** A row of `consents` as JSON. */
export type ConsentRow = { name: string; version: string; agreed_at: Instant; locale: 'en' | 'es' }

/** The user that a row tells of. */
export const userOf = (row: UserRow): User => ({
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
      ? { name: row.offer, since: row.offer_since, version: row.offer_version, inForce: row.offer_in_force }
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
  erasedAt: row.erased_at ?? undefined,
})

const pairOf = (pair: { add: string | null; remove: string | null }): SwapPair => ({
  add: pair.add ?? undefined,
  remove: pair.remove ?? undefined,
})

const enrolmentOf = (row: EnrolmentRow): Enrolment => ({
  id: row.enrolment_id,
  benefit: row.benefit,
  offer: row.offer,
  isFixed: row.is_fixed,
  state: row.state,
  plannedBy: row.planned_by ?? undefined,
  version: row.catalogue_version,
  pickedAt: row.picked_at,
  startsAt: row.starts_at,
  endsAt: row.ends_at ?? undefined,
  ownEnd:
    row.own_end_at === null ? undefined : { at: row.own_end_at, reason: row.own_end_reason as OwnEndReason },
  actionDueAt: row.action_due_at ?? undefined,
  closeReason: (row.close_reason ?? undefined) as CloseReason | undefined,
})

const consentOf = (row: ConsentRow): Consent => ({
  name: row.name,
  version: row.version,
  agreedAt: row.agreed_at,
  locale: row.locale,
})
