import type { Locale } from '@benefit-enrolment/contract'
import type { Instant, Zone } from '../calendar/calendar.ts'
import type { Look } from '../look/look.ts'
import type { NamedKey } from '../vault/seal.ts'
import type { HelpContacts } from './help-contacts.ts'
import type { Legal } from './legal.ts'

/** A platform that integrates the service; everything it owns is keyed by `partnerId` first. */
export type Partner = {
  readonly partnerId: string
  readonly name: string
  readonly aliases: readonly string[]
  readonly timezone: Zone
  readonly locale: Locale
  readonly origins: readonly string[]
  readonly redirects: readonly string[]
  readonly help: HelpContacts
  readonly legal: Legal
  readonly look: Look
  /** For how many years agreed texts, confirmations and dates of cover are kept after an erasure; 0: not at all. */
  readonly retainYears: number
  /** `undefined`: all offers of the catalogue. */
  readonly offers: readonly string[] | undefined
  readonly apiKeyOptional: boolean
  readonly ratePerSecond: number | undefined
  /** `undefined`: the default ones. */
  readonly scopes: readonly string[] | undefined
  readonly clockOffsetMs: number
  readonly disabledAt: Instant | undefined
  readonly createdAt: Instant
  /** Wraps the data keys of the partner's users, and seals data of the partner as a whole. */
  readonly key: NamedKey
  /** Keys the hashes of values that are found by their hash alone; like `key` it is not changed by rotations. */
  readonly hashKey: Buffer
}

/** Real time, and each partner's business time. */
export type Clock = {
  /** Real time: tokens, sessions, limits, retry delays. */
  readonly real: () => Instant
  /** Business time of a partner: a sandbox moves it forward. */
  readonly now: (partner: { readonly clockOffsetMs: number }) => Instant
}

/** A clock that runs on a source of real time. */
export function clockOn(real: () => Instant): Clock {
  return {
    real,
    now: partner => real() + partner.clockOffsetMs,
  }
}
