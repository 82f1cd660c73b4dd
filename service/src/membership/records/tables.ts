import { stored, tableOf, together } from '../../db/table.ts'
import type { Consent, Covered, Designation, Enrolment, User } from '../rules/state.ts'

/** The table `users`: a user without what stands in the tables below. */
export const users = tableOf<Omit<User, 'enrolments' | 'consents' | 'designations'>>({
  partnerId: stored.uuid('partner_id'),
  serviceId: stored.uuid('service_id'),
  userid: stored.text('userid'),
  status: stored.text('status'),
  createdAt: stored.instant('created_at'),
  updatedAt: stored.instant('updated_at'),
  prefillCount: stored.integer('prefill_count'),
  prefillWrittenAt: stored.instant('prefill_written_at'),
  entryExpiresAt: stored.instant('entry_expires_at'),
  offer: together({
    name: stored.text('offer'),
    since: stored.instant('offer_since'),
    version: stored.integer('offer_version'),
    inForce: stored.boolean('offer_in_force', { absent: false }),
    admits: stored.boolean('offer_admits', { absent: true }),
  }),
  pendingOffer: together({ name: stored.text('pending_offer'), at: stored.instant('pending_offer_at') }),
  swap: together({ pairs: stored.json('swap_pairs'), at: stored.instant('swap_at') }),
  cancel: together({
    at: stored.instant('cancel_at'),
    requestedAt: stored.instant('cancel_requested_at'),
    reason: stored.text('cancel_reason'),
  }),
  dependantsVersion: stored.integer('dependants_version'),
  erasedAt: stored.instant('erased_at'),
})

/** The table `enrolments`: an enrolment without those whom it covers, who stand in the table below. */
export const enrolments = tableOf<Omit<Enrolment, 'covered'>>({
  id: stored.uuid('enrolment_id'),
  benefit: stored.text('benefit'),
  offer: stored.text('offer'),
  isFixed: stored.boolean('is_fixed'),
  state: stored.text('state'),
  pendingBy: stored.text('pending_by'),
  version: stored.integer('catalogue_version'),
  pickedAt: stored.instant('picked_at'),
  startsAt: stored.instant('starts_at'),
  endsAt: stored.instant('ends_at'),
  ownEnd: together({ at: stored.instant('own_end_at'), reason: stored.text('own_end_reason') }),
  correctedEnd: stored.instant('corrected_end_at'),
  actionDueAt: stored.instant('action_due_at'),
  closeReason: stored.text('close_reason'),
  isSingle: stored.boolean('is_single'),
  corrects: stored.uuid('corrects'),
  pendingCover: together({
    at: stored.instant('pending_cover_at'),
    people: stored.json('pending_cover'),
  }),
  tiersFrom: together({ version: stored.integer('tiers_version'), at: stored.instant('tiers_at') }),
})

/** What is read of the table `covered_dependants`, beside the enrolment that covers the dependant. */
export const covered = tableOf<Covered>({
  dependantId: stored.uuid('dependant_id'),
  relationship: stored.text('relationship'),
  startsAt: stored.instant('own_start_at'),
  end: together({ at: stored.instant('own_end_at'), reason: stored.text('own_end_reason') }),
  isOver: stored.boolean('is_over'),
})

/** The table `consents`, as far as a user's state has it. */
export const consents = tableOf<Consent>({
  name: stored.text('name'),
  version: stored.text('version'),
  locale: stored.text('locale'),
  agreedAt: stored.instant('agreed_at'),
  channel: stored.text('channel', { only: ['phone', 'paper', 'email'] }),
})

/** What a user's state has of the sealed records of beneficiaries. */
export const designations = tableOf<Designation>({
  benefit: stored.text('benefit'),
  version: stored.integer('version'),
  who: stored.text('who'),
  writtenAt: stored.instant('written_at'),
})
