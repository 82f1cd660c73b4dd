import type { BenefitEnrolmentError } from './error.ts'

const passingStatuses = new Set([408, 429, 500, 502, 503, 504])
const refusedUnheard = new Set([401, 429])
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 5_000

/** Whether the same request may succeed a little later. */
export function mayPass(error: BenefitEnrolmentError): boolean {
  return error.code === 'network' || error.code === 'timeout' || passingStatuses.has(error.status)
}

/** Whether the service may have applied the request although the answer is this error. */
export function mayHaveWorked(error: BenefitEnrolmentError): boolean {
  return mayPass(error) && !refusedUnheard.has(error.status)
}

/**
 * How many milliseconds to wait before attempt number `made + 1`: a growing time with jitter, and never less than the
 * service asked for. `undefined` when no attempt is left, or the wait would exceed the remaining time.
 */
export function waitBeforeNextAttempt(state: {
  made: number
  tries: number
  remainingMs: number
  retryAfterMs: number | undefined
  /** From 0 up to 1. */
  random: number
}): number | undefined {
  if (state.made >= state.tries) return undefined
  const grown = Math.min(FIRST_WAIT_MS * 2 ** (state.made - 1), LONGEST_WAIT_MS)
  // Half of it is random, so that many clients that failed together do not return together.
  const chance = (grown / 2) * state.random
  const wait = state.retryAfterMs === undefined ? grown / 2 + chance : state.retryAfterMs + chance
  return wait < state.remainingMs ? wait : undefined
}

/**
 * The milliseconds that a `Retry-After` asks to wait, given the present instant; `undefined` when it cannot be read.
 */
export function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
