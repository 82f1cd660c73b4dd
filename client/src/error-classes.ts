import { BenefitEnrolmentError, type ErrorFacts } from './error.ts'

/** No answer of the service arrived: `network`, `timeout`, `protocol`. What was sent may have worked. */
export class ConnectionError extends BenefitEnrolmentError {}
/** The request is not right as it stands (400, 405, 408, 413, 415, 431): sent again it is refused again. */
export class InvalidRequestError extends BenefitEnrolmentError {}
/** Credentials, token or API key are not accepted (401). */
export class AuthenticationError extends BenefitEnrolmentError {}
/** The client was not given the scope (403). */
export class ForbiddenError extends BenefitEnrolmentError {}
/** What is named does not exist (404, 410). */
export class NotFoundError extends BenefitEnrolmentError {}
/** The state of the user or the key stands against it (409). */
export class ConflictError extends BenefitEnrolmentError {}
/** A rule of the catalogue or the calendar stands against it (422); `errors` has the reasons. */
export class RuleError extends BenefitEnrolmentError {}
/** The service asks to wait, or failed (429, 5xx); `retryAfterMs` says how long. */
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

/** The error of its class; the class of all others where a later service answers with a status that has none. */
export function errorOf(facts: ErrorFacts): BenefitEnrolmentError {
  const { code, status = 0 } = facts
  if (ofTheWay.includes(code)) return new ConnectionError(facts)
  const Known = byStatus[status]
  if (Known) return new Known(facts)
  if (status >= 500) return new UnavailableError(facts)
  if (status >= 400) return new InvalidRequestError(facts)
  return new BenefitEnrolmentError(facts)
}
