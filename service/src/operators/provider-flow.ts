import { randomBytes } from 'node:crypto'
import type { Instant } from '../calendar/calendar.ts'
import { ownPath } from '../http/own-path.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'

/** How long a browser may stay at the provider. */
export const FLOW_LIFETIME_MS = 10 * 60_000

/** One sign-in at the provider, from leaving the console to coming back. */
export type Flow = {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The page of the console that is shown afterwards. */
  readonly to: string
}

/**
 * Begins a sign-in at the provider. The cookie binds it to this browser. State, nonce and the secret of PKCE are hashes
 * of the cookie under a key of the service, so nothing is stored, and somebody who reads the cookie cannot compute
 * them.
 */
export function beginFlow(keyring: Keyring, at: Instant, to: string): { flow: Flow; cookie: string } {
  const { id, key } = keyring.peppers.current
  const random = randomBytes(24).toString('base64url')
  const cookie = [id, String(at), random, Buffer.from(to).toString('base64url')].join('.')
  return { flow: flowFrom(key, cookie, to), cookie }
}

/** The sign-in from which a browser comes back; `undefined` when it began none, or too long ago, or another one. */
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
  // The time is part of the hashed text, so a matching state proves it.
  const isOwn = sameHash(Buffer.from(flow.state), Buffer.from(state))
  return isOwn && now - Number(at) < FLOW_LIFETIME_MS ? flow : undefined
}

/** The page that is shown after signing in: the one that was asked for, but none about signing in. */
export function afterSignIn(text: string | null): string {
  const path = ownPath(text)
  return path.startsWith('/sign-') ? '/' : path
}

function flowFrom(key: Buffer, cookie: string, to: string): Flow {
  const part = (purpose: string) => keyedHash(key, `operators.flow.${purpose}`, cookie).toString('base64url')
  return { state: part('state'), nonce: part('nonce'), verifier: part('verifier'), to }
}
