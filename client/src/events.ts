import type { CurrentOfferDetails } from './user.ts'

/** Every event of the service (contract §10); `offer_activiation_successful` is spelled so for ever. */
export type EventName =
  | 'enrollment_request_received'
  | 'enrollment_successful'
  | 'offer_activiation_successful'
  | 'offer_change_scheduled'
  | 'offer_change_cancelled'
  | 'offer_upgrade_successful'
  | 'offer_downgrade_successful'
  | 'offer_cancel_scheduled'
  | 'offer_cancel_successful'
  | 'offer_reinstate_successful'
  | 'user_update_successful'
  | 'user_erased'
  | 'benefit_enrollment_successful'
  | 'benefit_enrollment_ended'
  | 'benefit_declined'
  | 'benefit_action_required'
  | 'user_benefits_pendingswap'
  | 'user_benefits_swap_cancelled'
  | 'user_benefits_swap_successful'
  | 'user_benefits_swap_failed'
  | 'webhook_test'

/** The body of a delivery (interface §2.5): the state right after the change. */
export type WebhookEvent = {
  /** Your identifier of the user; `webhook-test` in a `webhook_test`. */
  userid: string
  /** One of {@link EventName}, or a name that was added after this version: ignore what you do not know. */
  eventname: EventName | (string & {})
  currentofferdetails: CurrentOfferDetails
}
