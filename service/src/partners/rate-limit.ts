import type { Instant } from '../calendar/calendar.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from './partner.ts'

/** The state of a partner's limit that each answer reports, and the refusal when it is used up. */
type LimitState = {
  readonly headers: Readonly<Record<string, string>>
  readonly refusal: ServiceError | undefined
}

/** Counts one request of a partner; `undefined` when the operator set no limit, which is the default. */
type CountRequest = (partner: Partner) => LimitState | undefined

type Bucket = { tokens: number; filledAt: Instant }

/**
 * A token bucket for each partner with a limit (contract §13): the requests of one second at most at once, refilled
 * steadily. Each process has its own, so with several processes their limits add up.
 */
export function limitRequests(real: () => Instant): CountRequest {
  const buckets = new Map<string, Bucket>()
  return partner => {
    const rate = partner.ratePerSecond
    if (rate === undefined) return undefined
    const size = Math.max(1, rate)
    const now = real()
    const bucket = buckets.get(partner.partnerId) ?? { tokens: size, filledAt: now }
    const tokens = Math.min(size, bucket.tokens + (Math.max(0, now - bucket.filledAt) / 1000) * rate)
    const isAllowed = tokens >= 1
    const left = isAllowed ? tokens - 1 : tokens
    buckets.set(partner.partnerId, { tokens: left, filledAt: now })
    const waitSeconds = Math.max(1, Math.ceil((1 - left) / rate))
    const headers = {
      'RateLimit-Policy': `"default";q=${Math.floor(size)};w=${Math.max(1, Math.round(size / rate))}`,
      RateLimit: `"default";r=${Math.floor(left)};t=${waitSeconds}`,
    }
    const refusal = isAllowed
      ? undefined
      : new ServiceError('too_many_requests', undefined, { headers: { 'Retry-After': String(waitSeconds) } })
    return { headers, refusal }
  }
}
