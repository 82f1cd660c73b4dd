// Plain words for the names that the service uses; the names are shown beside them for developers.

/** The meaning of each event for a reader who has not read the docs. */
const events = {
  enrollment_request_received: 'Details shared',
  enrollment_successful: 'Enrolled',
  offer_activiation_successful: 'Plan in force',
  offer_change_scheduled: 'Plan change planned',
  offer_change_cancelled: 'Plan change taken back',
  offer_upgrade_successful: 'Moved to a higher plan',
  offer_downgrade_successful: 'Moved to a lower plan',
  offer_cancel_scheduled: 'Cancellation planned',
  offer_cancel_successful: 'Benefits ended',
  offer_reinstate_successful: 'Benefits kept or back',
  offer_action_required: 'Plan no longer fits',
  user_update_successful: 'Details corrected',
  user_erased: 'Data erased',
  benefit_enrollment_successful: 'Benefit added',
  benefit_enrollment_scheduled: 'Benefit planned',
  benefit_enrollment_ended: 'Benefit ended',
  benefit_enrollment_corrected: 'Benefit corrected',
  benefit_declined: 'Benefit declined',
  benefit_action_required: 'Something is missing',
  benefit_insurer_accepted: 'Insurer has confirmed',
  benefit_insurer_refused: 'Insurer asks for a correction',
  benefit_cover_changed: 'Family cover changed',
  user_benefits_pendingswap: 'Swap planned',
  user_benefits_swap_cancelled: 'Swap taken back',
  user_benefits_swap_successful: 'Swap done',
  user_benefits_swap_failed: 'Swap not possible',
  webhook_test: 'Test',
}
const calls = {
  prefillUser: 'Share the details',
  getBenefits: 'List the benefits',
  getUser: 'Ask where the driver stands',
  createLinkToken: 'Get a link token',
  exchangeResult: 'Ask what came of it',
  advanceClock: 'Move the sandbox clock',
}
const moments = {
  OPEN: 'Opened',
  READY: 'Ready',
  VIEW: 'Shows',
  SUBMIT: 'Answered',
  ENROLLED: 'Enrolled',
  SWAPPED: 'Swap confirmed',
  CHANGED: 'Plan changed',
  CANCELLED: 'Canceled',
  UNDONE: 'Taken back',
  EXIT: 'Closed',
  LANGUAGE: 'Language changed',
  OFFLINE: 'Connection lost',
  SESSION_EXPIRED: 'Session over',
  ERROR: 'Error',
}
const outcomes = {
  enrolled: 'the enrollment',
  swapped: 'the swap',
  changed: 'the change',
  cancelled: 'the cancellation',
  undone: 'that the change is taken back',
  exited: 'that nothing was changed',
}
const statuses = {
  none: 'Not enrolled yet',
  prefilled: 'Not enrolled yet',
  registering: 'Started, not finished',
  active: 'Enrolled',
  cancelled: 'Ended',
}

export function eventWords(name) {
  return events[name] ?? name.replaceAll('_', ' ')
}
export function callWords(name) {
  return calls[name] ?? name
}
export function momentWords(name) {
  return moments[name] ?? name.toLowerCase().replaceAll('_', ' ')
}
export function outcomeWords(name) {
  return outcomes[name] ?? name
}
export function statusWords(name) {
  return statuses[name] ?? name
}
