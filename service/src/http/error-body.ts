import { operations } from '@benefit-enrolment/contract'
import { type ProblemRequest, problemOf } from './problem.ts'
import type { ServiceError } from './service-error.ts'

/** An error in the form in which it is sent. */
type ErrorBody = { readonly type: string; readonly text: string }

const oauthPaths: readonly string[] = [operations.issueToken.path, operations.revokeToken.path]

/** Whether errors of this path, which may carry a query, have the form of RFC 6749 (contract §12). */
export function speaksOAuth(url: string, basePath: string): boolean {
  return (
    url.startsWith(`${basePath}/oauth2/`) &&
    oauthPaths.includes(url.slice(basePath.length).split('?', 1)[0] ?? '')
  )
}

/**
 * The body of an error: a problem document, or at the token endpoint the form of RFC 6749 §5.2. An error for which that
 * RFC has no code keeps the service's code there, because clients that do not know a code go by the status.
 */
export function errorBodyOf(error: ServiceError, request: ProblemRequest & { isOAuth: boolean }): ErrorBody {
  return request.isOAuth
    ? {
        type: 'application/json; charset=utf-8',
        text: JSON.stringify({ error: error.code, error_description: error.message }),
      }
    : {
        type: 'application/problem+json; charset=utf-8',
        text: JSON.stringify(problemOf(error, request)),
      }
}
