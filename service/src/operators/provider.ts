import type { Configuration } from 'openid-client'
import type { Instant } from '../calendar/calendar.ts'
import { comparedEmail } from './operator.ts'
import type { Flow } from './provider-flow.ts'
import { groupsOf } from './provider-groups.ts'
import type { ProviderSettings } from './provider-settings.ts'

/** The person who signed in at the provider, by its signed answer. */
export type ProviderIdentity = {
  readonly subject: string
  readonly name: string
  /** Only if the provider sends it, and does not say that it is unverified. */
  readonly email: string | undefined
  readonly groups: readonly string[]
}

/** Why the provider's answer signs nobody in. */
export type ProviderFailure = 'away' | 'declined' | 'used' | 'clocks' | 'wrong'

/** An answer of the provider that signs nobody in; `cause` is the library's error. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly failure: ProviderFailure

  constructor(failure: ProviderFailure, cause: unknown) {
    super(`the identity provider: ${failure}`, { cause })
    this.failure = failure
  }
}

/** The identity provider, by OpenID Connect: code flow with PKCE, state and nonce, and a signature that is checked. */
export type Provider = {
  readonly settings: ProviderSettings
  /** The address to which to send a browser. Rejects with ProviderError while the provider cannot be reached. */
  readonly begin: (flow: Flow, returnTo: string) => Promise<string>
  /** The person who came back. Rejects with ProviderError when that is not certain. */
  readonly complete: (flow: Flow, came: URL) => Promise<ProviderIdentity>
  /**
   * The address at which a browser signs out of the provider; `undefined` when it offers none, or does not answer soon.
   */
  readonly endSession: (returnTo: string) => Promise<string | undefined>
}

/**
 * The provider's metadata is requested again after this time: it changes seldom, and a stranger could request pages
 * repeatedly.
 */
const KEPT_MS = 60_000
/** How far the provider's clock may differ from ours. */
const TOLERANCE_SECONDS = 30

/** Opens the provider; nothing is requested from it before somebody signs in, so the console starts without it. */
export function openProvider(settings: ProviderSettings, real: () => Instant): Provider {
  let kept: { config: Configuration; at: number; skew: number } | undefined
  const reach = async (timeoutSeconds = 10): Promise<Configuration> => {
    // The library reads the machine's clock; the service's clock is injected, and differs only in tests.
    const skew = Math.round((real() - Date.now()) / 1000)
    const isFresh =
      kept !== undefined &&
      Date.now() - kept.at < KEPT_MS &&
      Math.abs(kept.skew - skew) < TOLERANCE_SECONDS / 2
    if (!kept || !isFresh)
      kept = { config: await discover(settings, { skew, timeoutSeconds }), at: Date.now(), skew }
    return kept.config
  }
  return {
    settings,
    begin: (flow, returnTo) =>
      explained(async () => {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
        const url = buildAuthorizationUrl(await reach(), {
          redirect_uri: returnTo,
          scope: settings.scope,
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: await calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: 'S256',
        })
        return url.href
      }),
    complete: (flow, came) =>
      explained(async () => {
        const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client')
        const config = await reach()
        const tokens = await authorizationCodeGrant(config, came, {
          pkceCodeVerifier: flow.verifier,
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          idTokenExpected: true,
        })
        const signed = tokens.claims()
        if (!signed || signed.sub.length > 255)
          throw new Error('there is no subject, or a longer one than the standard has')
        const isThere = signed[settings.claim] !== undefined && signed['email'] !== undefined
        const { userinfo_endpoint: more } = config.serverMetadata()
        // Some providers return groups or the email only from this endpoint. The library refuses an answer about another subject.
        const claims =
          isThere || more === undefined
            ? signed
            : { ...(await fetchUserInfo(config, tokens.access_token, signed.sub)), ...signed }
        return {
          subject: signed.sub,
          name: nameOf(claims, signed.sub),
          email: emailOf(claims),
          groups: groupsOf(claims[settings.claim]) ?? [],
        }
      }),
    endSession: async returnTo => {
      try {
        const { buildEndSessionUrl } = await import('openid-client')
        const config = await reach(3)
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined
        return buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo }).href
      } catch {
        // The console's session has ended, whatever the provider does.
        return undefined
      }
    },
  }
}

/**
 * The provider's metadata. Rejects with the library's error when it cannot be fetched, or belongs to another issuer.
 */
export async function discover(
  settings: ProviderSettings,
  { skew, timeoutSeconds }: { skew: number; timeoutSeconds: number },
): Promise<Configuration> {
  const library = await import('openid-client')
  const { clientSecret: secret, clientAuth } = settings
  const issuer = new URL(settings.issuer)
  const auth = clientAuth === 'basic' ? library.ClientSecretBasic : library.ClientSecretPost
  const insecure = issuer.protocol === 'http:' ? [library.allowInsecureRequests] : []
  const config = await library.discovery(
    issuer,
    settings.clientId,
    { [library.clockSkew]: skew, [library.clockTolerance]: TOLERANCE_SECONDS },
    secret === undefined ? library.None() : auth(secret),
    { timeout: timeoutSeconds, execute: [...insecure, library.enableNonRepudiationChecks] },
  )
  config.timeout = 10
  return config
}

/** A name that a colleague recognizes, without characters that a line cannot show. */
function nameOf(claims: Readonly<Record<string, unknown>>, subject: string): string {
  const given = [claims['name'], claims['preferred_username'], claims['email'], subject]
  const texts = given.map(one => (typeof one === 'string' ? one.replace(/[\p{C}\p{Z}]+/gu, ' ').trim() : ''))
  return (texts.find(text => text !== '') ?? subject).slice(0, 80)
}

function emailOf({ email, email_verified: verified }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof email === 'string' && verified !== false ? comparedEmail(email) : undefined
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new ProviderError(failureOf(error), error)
  }
}

/**
 * The kind of failure of a library's error. Its message may contain what the provider sent, so only its codes are read.
 */
function failureOf(error: unknown): ProviderFailure {
  const {
    name,
    code,
    cause,
    error: said,
    status = 0,
  } = error as {
    readonly name?: string
    readonly code?: string
    readonly cause?: unknown
    readonly error?: string
    readonly status?: number
  }
  const answered = cause instanceof Response ? cause.status : status
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || answered >= 500) return 'away'
  // `fetch failed`: no connection, an unknown name, or an invalid certificate.
  if (name === 'TypeError' && code === undefined) return 'away'
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return said === 'temporarily_unavailable' || said === 'server_error' ? 'away' : 'declined'
  if (said === 'invalid_grant') return 'used'
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return 'clocks'
  return 'wrong'
}
