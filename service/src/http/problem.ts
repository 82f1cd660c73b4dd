import { type ErrorEntry, errors, type Locale, type Problem, userMessage } from '@benefit-enrolment/contract'
import type { ServiceError } from './service-error.ts'

/** The facts about a request that its problem document contains. */
export type ProblemRequest = { readonly requestId: string; readonly baseUrl: string; readonly locale: Locale }

/** The problem document of an error (contract §12); it never contains values of the request. */
export function problemOf(error: ServiceError, request: ProblemRequest): Problem {
  const entry: ErrorEntry = errors[error.code]
  return {
    type: `${request.baseUrl}/docs/errors/${error.code}`,
    title: entry.title,
    status: entry.status,
    detail: error.message,
    instance: `urn:uuid:${request.requestId}`,
    code: error.code,
    requestid: request.requestId,
    errors: [...error.errors],
    usermessage: userMessage(error.code, request.locale),
  }
}
