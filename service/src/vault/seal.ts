import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { joinParts } from './parts.ts'

/**
 * What a sealed value belongs to. It is not stored in the value, but only the same binding opens it again, so that a
 * value moved to another row, partner or table stays shut.
 */
export type Binding = {
  /** What the value is for: the table it stands in, or a name as distinctive. */
  purpose: string
  partnerId: string
  /** The user's service id; absent when the value belongs to the partner as a whole. */
  serviceId?: string
}

/** A key and the id under which it is found again. */
export type NamedKey = { id: string; key: Buffer }

/** A fresh random key of 32 bytes. */
export function newKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

/**
 * Seals `plaintext` with AES-256-GCM and a random nonce: version byte, nonce, ciphertext, tag in one buffer.
 * Throws when the key has not 32 bytes.
 */
export function seal(key: Buffer, plaintext: Buffer | string, binding: Binding): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(boundData(binding))
  const ciphertext =
    typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext)
  cipher.final()
  return Buffer.concat([VERSION, nonce, ciphertext, cipher.getAuthTag()])
}

/** Opens what `seal` made. Throws when the key or the binding is another, or when a single bit was changed. */
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
 * Seals `key` under another key, whose id stands in clear before it, so that rotation is a re-wrap and never a
 * rewrite: root key → partner key → user data key. Throws RangeError when the id has not 1 to 255 bytes.
 */
export function wrapKey(wrappingKey: NamedKey, key: Buffer, binding: Binding): Buffer {
  const id = Buffer.from(wrappingKey.id)
  if (id.length < 1 || id.length > 255) throw new RangeError('A key id has 1 to 255 bytes')
  return Buffer.concat([Buffer.from([id.length]), id, seal(wrappingKey.key, key, binding)])
}

/** The id of the key that wraps what `wrapKey` made. */
export function wrappingKeyId(wrapped: Buffer): string {
  return wrapped.toString('utf8', 1, 1 + (wrapped[0] ?? 0))
}

/** Opens what `wrapKey` made. Throws when `lookup` does not know the wrapping key, and where `unseal` does. */
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
