import type { ErrorCode, RequestLimits } from '@benefit-enrolment/contract'
import { ServiceError } from './service-error.ts'

/** The limits for requests when the operator sets none (contract §2, §12, §13). */
export const defaultRequestLimits: RequestLimits = {
  bodyKib: 64,
  bodyNesting: 8,
  headers: 64,
  headersKib: 8,
  headersSeconds: 10,
  requestSeconds: 15,
  failedAuthentications: 60,
}

/** How to correct a request that exceeded a limit of this service; `undefined` for other errors. */
export function remedyOf(code: ErrorCode, limits: RequestLimits): string | undefined {
  if (code === 'body_too_large') return `Send at most ${limits.bodyKib} KiB.`
  if (code === 'headers_too_large')
    return `Send at most ${limits.headers} headers and ${limits.headersKib} KiB.`
  if (code === 'request_timeout')
    return `Send the headers within ${limits.headersSeconds} seconds and the whole request within ${limits.requestSeconds}.`
  return undefined
}

/** An error of a request that may have exceeded a limit; it names the limit of this service. */
export function beyond(code: ErrorCode, limits: RequestLimits): ServiceError {
  return new ServiceError(code, remedyOf(code, limits))
}
