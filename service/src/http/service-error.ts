import type { FieldProblem } from '@benefit-enrolment/contract'
import { type ErrorCode, errors } from '@benefit-enrolment/contract/names'
import { isUnavailable, Unavailable } from '../db/failure.ts'

/** The further content of a ServiceError. */
type ErrorDetails = {
  readonly errors?: readonly FieldProblem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/**
 * A refusal that the caller gets as a problem document; `code` decides the status. It never contains a value of the
 * request.
 */
export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly code: ErrorCode
  readonly errors: readonly FieldProblem[]
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, detail?: string, details: ErrorDetails = {}) {
    super(detail ?? errors[code].remedy, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.errors = details.errors ?? []
    this.headers = details.headers ?? {}
  }
}

/** What the caller gets for an error that is no refusal: 503 when it may succeed later, otherwise 500. */
export function asFailure(error: unknown): ServiceError {
  if (!isUnavailable(error)) return new ServiceError('internal', undefined, { cause: error })
  const isPending = error instanceof Unavailable && error.cause === undefined
  return new ServiceError('unavailable', undefined, isPending ? {} : { cause: error })
}

/** A 400 that names one field and its rule. */
export function badField(field: string, code: string, rule: string): ServiceError {
  return new ServiceError('bad_request', undefined, {
    errors: [{ field, code, message: `${field} ${rule}` }],
  })
}

/** A 400 that names several fields. */
export function badFields(fields: readonly FieldProblem[]): ServiceError {
  return new ServiceError('bad_request', undefined, { errors: fields })
}
