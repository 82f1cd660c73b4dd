import { randomBytes } from 'node:crypto'
import type { Instant } from '../calendar/calendar.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'

/** How long a page waits for an operator's passkey. */
const CHALLENGE_LIFETIME_MS = 5 * 60_000

const TIME_BYTES = 8
const HEAD_BYTES = TIME_BYTES + 16
const HASH_BYTES = 32

/**
 * A challenge for an authenticator to sign. It proves by itself that this service made it, when and for whom, so that
 * nothing is stored for unused pages. `owner` is the session that adds a passkey, or `sign in`.
 */
export function makeChallenge(keyring: Keyring, at: Instant, owner: string): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeBigUInt64BE(BigInt(at))
  randomBytes(HEAD_BYTES - TIME_BYTES).copy(head, TIME_BYTES)
  return new Uint8Array(Buffer.concat([head, keyedHash(keyring.peppers.current.key, PURPOSE, owner, head)]))
}

/**
 * When a challenge of this owner was made; `undefined` when this service did not make it, it is another owner's, or it
 * is too old.
 */
export function challengeMadeAt(
  keyring: Keyring,
  now: Instant,
  { owner, text }: { owner: string; text: string },
): Instant | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== HEAD_BYTES + HASH_BYTES) return undefined
  const head = bytes.subarray(0, HEAD_BYTES)
  const hash = bytes.subarray(HEAD_BYTES)
  const keys = [...keyring.peppers.byId.values()]
  if (!keys.some(key => sameHash(keyedHash(key, PURPOSE, owner, head), hash))) return undefined
  const at = Number(head.readBigUInt64BE())
  return now - at < CHALLENGE_LIFETIME_MS ? at : undefined
}

const PURPOSE = 'operator_passkeys.challenge'
