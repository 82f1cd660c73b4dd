/**
 * Every event and when it is raised (interface §6, contract §10). The misspelling `offer_activiation_successful` is
 * part of the interface and stays forever.
 */
export const events = {
  enrollment_request_received: 'A prefill was answered 200',
  enrollment_successful: 'An account was created',
  offer_activiation_successful: 'An offer came into force for the user',
  offer_change_scheduled: 'A pending offer change was made',
  offer_change_cancelled: 'A pending offer change was undone or replaced',
  offer_upgrade_successful: 'An upgrade is in force',
  offer_downgrade_successful: 'A downgrade is in force',
  offer_cancel_scheduled: 'A cancel is pending',
  offer_cancel_successful: 'A cancel took effect',
  offer_reinstate_successful: 'A cancel was undone, or the user was restored',
  offer_action_required: "The user's data no longer fit the offer held",
  user_update_successful: 'An update of the user was answered 200, whether or not a value differs',
  user_erased: 'The user was erased',
  benefit_enrollment_corrected: 'The operator voided an enrolment of the user, or moved its dates',
  benefit_enrollment_scheduled: 'A single benefit was accepted and starts later',
  benefit_enrollment_successful: 'A single benefit came into force',
  benefit_enrollment_ended: 'A single benefit ended on its own',
  benefit_declined: 'A single benefit was declined, or what it waited for did not come in time',
  benefit_action_required: 'A single benefit waits for an action of the user',
  benefit_insurer_accepted: 'The insurer accepted what it was told about a single benefit',
  benefit_insurer_refused: 'The insurer refused what it was told about a single benefit; cover stays',
  benefit_cover_changed: 'A single benefit covers other dependants since, by a change or by age',
  user_benefits_pendingswap: 'A swap is pending',
  user_benefits_swap_cancelled: 'A pending swap was undone, replaced or dropped',
  user_benefits_swap_successful: 'At least one pair of a swap took effect',
  user_benefits_swap_failed: 'At least one pair of a swap did not take effect',
  webhook_failing: 'For 15 minutes another endpoint of yours has got probes only, as its breaker is open',
  webhook_disabled: 'Another endpoint of yours was disabled; its events are held',
  webhook_recovered: 'Another endpoint of yours that was failing or disabled accepted a delivery again',
  webhook_test: 'A test delivery, sent whatever the filter',
} as const

/** The name of an event. */
export type EventName = keyof typeof events
/** All event names, in the order of the contract. */
export const eventNames = Object.keys(events) as EventName[]
/** Whether `text` names an event. */
export function isEventName(text: string): text is EventName {
  return Object.hasOwn(events, text)
}
