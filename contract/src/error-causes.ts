import type { ErrorCode } from './errors.ts'

/** The causes of each error, for its page in the docs. A code without a cause does not compile. */
export const errorCauses = {
  bad_request:
    'A field is missing, has a wrong type or value, or is not known. The list `errors` names each one with its path, such as `address.zipcode`, and says what would be right. Unknown fields are refused so that a misspelled name is never lost in silence, and nothing is converted: `"34"` is not a number.',
  malformed_json:
    'The body is not one JSON object in UTF-8. Common reasons: an empty body, single quotes, a trailing comma, the same member twice, a byte-order mark, or a body nested too deeply.',
  duplicate_header:
    'One of the headers that may be sent once came twice. A proxy that adds a header which is already there, or a client that sets it in two places, does this.',
  idempotency_key_invalid:
    'The `Idempotency-Key` is empty, longer than 255 characters, or holds a space, a control character or a letter outside ASCII.',
  idempotency_key_missing:
    'The request has `Version: v2`, which makes a prefill idempotent, and no `Idempotency-Key` to recognize a repeat by.',
  unsupported_version: 'The `Version` header has a value other than `v1` or `v2`.',
  partnername_not_allowed:
    'The field `partnername` names a partner, and none of your own names equals it. Upper and lower case are the same.',
  offername_unknown:
    'The field `offername` is not one of your offers in the catalogue in force, nor the offer that the user holds.',
  offername_required:
    'The request creates a user without `offername`, and you have more than one offer, so that the service cannot choose.',
  benefit_unknown:
    'A field names a benefit that is not in the catalogue in force and that the user has never held. `errors` names each such field. A benefit that exists but is not part of the offer is `ineligible`.',
  dependant_unknown: 'A `dependantid` is none of the user. `errors` names each such field.',
  unauthorized:
    'There is no access token, or the token has expired, was revoked, belongs to the other environment (a live token in a sandbox), or its client secret was revoked. A disabled partner gets this answer, too.',
  invalid_api_key:
    'The `x-api-key` header is missing, was revoked, or belongs to another partner than the access token.',
  insufficient_scope:
    'The token was issued without the scope that this operation needs, because the token request named fewer scopes or because your client was not given that scope.',
  not_found:
    'Nothing is at this path. A stage segment that is missing or doubled in the base address is the usual reason. For link tokens and results: the session is unknown or its 24 hours are over.',
  user_not_found:
    'You have neither a prefill nor an account for this `userid`. A prefill lapses 90 days after its last write. Userids are case-sensitive.',
  webhook_not_found: 'None of your endpoints has this id, or it was deleted.',
  event_not_found:
    'None of your events has this id. An event is kept for 30 days, and longer while it waits for an endpoint.',
  statement_not_found:
    'The month lies in the future, before the first line of your users, or more than two years back.',
  method_not_allowed: 'The path exists, but not with this method.',
  request_timeout:
    'The headers or the body did not arrive in time. A slow or stalled upload, or a connection that broke off, does this.',
  user_exists:
    'For a prefill: this very request was accepted before under the same `Idempotency-Key`, as `Idempotency-Replayed: true` and `Idempotency-Original-Status: 200` show. For a create: the user has an account already.',
  prefill_superseded:
    'This very request was accepted before under the same `Idempotency-Key`, and a newer prefill of the same user has been accepted since. The newer data stays.',
  idempotency_key_reused:
    'The `Idempotency-Key` was spent on another request: another path, query or body. A key made of too little, for example of the userid alone, does this.',
  user_erased:
    'The request repeats a key whose user has been erased since. Nothing of that user is kept, and nothing was stored now.',
  user_cancelled: 'A cancel of this user is in effect, and the operation needs a member.',
  version_conflict:
    'The request says which version it changes, and somebody has written a newer one since: another process of yours, the person on the page, or an operator.',
  dependant_covered:
    'The new list leaves out somebody whom a benefit covers, or will cover by a pending change. `errors` names each one in `dependantid`.',
  cancel_pending:
    'A cancel of this user will take effect at the end of the period, and what was asked for would only begin after it: a swap, or a change of offer at the next period.',
  not_cancelled: 'There is no cancel to undo: the user is a member without one.',
  body_too_large: 'The body is larger than the service takes.',
  unsupported_media_type:
    'The `Content-Type` is not the one that the operation takes, names a charset other than UTF-8, or the body is compressed.',
  ineligible:
    'A rule of the catalogue does not admit the user: age, state, ZIP code, offer or another benefit. Or the benefit is closed to newcomers or not part of the offer. `errors` lists each reason with the code of its rule.',
  dependant_not_eligible:
    'A rule of the benefit does not let it cover somebody: the benefit covers the member alone, or not this relationship, or one spouse or domestic partner only, or fewer children; or a child would have reached the age limit on the first day. `errors` names each one in `dependantid`, or by the place in the request, with the rule in `code`. A change of a birth date or of a relationship is refused, too, where somebody who is covered could not be covered with it, or at another price.',
  slots_exceeded: 'The offer has fewer slots for selectable benefits than the request would fill.',
  reinstate_expired: 'The cancel took effect more than 30 days ago.',
  direction_mismatch:
    'The request states `upgrade` or `downgrade`, and the ranks of the two offers say the opposite.',
  already_on_offer: 'The user holds this offer, and no change is pending that could be undone.',
  offer_not_available: 'The offer is closed to newcomers, or the user may not move to it now.',
  preview_stale:
    'The `previewid` is missing for a change that needs one, is older than 15 minutes, belongs to another user, or what it showed is no longer what would happen.',
  change_locked:
    'The boundary is less than the cutoff hours of the offer away, mostly 24. What is meant for that boundary can then be neither made, replaced nor undone.',
  benefit_in_force: 'The benefit is in force, and only one that has not begun can be declined.',
  too_many_requests:
    'You used up the rate limit that the operator set for you, or too many failed authentications came from your address in the last minute.',
  headers_too_large: 'The request has too many headers, or they are too long together.',
  internal: 'A fault of the service. It is logged with the `requestid`.',
  unavailable:
    'The service is overloaded, restarting, or cannot reach its database; or an earlier request with the same `Idempotency-Key` is still running. A request that was refused like this had no effect, unless the connection broke off while it was being written: the same `Idempotency-Key` makes the repeat safe.',
} as const satisfies Record<ErrorCode, string>
