/** The meaning of one error code: its only status, a title, the remedy, and words for the person on the page. */
export type ErrorEntry = {
  readonly status: number
  readonly title: string
  /** When it is answered, for its page in the docs. */
  readonly cause: string
  /** What the caller can do about it; also the default `detail`. */
  readonly remedy: string
  readonly person?: 'tryagain' | 'cannotnow' | 'asksupport' | 'donealready'
}

/** The error table (contract §12): every code that the service can answer. */
export const errors = {
  bad_request: {
    status: 400,
    title: 'The request is not valid',
    cause:
      'A field is missing, has a wrong type or value, or is not known. The list `errors` names each one with its path, such as `address.zipcode`, and says what would be right. Unknown fields are refused so that a misspelled name is never lost in silence, and nothing is converted: `"34"` is not a number.',
    remedy: 'Correct the fields named in errors and send the request again.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    cause:
      'The body is not one JSON object in UTF-8. Common reasons: an empty body, single quotes, a trailing comma, the same member twice, a byte-order mark, or a body nested too deeply.',
    remedy:
      'Send one JSON object in UTF-8, without duplicate members and NUL characters, nested at most 8 deep or as the description says.',
  },
  duplicate_header: {
    status: 400,
    title: 'A header was sent twice',
    cause:
      'One of the headers that may be sent once came twice. A proxy that adds a header which is already there, or a client that sets it in two places, does this.',
    remedy: 'Send Authorization, the API key, Idempotency-Key and Content-Type once each.',
  },
  idempotency_key_invalid: {
    status: 400,
    title: 'The Idempotency-Key is not valid',
    cause:
      'The `Idempotency-Key` is empty, longer than 255 characters, or holds a space, a control character or a letter outside ASCII.',
    remedy: 'Send 1 to 255 visible ASCII characters as the key.',
  },
  idempotency_key_missing: {
    status: 400,
    title: 'The Idempotency-Key is missing',
    cause:
      'The request has `Version: v2`, which makes a prefill idempotent, and no `Idempotency-Key` to recognize a repeat by.',
    remedy: 'Version v2 needs an Idempotency-Key header: send one, or leave Version out.',
  },
  unsupported_version: {
    status: 400,
    title: 'The Version is not supported',
    cause: 'The `Version` header has a value other than `v1` or `v2`.',
    remedy: 'Send Version v2 for idempotent writes, or v1, or no Version header.',
  },
  partnername_not_allowed: {
    status: 400,
    title: 'The partner name is not yours',
    cause:
      'The field `partnername` names a partner, and none of your own names equals it. Upper and lower case are the same.',
    remedy: 'Send an empty partnername, or one of your own names.',
  },
  offername_unknown: {
    status: 400,
    title: 'The offer is unknown',
    cause:
      'The field `offername` is not one of your offers in the catalogue in force, nor the offer that the user holds.',
    remedy: 'Send an empty offername, or the name of one of your offers.',
  },
  benefit_unknown: {
    status: 400,
    title: 'The benefit is unknown',
    cause:
      'A field names a benefit that is not in the catalogue in force and that the user has never held. `errors` names each such field. A benefit that exists but is not part of the offer is `ineligible`.',
    remedy: 'Send names of benefits as POST /user/benefits lists them.',
  },
  offername_required: {
    status: 400,
    title: 'The offer is missing',
    cause:
      'The request creates a user without `offername`, and you have more than one offer, so that the service cannot choose.',
    remedy: 'You have more than one offer: say in offername which one the user gets.',
  },
  dependant_unknown: {
    status: 400,
    title: 'The dependant is unknown',
    cause: 'A `dependantid` is none of the user. `errors` names each such field.',
    remedy: 'Send a dependantid as POST /user/account/dependants/get lists it; a new dependant has none.',
  },
  unauthorized: {
    status: 401,
    title: 'The credentials are missing or not valid',
    cause:
      'There is no access token, or the token has expired, was revoked, belongs to the other environment (a live token in a sandbox), or its client secret was revoked. A disabled partner gets this answer, too.',
    remedy: 'Send Authorization: Bearer with an access token from POST /oauth2/token that has not expired.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is missing or not valid',
    cause:
      'The `x-api-key` header is missing, was revoked, or belongs to another partner than the access token.',
    remedy: 'Send x-api-key with a live key of the same partner as the access token.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The access token lacks the scope',
    cause:
      'The token was issued without the scope that this operation needs, because the token request named fewer scopes or because your client was not given that scope.',
    remedy: 'Ask for a token with the scope that this operation needs.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    cause:
      'Nothing is at this path. A stage segment that is missing or doubled in the base address is the usual reason. For link tokens and results: the session is unknown or its 24 hours are over.',
    remedy: 'There is nothing at this path: compare it with the interface description at /openapi.json.',
  },
  user_not_found: {
    status: 404,
    title: 'The user is unknown',
    cause:
      'You have neither a prefill nor an account for this `userid`. A prefill lapses 90 days after its last write. Userids are case-sensitive.',
    remedy: 'Prefill or create the user first, and send the same userid, which is case-sensitive.',
  },
  webhook_not_found: {
    status: 404,
    title: 'The webhook endpoint is unknown',
    cause: 'None of your endpoints has this id, or it was deleted.',
    remedy: 'List your endpoints with GET /webhooks.',
  },
  event_not_found: {
    status: 404,
    title: 'The event is unknown',
    cause:
      'None of your events has this id. An event is kept for 30 days, and longer while it waits for an endpoint.',
    remedy: 'List your events with GET /events; they are kept for 30 days.',
  },
  statement_not_found: {
    status: 404,
    title: 'There is no statement of this month',
    cause: 'The month lies in the future, before the first line of your users, or more than two years back.',
    remedy: 'List your months with GET /statements.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    cause:
      'The headers or the body did not arrive in time. A slow or stalled upload, or a connection that broke off, does this.',
    remedy: 'Send the headers within 10 seconds and the whole request within 15, or as the description says.',
  },
  user_exists: {
    status: 409,
    title: 'The user exists already',
    cause:
      'For a prefill: this very request was accepted before under the same `Idempotency-Key`, as `Idempotency-Replayed: true` and `Idempotency-Original-Status: 200` show. For a create: the user has an account already.',
    remedy:
      'Nothing is to be done when this answers a repeat. To write newer data, prefill with a new Idempotency-Key; to change an account, update it.',
    person: 'donealready',
  },
  prefill_superseded: {
    status: 409,
    title: 'The prefill was replaced by newer data',
    cause:
      'This very request was accepted before under the same `Idempotency-Key`, and a newer prefill of the same user has been accepted since. The newer data stays.',
    remedy: 'It was applied once; to write it again, send it with a new Idempotency-Key.',
    person: 'donealready',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used for another request',
    cause:
      'The `Idempotency-Key` was spent on another request: another path, query or body. A key made of too little, for example of the userid alone, does this.',
    remedy: 'Send a new key for a new request.',
  },
  user_erased: {
    status: 409,
    title: 'The user of this key was erased',
    cause:
      'The request repeats a key whose user has been erased since. Nothing of that user is kept, and nothing was stored now.',
    remedy: 'Nothing was stored; a new Idempotency-Key starts a new user.',
  },
  user_cancelled: {
    status: 409,
    title: 'The user is cancelled',
    cause: 'A cancel of this user is in effect, and the operation needs a member.',
    remedy: 'Reinstate the user, or create the user again.',
  },
  version_conflict: {
    status: 409,
    title: 'The list has changed',
    cause:
      'The request says which version it changes, and somebody has written a newer one since: another process of yours, the person on the page, or an operator.',
    remedy: 'Read the newest version, make your change to it, and send that.',
  },
  dependant_covered: {
    status: 409,
    title: 'A dependant who is left out is covered',
    cause:
      'The new list leaves out somebody whom a benefit covers, or will cover by a pending change. `errors` names each one in `dependantid`.',
    remedy:
      'Take the dependant out of each benefit first; once that has taken effect, leave the dependant out.',
    person: 'cannotnow',
  },
  cancel_pending: {
    status: 409,
    title: 'A cancel is pending',
    cause:
      'A cancel of this user will take effect at the end of the period, and what was asked for would only begin after it: a swap, or a change of offer at the next period.',
    remedy: 'Reinstate the user first, or make a change that takes effect at once.',
    person: 'cannotnow',
  },
  not_cancelled: {
    status: 409,
    title: 'The user is not cancelled',
    cause: 'There is no cancel to undo: the user is a member without one.',
    remedy: 'Only a cancelled user, or one with a pending cancel, can be reinstated.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    cause: 'The body is larger than the service takes.',
    remedy: 'Send at most 64 KiB, or as the description says.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type is not supported',
    cause:
      'The `Content-Type` is not the one that the operation takes, names a charset other than UTF-8, or the body is compressed.',
    remedy: 'Send Content-Type: application/json, with charset=utf-8 or none, and no Content-Encoding.',
  },
  ineligible: {
    status: 422,
    title: 'The user is not eligible',
    cause:
      'A rule of the catalogue does not admit the user: age, state, ZIP code or offer. Or the benefit is closed to newcomers or not part of the offer. `errors` lists each reason with the code of its rule.',
    remedy: 'See the reasons in errors; each carries a text that can be shown.',
    person: 'cannotnow',
  },
  dependant_not_eligible: {
    status: 422,
    title: 'A dependant cannot be covered',
    cause:
      'A rule of the benefit does not let it cover somebody: the benefit covers the member alone, or not this relationship, or one spouse or domestic partner only, or fewer children; or a child would have reached the age limit on the first day. `errors` names each one in `dependantid`, or by the place in the request, with the rule in `code`. A change of a birth date or of a relationship is refused, too, where somebody who is covered could not be covered with it, or at another price.',
    remedy: 'See the reasons in errors: each names the dependant and the rule.',
    person: 'cannotnow',
  },
  slots_exceeded: {
    status: 422,
    title: 'More benefits than the offer has room for',
    cause: 'The offer has fewer slots for selectable benefits than the request would fill.',
    remedy: 'Pick fewer benefits, or benefits of this offer only.',
    person: 'cannotnow',
  },
  reinstate_expired: {
    status: 422,
    title: 'The time to reinstate is over',
    cause: 'The cancel took effect more than 30 days ago.',
    remedy: 'Create the user again.',
    person: 'cannotnow',
  },
  direction_mismatch: {
    status: 422,
    title: 'The action contradicts the order of the offers',
    cause: 'The request states `upgrade` or `downgrade`, and the ranks of the two offers say the opposite.',
    remedy: 'Send the action that fits the ranks of the two offers, or auto.',
  },
  already_on_offer: {
    status: 422,
    title: 'The user is on this offer already',
    cause: 'The user holds this offer, and no change is pending that could be undone.',
    remedy: 'You need not do anything.',
  },
  offer_not_available: {
    status: 422,
    title: 'The offer is not available',
    cause: 'The offer is closed to newcomers, or the user may not move to it now.',
    remedy: 'See POST /user/offers/available for the offers that are.',
    person: 'cannotnow',
  },
  preview_stale: {
    status: 422,
    title: 'The preview no longer holds',
    cause:
      'The `previewid` is missing for a change that needs one, is older than 15 minutes, belongs to another user, or what it showed is no longer what would happen.',
    remedy: 'Call POST /user/offers/preview again and decide on its answer.',
  },
  change_locked: {
    status: 422,
    title: 'Changes for this boundary are locked',
    cause:
      'The boundary is less than the cutoff hours of the offer away, mostly 24. What is meant for that boundary can then be neither made, replaced nor undone.',
    remedy: 'Wait until the boundary has passed. A change of the offer can also be made at once.',
    person: 'cannotnow',
  },
  benefit_in_force: {
    status: 422,
    title: 'The benefit is in force',
    cause: 'The benefit is in force, and only one that has not begun can be declined.',
    remedy: 'A benefit in force cannot be declined; swap it out or cancel the user.',
    person: 'cannotnow',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    cause:
      'You used up the rate limit that the operator set for you, or too many failed authentications came from your address in the last minute.',
    remedy: 'Wait as long as Retry-After says.',
    person: 'tryagain',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    cause: 'The request has too many headers, or they are too long together.',
    remedy: 'Send at most 64 headers and 8 KiB, or as the description says.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    cause: 'A fault of the service. It is logged with the `requestid`.',
    remedy: 'Try again; if it stays, tell the operator the requestid.',
    person: 'asksupport',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    cause:
      'The service is overloaded, restarting, or cannot reach its database; or an earlier request with the same `Idempotency-Key` is still running. A request that was refused like this had no effect, unless the connection broke off while it was being written: the same `Idempotency-Key` makes the repeat safe.',
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
