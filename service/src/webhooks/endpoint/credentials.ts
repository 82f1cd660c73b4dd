import type { KeyObject } from 'node:crypto'
import type { Instant } from '../../calendar/calendar.ts'
import { type AccessToken, openAccessToken } from '../egress/access-token.ts'
import type { ClientCertificate } from '../egress/connect.ts'
import { basicAuthorization, signingKey } from '../egress/envelope.ts'
import type { Credentials } from './authorization.ts'
import { type EndpointSecrets, ROTATION_MS } from './secrets.ts'
import type { Pair } from './verdict.ts'

/** The credentials and keys for attempts at an endpoint, computed once for many attempts. */
export type WireCredentials = {
  /**
   * The values of the Authorization header, or the token that gives them; `next` while new credentials are being
   * introduced.
   */
  readonly authorization: Readonly<Record<Pair, string | AccessToken | null>>
  /** The newest first; during a rotation the older key signs until `until`. */
  readonly signing: readonly { readonly key: KeyObject; readonly until: Instant | null }[]
  /** The headers of the partner's own; absent where there are none. */
  readonly own: Readonly<Record<string, string>> | undefined
  readonly client: ClientCertificate | undefined
}

/** Computes them from the secrets of an endpoint. Throws when these are malformed. */
export function credentialsOf({ current, next, signing, headers, client }: EndpointSecrets): WireCredentials {
  return {
    authorization: { current: authorizationOf(current), next: next && authorizationOf(next) },
    signing: signing.map(({ secret, until }) => ({ key: signingKey(secret), until })),
    own: Object.keys(headers).length > 0 ? headers : undefined,
    client: client ?? undefined,
  }
}

function authorizationOf(credentials: Credentials): string | AccessToken {
  if (credentials.kind === 'basic') return basicAuthorization(credentials.username, credentials.password)
  return credentials.kind === 'bearer' ? `Bearer ${credentials.token}` : openAccessToken(credentials)
}

/**
 * The credentials to attempt at this instant, in order: the new ones and then the present ones, until the new ones have
 * been accepted for the time of a rotation.
 */
export function pairsAt(
  { authorization }: WireCredentials,
  { nextAcceptedAt, now }: { nextAcceptedAt: Instant | undefined; now: Instant },
): readonly Pair[] {
  if (authorization.next === null) return ONLY_CURRENT
  return nextAcceptedAt !== undefined && now >= nextAcceptedAt + ROTATION_MS ? ONLY_NEXT : BOTH
}

const ONLY_CURRENT: readonly Pair[] = ['current']
const ONLY_NEXT: readonly Pair[] = ['next']
const BOTH: readonly Pair[] = ['next', 'current']

/** The keys that sign at this instant, the newest first. */
export function signingKeysAt({ signing }: WireCredentials, now: Instant): KeyObject[] {
  return signing.filter(({ until }) => until === null || until > now).map(({ key }) => key)
}
