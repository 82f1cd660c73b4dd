import type { ClientErrorCode } from './error-codes.ts'
import type { ErrorCode, FieldProblem, OAuthErrorCode } from './generated.ts'

/** The facts from which a {@link BenefitEnrolmentError} is made. */
export type ErrorFacts = {
  code: BenefitEnrolmentError['code']
  /** The operation, for example `prefillUser`; the message begins with it. */
  operation: string
  detail: string
  status?: number
  requestId?: string | undefined
  errors?: FieldProblem[]
  userMessage?: string | undefined
  retryAfterMs?: number | undefined
  replayed?: boolean
  cause?: unknown
}

/**
 * Every refusal and failure that the client reports. Neither message nor members contain a secret or personal data.
 * Branch on `code`, which may be a string that this version of the client does not know, or on the class: each family
 * of statuses has one (`NotFoundError`, `RuleError`, …).
 */
export class BenefitEnrolmentError extends Error {
  override readonly name = 'BenefitEnrolmentError'
  /** The HTTP status; 0 when there was no answer or nothing was sent. */
  readonly status: number
  /** The service's code (contract §12), the token endpoint's (RFC 6749), or one of the client's own. */
  readonly code: ErrorCode | OAuthErrorCode | ClientErrorCode | (string & {})
  /** The id of the request in the operator's logs; quote it when you ask for help. */
  readonly requestId: string | undefined
  /** The fields or reasons; empty when there are none. */
  readonly errors: readonly FieldProblem[]
  /** What happened and what to do, for developers. */
  readonly detail: string
  /** A sentence for the person being enrolled, in the language of `acceptLanguage`. */
  readonly userMessage: string | undefined
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Whether the service has seen this `Idempotency-Key` with the same request before (contract §4). */
  readonly replayed: boolean

  constructor(facts: ErrorFacts) {
    const { operation, code, status = 0, detail, requestId } = facts
    const where = requestId === undefined ? '' : ` (request ${requestId})`
    super(
      `${operation}: ${status === 0 ? '' : `${status} `}${code}. ${detail}${where}`,
      facts.cause === undefined ? undefined : { cause: facts.cause },
    )
    this.status = status
    this.code = code
    this.requestId = requestId
    this.errors = facts.errors ?? []
    this.detail = detail
    this.userMessage = facts.userMessage
    this.retryAfterMs = facts.retryAfterMs
    this.replayed = facts.replayed ?? false
  }
}

/** Whether `error` came from this client; also true for an error from another copy of the package. */
export function isBenefitEnrolmentError(error: unknown): error is BenefitEnrolmentError {
  return error instanceof Error && error.name === 'BenefitEnrolmentError'
}
