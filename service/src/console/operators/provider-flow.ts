import { randomBytes } from 'node:crypto'
import type { Instant } from '../../calendar/calendar.ts'
import { keyedHash, sameHash } from '../../vault/hash.ts'
import type { Keyring } from '../../vault/keyring.ts'

/** For how long somebody may be away at the provider. */
export const FLOW_LIFETIME_MS = 10 * 60_000

/** One journey to the provider and back. */
export type Flow = {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The page of the console that is shown afterwards. */
  readonly to: string
}

/**
 * Begins a journey to the provider. The cookie binds it to this browser; state, nonce and the secret of PKCE are hashes of
 * it under a key of ours, so nothing has to be stored and nobody who reads the cookie can make them.
 */
export function beginFlow(keyring: Keyring, at: Instant, to: string): { flow: Flow; cookie: string } {
  const { id, key } = keyring.peppers.current
  const random = randomBytes(24).toString('base64url')
  const cookie = [id, String(at), random, Buffer.from(to).toString('base64url')].join('.')
  return { flow: flowFrom(key, cookie, to), cookie }
}

/** The journey that a browser comes back from, or `undefined` where it began none, too long ago, or another one. */
export function endFlow(
  keyring: Keyring,
  now: Instant,
  back: { cookie: string | undefined; state: string | null },
): Flow | undefined {
  const { cookie, state } = back
  const [id = '', at = '', , path = ''] = cookie?.split('.') ?? []
  const key = keyring.pepper(id)
  if (cookie === undefined || !key || state === null) return undefined
  const flow = flowFrom(key, cookie, Buffer.from(path, 'base64url').toString())
  // The time is part of what is hashed, so a state that fits proves it.
  const isOwn = sameHash(Buffer.from(flow.state), Buffer.from(state))
  return isOwn && now - Number(at) < FLOW_LIFETIME_MS ? flow : undefined
}

/** An address of the console itself; `/` for anything else, so that no link leads elsewhere by way of signing in. */
export function ownPath(text: string | null): string {
  const base = 'http://console.invalid'
  if (text === null || text.length > 300 || !text.startsWith('/') || !URL.canParse(text, base)) return '/'
  const url = new URL(text, base)
  return url.origin === base && !url.pathname.startsWith('/sign-') ? url.pathname + url.search : '/'
}

function flowFrom(key: Buffer, cookie: string, to: string): Flow {
  const part = (purpose: string) => keyedHash(key, `operators.flow.${purpose}`, cookie).toString('base64url')
  return { state: part('state'), nonce: part('nonce'), verifier: part('verifier'), to }
}
