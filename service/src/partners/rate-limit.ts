import type { Instant } from '../calendar/calendar.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from './partner.ts'

/** The state of a partner's limit that each answer reports, and the refusal when it is used up. */
type LimitState = {
  readonly headers: Readonly<Record<string, string>>
  readonly refusal: ServiceError | undefined
}

/** Requests of a partner that were allowed, and the partner's limit. */
export type AllowedRequests = {
  readonly partnerId: string
  readonly ratePerSecond: number
  readonly requests: number
}

/** The limits of the partners that have one. */
export type RateLimits = {
  /** Counts one request of a partner; `undefined` when the operator set no limit, which is the default. */
  readonly count: (partner: Partner) => LimitState | undefined
  /** Counts what a process beside this one has allowed. */
  readonly note: (allowed: AllowedRequests) => void
}

type Bucket = { tokens: number; filledAt: Instant }

/** Requests are told together that were allowed within this time. */
const TOLD_EVERY_MS = 10

/**
 * A token bucket for each partner with a limit (contract §13): the requests of one second at most at once, refilled
 * steadily. Processes that share an address tell each other (`tellOthers`) what they allowed, so together they act as one bucket, a few
 * milliseconds late. One that starts beside others knows nothing of the last second: its buckets begin with what came since.
 */
export function openRateLimits({
  real,
  tellOthers,
}: {
  readonly real: () => Instant
  readonly tellOthers?: ((allowed: AllowedRequests) => void) | undefined
}): RateLimits {
  const openedAt = real()
  const buckets = new Map<string, Bucket>()
  const untold = new Map<string, AllowedRequests>()
  const filled = (partnerId: string, ratePerSecond: number): Bucket => {
    const size = sizeOf(ratePerSecond)
    const now = real()
    const gained = (since: Instant) => (Math.max(0, now - since) / 1000) * ratePerSecond
    const known = buckets.get(partnerId)
    const tokens = known ? known.tokens + gained(known.filledAt) : tellOthers ? 1 + gained(openedAt) : size
    const bucket = { tokens: Math.min(size, tokens), filledAt: now }
    buckets.set(partnerId, bucket)
    return bucket
  }
  const tell = () => {
    for (const allowed of untold.values()) tellOthers?.(allowed)
    untold.clear()
  }
  const keepToTell = (partnerId: string, ratePerSecond: number) => {
    if (untold.size === 0) setTimeout(tell, TOLD_EVERY_MS).unref()
    const requests = (untold.get(partnerId)?.requests ?? 0) + 1
    untold.set(partnerId, { partnerId, ratePerSecond, requests })
  }
  return {
    count({ partnerId, ratePerSecond }) {
      if (ratePerSecond === undefined) return undefined
      const bucket = filled(partnerId, ratePerSecond)
      const isAllowed = bucket.tokens >= 1
      if (isAllowed) {
        bucket.tokens -= 1
        if (tellOthers) keepToTell(partnerId, ratePerSecond)
      }
      const size = sizeOf(ratePerSecond)
      const left = bucket.tokens
      const waitSeconds = Math.max(1, Math.ceil((1 - left) / ratePerSecond))
      const headers = {
        'RateLimit-Policy': `"default";q=${Math.floor(size)};w=${Math.max(1, Math.round(size / ratePerSecond))}`,
        RateLimit: `"default";r=${Math.max(0, Math.floor(left))};t=${waitSeconds}`,
      }
      const retry = { headers: { 'Retry-After': String(waitSeconds) } }
      const refusal = isAllowed ? undefined : new ServiceError('too_many_requests', undefined, retry)
      return { headers, refusal }
    },
    note({ partnerId, ratePerSecond, requests }) {
      filled(partnerId, ratePerSecond).tokens -= requests
    },
  }
}

function sizeOf(ratePerSecond: number): number {
  return Math.max(1, ratePerSecond)
}
