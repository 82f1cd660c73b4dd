import { BenefitEnrolmentError, type ErrorFacts } from './error.ts'

/** No answer of the service arrived: `network`, `timeout`, `protocol`. The request may still have succeeded. */
export class ConnectionError extends BenefitEnrolmentError {}
/** The request itself is wrong (400, 405, 408, 413, 415, 431): a repeat would be refused again. */
export class InvalidRequestError extends BenefitEnrolmentError {}
/** The credentials, the token or the API key were not accepted (401). */
export class AuthenticationError extends BenefitEnrolmentError {}
/** The client was not given the scope (403). */
export class ForbiddenError extends BenefitEnrolmentError {}
/** The thing that the request names does not exist (404, 410). */
export class NotFoundError extends BenefitEnrolmentError {}
/** The state of the user or of the key does not allow it (409). */
export class ConflictError extends BenefitEnrolmentError {}
/** A rule of the catalogue or the calendar does not allow it (422); `errors` has the reasons. */
export class RuleError extends BenefitEnrolmentError {}
/** The service asks the caller to wait, or failed (429, 5xx); `retryAfterMs` says how long to wait. */
export class UnavailableError extends BenefitEnrolmentError {}

const byStatus: Readonly<Record<number, new (facts: ErrorFacts) => BenefitEnrolmentError>> = {
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  422: RuleError,
  429: UnavailableError,
}
const ofTheWay: readonly string[] = ['network', 'timeout', 'protocol']

/** An error of the class for its status; the base class for a status of a later service that has no class here. */
export function errorOf(facts: ErrorFacts): BenefitEnrolmentError {
  const { code, status = 0 } = facts
  if (ofTheWay.includes(code)) return new ConnectionError(facts)
  const Known = byStatus[status]
  if (Known) return new Known(facts)
  if (status >= 500) return new UnavailableError(facts)
  if (status >= 400) return new InvalidRequestError(facts)
  return new BenefitEnrolmentError(facts)
}
