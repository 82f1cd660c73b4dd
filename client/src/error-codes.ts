/** Every code of the service's error table; each has one status (contract §12). */
export type ErrorCode =
  // 400
  | 'bad_request'
  | 'malformed_json'
  | 'duplicate_header'
  | 'idempotency_key_invalid'
  | 'idempotency_key_missing'
  | 'unsupported_version'
  | 'partnername_not_allowed'
  | 'offername_unknown'
  | 'offername_required'
  // 401, 403
  | 'unauthorized'
  | 'invalid_api_key'
  | 'insufficient_scope'
  // 404, 405, 408
  | 'not_found'
  | 'user_not_found'
  | 'webhook_not_found'
  | 'event_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  // 409
  | 'user_exists'
  | 'prefill_superseded'
  | 'idempotency_key_reused'
  | 'user_erased'
  | 'user_cancelled'
  | 'not_cancelled'
  // 413, 415
  | 'body_too_large'
  | 'unsupported_media_type'
  // 422
  | 'ineligible'
  | 'slots_exceeded'
  | 'reinstate_expired'
  | 'direction_mismatch'
  | 'already_on_offer'
  | 'offer_not_available'
  | 'preview_stale'
  | 'change_locked'
  | 'benefit_in_force'
  // 429, 431, 500, 503
  | 'too_many_requests'
  | 'headers_too_large'
  | 'internal'
  | 'unavailable'

/** Every code of the token endpoint, in the form of RFC 6749 §5.2 (contract §3). */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'unsupported_token_type'
  | 'invalid_client'

/**
 * Codes of the client itself.
 * `network`: no answer, or it broke off. `timeout`: no answer in time. `protocol`: an answer that is not the
 * service's, for example a proxy's HTML. `webhook_invalid`: a delivery that must not be trusted.
 */
export type ClientErrorCode = 'network' | 'timeout' | 'protocol' | 'webhook_invalid'
