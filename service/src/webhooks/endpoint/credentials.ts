import type { KeyObject } from 'node:crypto'
import type { Instant } from '../../calendar/calendar.ts'
import { basicAuthorization, signingKey } from '../egress/envelope.ts'
import type { EndpointRow, Pair } from './endpoint.ts'
import { type EndpointSecrets, ROTATION_MS } from './secrets.ts'

/** The credentials and keys for attempts at an endpoint, computed once for many attempts. */
export type WireCredentials = {
  /** The values of the Authorization header; `next` while new credentials are being introduced. */
  readonly authorization: Readonly<Record<Pair, string | null>>
  /** The newest first; during a rotation the older key signs until `until`. */
  readonly signing: readonly { readonly key: KeyObject; readonly until: Instant | null }[]
}

/** Computes them from the stored endpoint. Throws when its secrets are malformed. */
export function credentialsOf(endpoint: EndpointRow, secrets: EndpointSecrets): WireCredentials {
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
 * The credentials to attempt at this instant, in order: the new ones and then the present ones, until the new ones have
 * been accepted for the time of a rotation.
 */
export function pairsAt(
  { authorization }: WireCredentials,
  { nextAcceptedAt, now }: { nextAcceptedAt: Instant | null; now: Instant },
): readonly Pair[] {
  if (authorization.next === null) return ONLY_CURRENT
  return nextAcceptedAt !== null && now >= nextAcceptedAt + ROTATION_MS ? ONLY_NEXT : BOTH
}

const ONLY_CURRENT: readonly Pair[] = ['current']
const ONLY_NEXT: readonly Pair[] = ['next']
const BOTH: readonly Pair[] = ['next', 'current']

/** The keys that sign at this instant, the newest first. */
export function signingKeysAt({ signing }: WireCredentials, now: Instant): KeyObject[] {
  return signing.filter(({ until }) => until === null || until > now).map(({ key }) => key)
}
