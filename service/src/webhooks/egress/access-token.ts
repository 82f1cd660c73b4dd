/** Access tokens for endpoints that want OAuth 2 client credentials (RFC 6749 §4.4): fetched when needed, kept in memory. */
import type { AttemptRequest } from './connection.ts'
import { type AttemptOutcome, isOwnFault, type Unanswered } from './outcome.ts'

/** What is asked of a token endpoint. */
type TokenClient = { tokenurl: string; clientid: string; clientsecret: string; scope: string }

/** Sends a request to a token endpoint, by the same guarded way as a delivery. */
type Send = (url: string, request: AttemptRequest) => Promise<AttemptOutcome>

/** The access token of one endpoint. */
export type AccessToken = {
  /** The value of the Authorization header; a fetch under way is shared. Otherwise why there is no token. */
  authorization(send: Send): Promise<string | Unanswered>
  /** Drops a token that the endpoint has refused, unless another has been fetched since. */
  refused(authorization: string): void
}

/** An answer with a token of 8 KiB must fit. */
const KEPT_BYTES = 16 * 1024
const LONGEST_MS = 24 * 3_600_000
/** How long a token is kept whose answer does not say. */
const USUAL_SECONDS = 300
/** An attempt may take 15 s, at the end of which the token should still be valid. */
const MARGIN_MS = 20_000

/** Prepares the token; nothing is fetched before it is needed. */
export function openAccessToken(client: TokenClient): AccessToken {
  const request = requestOf(client)
  let kept: { readonly authorization: string; readonly until: number } | undefined
  let fetching: Promise<string | Unanswered> | undefined

  const fetchToken = async (send: Send): Promise<string | Unanswered> => {
    const askedAt = performance.now()
    const outcome = await send(client.tokenurl, request)
    const found = readToken(outcome)
    if ('errorClass' in found) return found
    const lifeMs = Math.min(LONGEST_MS, found.seconds * 1000)
    kept = { authorization: found.authorization, until: askedAt + lifeMs - Math.min(MARGIN_MS, lifeMs / 2) }
    return found.authorization
  }

  return {
    async authorization(send) {
      if (kept && performance.now() < kept.until) return kept.authorization
      fetching ??= fetchToken(send).finally(() => {
        fetching = undefined
      })
      return fetching
    },
    refused(authorization) {
      if (kept?.authorization === authorization) kept = undefined
    },
  }
}

function requestOf({ clientid, clientsecret, scope }: TokenClient): AttemptRequest {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== '' && { scope }) })
  // By RFC 6749 §2.3.1 both parts are form-encoded before they become Basic credentials.
  const pair = `${formEncoded(clientid)}:${formEncoded(clientsecret)}`
  return {
    headers: {
      Authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
      Accept: 'application/json',
      'Content-Type': 'application/x-www-form-urlencoded',
      'User-Agent': 'benefit-enrolment-webhook',
    },
    body: Buffer.from(form.toString()),
    keptBytes: KEPT_BYTES,
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

type IssuedToken = { readonly authorization: string; readonly seconds: number }

function readToken(outcome: AttemptOutcome): IssuedToken | Unanswered {
  const { timings, address } = outcome
  const failed = (errorClass: 'token' | 'token_refused', note: string): Unanswered => ({
    errorClass,
    note: `The token endpoint ${note}.`,
    address,
    timings,
  })
  if (outcome.errorClass !== undefined) {
    if (isOwnFault(outcome.errorClass)) return outcome
    // Which of the two is the case may tell what a name means inside the operator's network.
    const isHidden = outcome.errorClass === 'blocked_address' || outcome.errorClass === 'dns'
    return failed('token', isHidden ? 'has no public address' : `did not answer: ${outcome.errorClass}`)
  }
  const { status, snippet } = outcome
  const answer = parsed(snippet)
  if (status < 200 || status > 299) {
    const isRefusal = status >= 400 && status < 500 && ![408, 425, 429].includes(status)
    return failed(isRefusal ? 'token_refused' : 'token', `answered ${status}${reasonIn(answer)}`)
  }
  const { access_token: token, token_type: type, expires_in: expiresIn } = answer
  const isToken = typeof token === 'string' && /^[\x21-\x7e]{1,8192}$/.test(token)
  if (!isToken || typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return failed('token', 'answered without a bearer token')
  const seconds = Number(expiresIn ?? USUAL_SECONDS)
  return { authorization: `Bearer ${token}`, seconds: seconds > 0 ? seconds : 0 }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The codes of RFC 6749 §5.2; other text of the answer is not shown, as it could repeat what was sent. */
const CODES: readonly unknown[] = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
]

function reasonIn({ error }: Readonly<Record<string, unknown>>): string {
  return CODES.includes(error) ? `, ${error}` : ''
}
