import ipaddr from 'ipaddr.js'
import type { Instant } from '../calendar/calendar.ts'

/** Counts failed authentications by address (contract §13). */
export type FailedAuthentications = {
  /**
   * Records a failure; true when there were too many in the last minute. A failure beyond the limit is not counted: a
   * caller that goes on would otherwise always get 429 and never learn that its credentials are wrong. Failures of a
   * credential whose id is known (`credential`) are counted separately, so that they hide no other failures from the
   * same address.
   */
  note(address: string, now: Instant, credential?: string): boolean
}

const WINDOW_MS = 60_000
const MAX_ADDRESSES = 50_000

/**
 * Refuses more than `limit` failures per minute from one address, estimated from the counts of this minute and the
 * last. IPv6 addresses are counted by their /64, because one customer owns it.
 */
export function countFailedAuthentications(limit: number): FailedAuthentications {
  const counts = new Map<string, { windowStart: Instant; count: number; previous: number }>()
  return {
    note(address, now, credential = '') {
      const key = `${networkOf(address)} ${credential}`
      const windowStart = now - (now % WINDOW_MS)
      const entry = counts.get(key) ?? { windowStart, count: 0, previous: 0 }
      if (entry.windowStart !== windowStart) {
        entry.previous = entry.windowStart === windowStart - WINDOW_MS ? entry.count : 0
        entry.count = 0
        entry.windowStart = windowStart
      }
      const shareOfPrevious = 1 - (now - windowStart) / WINDOW_MS
      const isTooMany = entry.count + 1 + entry.previous * shareOfPrevious > limit
      if (!isTooMany) entry.count += 1
      counts.delete(key)
      counts.set(key, entry)
      const oldest = counts.keys().next().value
      if (counts.size > MAX_ADDRESSES && oldest !== undefined) counts.delete(oldest)
      return isTooMany
    },
  }
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}

/** The caller's address; empty when the caller closed the connection, which then has none, whatever Fastify's type says. */
export function addressOf({ ip }: { readonly ip: string | undefined }): string {
  return ip ?? ''
}

/** Whether an address belongs to this machine. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.')
}
