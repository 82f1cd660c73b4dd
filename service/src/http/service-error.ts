import type { FieldProblem } from '@benefit-enrolment/contract'
import { type ErrorCode, errors } from '@benefit-enrolment/contract/names'

/** The further content of a ServiceError. */
export type ErrorDetails = {
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

/** A 400 that names one field and its rule. */
export function badField(field: string, code: string, rule: string): ServiceError {
  return new ServiceError('bad_request', undefined, {
    errors: [{ field, code, message: `${field} ${rule}` }],
  })
}

/** A refusal with another code that names one field. */
export function fieldError(code: ErrorCode, field: string, rule: string): ServiceError {
  return new ServiceError(code, undefined, { errors: [{ field, code, message: `${field} ${rule}` }] })
}

/** A 400 that names several fields. */
export function badFields(fields: readonly FieldProblem[]): ServiceError {
  return new ServiceError('bad_request', undefined, { errors: fields })
}
