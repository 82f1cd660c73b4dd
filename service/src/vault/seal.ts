/**
 * The vault: encryption, keyed hashes, keys and ids, without any knowledge of the business. Personal data is sealed here
 * with a key for each user; deleting that key makes the data unreadable.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { joinParts } from './hash.ts'
import { randomBytes, randomNonce } from './uuid.ts'

/**
 * What a sealed value belongs to. The binding is not stored with the value, but only the same binding opens it, so
 * that a value copied to another row, partner or table cannot be opened there.
 */
export type Binding = {
  /** The purpose of the value: the table that holds it, or a name as distinctive. */
  purpose: string
  partnerId: string
  /** The user's service id; absent when the value belongs to the partner as a whole. */
  serviceId?: string
}

/** A key, and the id by which it is looked up. */
export type NamedKey = { id: string; key: Buffer }

/** A new random key of 32 bytes. */
export function newKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

/**
 * Seals `plaintext` with AES-256-GCM and a random nonce: version byte, nonce, ciphertext and tag in one buffer.
 * Throws unless the key has 32 bytes.
 */
export function seal(key: Buffer, plaintext: Buffer | string, binding: Binding): Buffer {
  return sealAfter([], key, plaintext, binding)
}

/** Seals `plaintext`, and writes `front` in clear before it. */
function sealAfter(
  front: readonly Buffer[],
  key: Buffer,
  plaintext: Buffer | string,
  binding: Binding,
): Buffer {
  const nonce = randomNonce(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(boundData(binding))
  const ciphertext =
    typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext)
  cipher.final()
  return Buffer.concat([...front, VERSION, nonce, ciphertext, cipher.getAuthTag()])
}

/** Opens what `seal` made. Throws when the key or the binding differs, or when a bit was changed. */
export function unseal(key: Buffer, sealed: Buffer, binding: Binding): Buffer {
  if (sealed.length < OVERHEAD_BYTES || sealed[0] !== VERSION[0]) throw new Error(NOT_OPENED)
  const nonce = sealed.subarray(VERSION.length, VERSION.length + NONCE_BYTES)
  const ciphertext = sealed.subarray(VERSION.length + NONCE_BYTES, -TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(boundData(binding))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const plaintext = decipher.update(ciphertext)
  try {
    decipher.final()
  } catch (cause) {
    throw new Error(NOT_OPENED, { cause })
  }
  return plaintext
}

/**
 * Seals `key` with another key, and writes that key's id in clear before it. Keys wrap each other (root key → partner
 * key → user data key), so that a rotation wraps the keys below again and rewrites no data. Throws RangeError unless the
 * id has 1 to 255 bytes.
 */
export function wrapKey(wrappingKey: NamedKey, key: Buffer, binding: Binding): Buffer {
  const id = Buffer.from(wrappingKey.id)
  if (id.length < 1 || id.length > 255) throw new RangeError('A key id has 1 to 255 bytes')
  return sealAfter([Buffer.from([id.length]), id], wrappingKey.key, key, binding)
}

/** The id of the key with which `wrapKey` sealed. */
export function wrappingKeyId(wrapped: Buffer): string {
  return wrapped.toString('utf8', 1, 1 + (wrapped[0] ?? 0))
}

/** Opens what `wrapKey` made. Throws when `lookup` does not know the wrapping key, and whenever `unseal` throws. */
export function unwrapKey(
  lookup: (id: string) => Buffer | undefined,
  wrapped: Buffer,
  binding: Binding,
): Buffer {
  const wrappingKey = lookup(wrappingKeyId(wrapped))
  if (!wrappingKey) throw new Error('A wrapped key was not opened: the key that wraps it is unknown here')
  return unseal(wrappingKey, wrapped.subarray(1 + (wrapped[0] ?? 0)), binding)
}

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const VERSION = Buffer.from([1])
const OVERHEAD_BYTES = VERSION.length + NONCE_BYTES + TAG_BYTES
const NOT_OPENED = 'A sealed value was not opened: wrong key, wrong binding or changed bytes'

function boundData({ purpose, partnerId, serviceId = '' }: Binding): Buffer {
  return joinParts([VERSION, purpose, partnerId, serviceId])
}
