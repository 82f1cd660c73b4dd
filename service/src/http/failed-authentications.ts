import ipaddr from 'ipaddr.js'
import type { Instant } from '../calendar/calendar.ts'

/** Counts failed authentications by address (contract §13). */
export type FailedAuthentications = {
  /** Notes a failure; true when the address has used up its failures of this minute. */
  note(address: string, now: Instant): boolean
}

const windowMs = 60_000
const maxAddresses = 50_000

/**
 * Tells of addresses with more than `limit` failures. Keeps the last minute's failures of each address, by sliding halves; right credentials are never counted nor
 * refused. IPv6 addresses count by their /64, as one customer owns it.
 */
export const countFailedAuthentications = (limit: number): FailedAuthentications => {
  const counts = new Map<string, { windowStart: Instant; count: number; previous: number }>()
  return {
    note(address, now) {
      const key = networkOf(address)
      const windowStart = now - (now % windowMs)
      const entry = counts.get(key) ?? { windowStart, count: 0, previous: 0 }
      if (entry.windowStart !== windowStart) {
        entry.previous = entry.windowStart === windowStart - windowMs ? entry.count : 0
        entry.count = 0
        entry.windowStart = windowStart
      }
      entry.count += 1
      counts.delete(key)
      counts.set(key, entry)
      const oldest = counts.keys().next().value
      if (counts.size > maxAddresses && oldest !== undefined) counts.delete(oldest)
      const shareOfPrevious = 1 - (now - windowStart) / windowMs
      return entry.count + entry.previous * shareOfPrevious > limit
    },
  }
}

const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}

/** Whether an address is of this machine. */
export const isLoopback = (address: string): boolean =>
  address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.')
