import type { BenefitEnrolmentError } from './error.ts'
import { errorOf } from './error-classes.ts'

/**
 * The operation whose time is limited, the limit in milliseconds, and the signal by which the caller can end it sooner.
 */
export type Limit = { operation: string; ms: number; signal?: AbortSignal | undefined }

/**
 * Runs `work` and settles with it, or sooner: it rejects with code `timeout` when the time is over, and with the
 * signal's reason when the caller ends it. In both cases the signal given to `work` fires.
 */
export function withTimeLimit<T>(limit: Limit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal } = limit
  // Not AbortSignal.any: on Node 20 it keeps each signal that it made for as long as the caller's signal lives.
  const controller = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const stop = (reason: unknown) => {
      release()
      controller.abort(reason)
      reject(reason)
    }
    const abort = () => stop(signal?.reason)
    const timer = setTimeout(() => stop(timeLimitPassed(limit.operation)), limit.ms)
    const release = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    if (signal?.aborted) {
      abort()
      return
    }
    signal?.addEventListener('abort', abort)
    work(controller.signal).then(resolve, reject).finally(release)
  })
}

/** Waits `ms` milliseconds; rejects with the signal's reason when the caller ends the wait. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}

function timeLimitPassed(operation: string): BenefitEnrolmentError {
  return errorOf({
    operation,
    code: 'timeout',
    detail: 'There was no complete answer in time; what was sent may have worked.',
  })
}
