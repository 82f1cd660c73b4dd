import { isRecord, noAnswer, readAnswer } from './answer.ts'
import { isBenefitEnrolmentError } from './error.ts'
import { errorOf } from './error-classes.ts'
import { withTimeLimit } from './time-limit.ts'

/** The data with which a token is requested (contract §3). */
export type TokenRequest = {
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** `undefined`: all scopes that the client was given. */
  readonly scopes: readonly string[] | undefined
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
}

/** Holds one access token, and gets a new one when it is needed. */
export type TokenSource = {
  /** A token that has not expired; rejects with a `BenefitEnrolmentError` when none can be obtained. */
  get(): Promise<string>
  /** Forgets `token`, because the service refused it; a newer token stays. */
  discard(token: string): void
}

type CachedToken = { token: string; renewAt: number; expiresAt: number }

const AHEAD_MS = 60_000

/**
 * A source that requests the first token when it is needed, renews it a minute before it expires (at half its life when
 * that is shorter), and has at most one request under way, which all callers share. A renewal that fails while the old
 * token is still valid does no harm.
 */
export function createTokenSource(request: TokenRequest): TokenSource {
  let cached: CachedToken | undefined
  let underWay: Promise<string> | undefined

  const renew = async (): Promise<string> => {
    cached = await requestToken(request)
    return cached.token
  }
  return {
    async get() {
      const old = cached
      if (old !== undefined && Date.now() < old.renewAt) return old.token
      underWay ??= renew().finally(() => {
        underWay = undefined
      })
      try {
        return await underWay
      } catch (error) {
        if (old !== undefined && Date.now() < old.expiresAt) return old.token
        throw error
      }
    },
    discard(token) {
      if (cached?.token === token) cached = undefined
    },
  }
}

const operation = 'issueToken'

async function requestToken(request: TokenRequest): Promise<CachedToken> {
  const askedAt = Date.now()
  const answer = await withTimeLimit({ operation, ms: request.timeoutMs }, async signal => {
    const response = await request.fetch(`${request.baseUrl}/oauth2/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${formEncode(request.clientId)}:${formEncode(request.clientSecret)}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        ...(request.scopes === undefined ? {} : { scope: request.scopes.join(' ') }),
      }).toString(),
      redirect: 'manual',
      signal,
    })
    return readAnswer(operation, response)
  }).catch((error: unknown) => {
    throw isBenefitEnrolmentError(error) ? error : noAnswer(operation, error)
  })
  if (!answer.ok) throw answer.error
  return readToken(answer.value, askedAt)
}

function readToken(value: unknown, askedAt: number): CachedToken {
  const { access_token: token, token_type: type, expires_in: seconds } = isRecord(value) ? value : {}
  if (
    typeof token !== 'string' ||
    !/^[\x21-\x7e]+$/.test(token) ||
    String(type).toLowerCase() !== 'bearer' ||
    typeof seconds !== 'number'
  ) {
    const detail = 'The answer of the token endpoint is not a bearer token. Check baseUrl.'
    throw errorOf({ operation, code: 'protocol', status: 200, detail })
  }
  const lifeMs = seconds * 1_000
  return {
    token,
    renewAt: askedAt + Math.max(lifeMs - AHEAD_MS, lifeMs / 2),
    expiresAt: askedAt + lifeMs,
  }
}

/** RFC 6749 §2.3.1: id and secret are form-encoded before they are joined by a colon. */
function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
