import type { Instant } from '../calendar/calendar.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from './partner.ts'

/** The state of a partner's limit that each answer reports, and the refusal when it is used up. */
type LimitState = {
  readonly headers: Readonly<Record<string, string>>
  readonly refusal: ServiceError | undefined
}

/** A request that a partner's limit allowed, and that limit. */
export type CountedRequest = { readonly partnerId: string; readonly ratePerSecond: number }

/** The limits of the partners that have one. */
export type RateLimits = {
  /** Counts one request of a partner; `undefined` when the operator set no limit, which is the default. */
  readonly count: (partner: Partner) => LimitState | undefined
  /** Counts one that a process beside this one has allowed. */
  readonly note: (counted: CountedRequest) => void
}

type Bucket = { tokens: number; filledAt: Instant }

/**
 * A token bucket for each partner with a limit (contract §13): the requests of one second at most at once, refilled
 * steadily. Processes that share an address tell each other what they allowed (`onAllowed`), so that their buckets are one
 * but for the milliseconds until the others know.
 */
export function openRateLimits({
  real,
  onAllowed,
}: {
  readonly real: () => Instant
  readonly onAllowed: (counted: CountedRequest) => void
}): RateLimits {
  const buckets = new Map<string, Bucket>()
  const filled = ({ partnerId, ratePerSecond }: CountedRequest): Bucket => {
    const size = sizeOf(ratePerSecond)
    const now = real()
    const { tokens, filledAt } = buckets.get(partnerId) ?? { tokens: size, filledAt: now }
    const since = Math.max(0, now - filledAt) / 1000
    const bucket = { tokens: Math.min(size, tokens + since * ratePerSecond), filledAt: now }
    buckets.set(partnerId, bucket)
    return bucket
  }
  return {
    count({ partnerId, ratePerSecond }) {
      if (ratePerSecond === undefined) return undefined
      const counted = { partnerId, ratePerSecond }
      const bucket = filled(counted)
      const isAllowed = bucket.tokens >= 1
      if (isAllowed) {
        bucket.tokens -= 1
        onAllowed(counted)
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
    note(counted) {
      filled(counted).tokens -= 1
    },
  }
}

function sizeOf(ratePerSecond: number): number {
  return Math.max(1, ratePerSecond)
}
