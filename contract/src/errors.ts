/** The meaning of one error code: its only status, a title, the remedy, and words for the person on the page. */
export type ErrorEntry = {
  readonly status: number
  readonly title: string
  /** What the caller can do about it; also the default `detail`. */
  readonly remedy: string
  readonly person?: 'tryagain' | 'cannotnow' | 'asksupport' | 'donealready'
}

/** The error table (contract §12): every code that the service can answer. */
export const errors = {
  bad_request: {
    status: 400,
    title: 'The request is not valid',
    remedy: 'Correct the fields named in errors and send the request again.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    remedy:
      'Send one JSON object in UTF-8, without duplicate members and NUL characters, nested at most 8 deep or as the description says.',
  },
  duplicate_header: {
    status: 400,
    title: 'A header was sent twice',
    remedy: 'Send Authorization, the API key, Idempotency-Key and Content-Type once each.',
  },
  idempotency_key_invalid: {
    status: 400,
    title: 'The Idempotency-Key is not valid',
    remedy: 'Send 1 to 255 visible ASCII characters as the key.',
  },
  idempotency_key_missing: {
    status: 400,
    title: 'The Idempotency-Key is missing',
    remedy: 'Version v2 needs an Idempotency-Key header: send one, or leave Version out.',
  },
  unsupported_version: {
    status: 400,
    title: 'The Version is not supported',
    remedy: 'Send Version v2 for idempotent writes, or v1, or no Version header.',
  },
  partnername_not_allowed: {
    status: 400,
    title: 'The partner name is not yours',
    remedy: 'Send an empty partnername, or one of your own names.',
  },
  offername_unknown: {
    status: 400,
    title: 'The offer is unknown',
    remedy: 'Send an empty offername, or the name of one of your offers.',
  },
  benefit_unknown: {
    status: 400,
    title: 'The benefit is unknown',
    remedy: 'Send names of benefits as POST /user/benefits lists them.',
  },
  offername_required: {
    status: 400,
    title: 'The offer is missing',
    remedy: 'You have more than one offer: say in offername which one the user gets.',
  },
  dependant_unknown: {
    status: 400,
    title: 'The dependant is unknown',
    remedy: 'Send a dependantid as POST /user/account/dependants/get lists it; a new dependant has none.',
  },
  unauthorized: {
    status: 401,
    title: 'The credentials are missing or not valid',
    remedy: 'Send Authorization: Bearer with an access token from POST /oauth2/token that has not expired.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is missing or not valid',
    remedy: 'Send x-api-key with a live key of the same partner as the access token.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The access token lacks the scope',
    remedy: 'Ask for a token with the scope that this operation needs.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    remedy: 'There is nothing at this path: compare it with the interface description at /openapi.json.',
  },
  user_not_found: {
    status: 404,
    title: 'The user is unknown',
    remedy: 'Prefill or create the user first, and send the same userid, which is case-sensitive.',
  },
  webhook_not_found: {
    status: 404,
    title: 'The webhook endpoint is unknown',
    remedy: 'List your endpoints with GET /webhooks.',
  },
  event_not_found: {
    status: 404,
    title: 'The event is unknown',
    remedy: 'List your events with GET /events; they are kept for 30 days.',
  },
  statement_not_found: {
    status: 404,
    title: 'There is no statement of this month',
    remedy: 'List your months with GET /statements.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    remedy: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    remedy: 'Send the headers within 10 seconds and the whole request within 15, or as the description says.',
  },
  user_exists: {
    status: 409,
    title: 'The user exists already',
    remedy:
      'Nothing is to be done when this answers a repeat. To write newer data, prefill with a new Idempotency-Key; to change an account, update it.',
    person: 'donealready',
  },
  prefill_superseded: {
    status: 409,
    title: 'The prefill was replaced by newer data',
    remedy: 'It was applied once; to write it again, send it with a new Idempotency-Key.',
    person: 'donealready',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used for another request',
    remedy: 'Send a new key for a new request.',
  },
  user_erased: {
    status: 409,
    title: 'The user of this key was erased',
    remedy: 'Nothing was stored; a new Idempotency-Key starts a new user.',
  },
  user_cancelled: {
    status: 409,
    title: 'The user is cancelled',
    remedy: 'Reinstate the user, or create the user again.',
  },
  version_conflict: {
    status: 409,
    title: 'The list has changed',
    remedy: 'Read the newest version, make your change to it, and send that.',
  },
  dependant_covered: {
    status: 409,
    title: 'A dependant who is left out is covered',
    remedy:
      'Take the dependant out of each benefit first; once that has taken effect, leave the dependant out.',
    person: 'cannotnow',
  },
  cancel_pending: {
    status: 409,
    title: 'A cancel is pending',
    remedy: 'Reinstate the user first, or make a change that takes effect at once.',
    person: 'cannotnow',
  },
  not_cancelled: {
    status: 409,
    title: 'The user is not cancelled',
    remedy: 'Only a cancelled user, or one with a pending cancel, can be reinstated.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    remedy: 'Send at most 64 KiB, or as the description says.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type is not supported',
    remedy: 'Send Content-Type: application/json, with charset=utf-8 or none, and no Content-Encoding.',
  },
  ineligible: {
    status: 422,
    title: 'The user is not eligible',
    remedy: 'See the reasons in errors; each carries a text that can be shown.',
    person: 'cannotnow',
  },
  dependant_not_eligible: {
    status: 422,
    title: 'A dependant cannot be covered',
    remedy: 'See the reasons in errors: each names the dependant and the rule.',
    person: 'cannotnow',
  },
  slots_exceeded: {
    status: 422,
    title: 'More benefits than the offer has room for',
    remedy: 'Pick fewer benefits, or benefits of this offer only.',
    person: 'cannotnow',
  },
  reinstate_expired: {
    status: 422,
    title: 'The time to reinstate is over',
    remedy: 'Create the user again.',
    person: 'cannotnow',
  },
  direction_mismatch: {
    status: 422,
    title: 'The action contradicts the order of the offers',
    remedy: 'Send the action that fits the ranks of the two offers, or auto.',
  },
  already_on_offer: {
    status: 422,
    title: 'The user is on this offer already',
    remedy: 'You need not do anything.',
  },
  offer_not_available: {
    status: 422,
    title: 'The offer is not available',
    remedy: 'See POST /user/offers/available for the offers that are.',
    person: 'cannotnow',
  },
  preview_stale: {
    status: 422,
    title: 'The preview no longer holds',
    remedy: 'Call POST /user/offers/preview again and decide on its answer.',
  },
  change_locked: {
    status: 422,
    title: 'Changes for this boundary are locked',
    remedy: 'Wait until the boundary has passed. A change of the offer can also be made at once.',
    person: 'cannotnow',
  },
  benefit_in_force: {
    status: 422,
    title: 'The benefit is in force',
    remedy: 'A benefit in force cannot be declined; swap it out or cancel the user.',
    person: 'cannotnow',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    remedy: 'Wait as long as Retry-After says.',
    person: 'tryagain',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    remedy: 'Send at most 64 headers and 8 KiB, or as the description says.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    remedy: 'Try again; if it stays, tell the operator the requestid.',
    person: 'asksupport',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    remedy: 'Try again after the time in Retry-After, a write with the same Idempotency-Key.',
    person: 'tryagain',
  },
} as const satisfies Record<string, ErrorEntry>

/** One code of the error table. */
export type ErrorCode = keyof typeof errors

/** Whether `text` is a code of the error table. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errors, text)
}

/** A language of texts and user messages. */
export type Locale = 'en' | 'es'
