import type { KeyObject } from 'node:crypto'
import type { Instant } from '../calendar/calendar.ts'
import type { EndpointRow } from './endpoint.ts'
import { basicAuthorization, signingKey } from './envelope.ts'
import type { Pair } from './results.ts'
import { type EndpointSecrets, ROTATION_MS } from './secrets.ts'

/** What the tries at an endpoint are authenticated and signed with: made once, as it is the same for many. */
export type WireCredentials = {
  /** The values of the Authorization header; `next` while a new pair is on trial. */
  readonly authorization: Readonly<Record<Pair, string | null>>
  /** The newest first; during a rotation the older one ends at `until`. */
  readonly signing: readonly { readonly key: KeyObject; readonly until: Instant | null }[]
}

/** Makes them of what is stored. Throws when the stored secrets cannot be used. */
export const credentialsOf = (endpoint: EndpointRow, secrets: EndpointSecrets): WireCredentials => {
  const { username, next_username: nextUsername } = endpoint
  const { password, nextPassword } = secrets
  const isNext = nextUsername !== null && nextPassword !== null
  return {
    authorization: {
      current: basicAuthorization(username, password),
      next: isNext ? basicAuthorization(nextUsername, nextPassword) : null,
    },
    signing: secrets.signing.map(({ secret, until }) => ({ key: signingKey(secret), until })),
  }
}

/**
 * The pairs to try at this instant, in this order: a new one first and the present one after it, until the new one has
 * been accepted for the time of a rotation.
 */
export const pairsAt = (
  { authorization }: WireCredentials,
  { nextAcceptedAt, now }: { nextAcceptedAt: Instant | null; now: Instant },
): readonly Pair[] => {
  if (authorization.next === null) return ONLY_CURRENT
  return nextAcceptedAt !== null && now >= nextAcceptedAt + ROTATION_MS ? ONLY_NEXT : BOTH
}

const ONLY_CURRENT: readonly Pair[] = ['current']
const ONLY_NEXT: readonly Pair[] = ['next']
const BOTH: readonly Pair[] = ['next', 'current']

/** The keys that sign at this instant, the newest first. */
export const signingKeysAt = ({ signing }: WireCredentials, now: Instant): KeyObject[] =>
  signing.filter(({ until }) => until === null || until > now).map(({ key }) => key)
