import { webcrypto } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { joinParts } from './hash.ts'
import { newKey, seal, unseal, unwrapKey, wrapKey } from './seal.ts'

const key = newKey()
const binding = { purpose: 'prefills', partnerId: 'partner-1', serviceId: 'user-1' }
const NOT_OPENED = /^A sealed value was not opened/

function flipped(bytes: Buffer, index: number, bit: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(index) ^ (1 << bit), index)
  return changed
}

describe('a sealed value', () => {
  test('opens to what was sealed, text or bytes, empty too', () => {
    expect(unseal(key, seal(key, 'Zoë 李', binding), binding).toString()).toBe('Zoë 李')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
        const plaintext = Buffer.from(bytes)
        expect(unseal(key, seal(key, plaintext, binding), binding)).toEqual(plaintext)
      }),
    )
  })

  test('is version byte, nonce, ciphertext and tag of AES-256-GCM, as another implementation reads it', async () => {
    const sealed = seal(key, 'Ada', binding)
    expect(sealed).toHaveLength(1 + 12 + 3 + 16)
    expect(sealed[0]).toBe(1)
    const aesKey = await webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
    const additionalData = joinParts([Buffer.from([1]), 'prefills', 'partner-1', 'user-1'])
    const plaintext = await webcrypto.subtle.decrypt(
      { name: 'AES-GCM', iv: sealed.subarray(1, 13), additionalData, tagLength: 128 },
      aesKey,
      sealed.subarray(13),
    )
    expect(Buffer.from(plaintext).toString()).toBe('Ada')
  })

  test('is another each time', () => {
    const nonces = Array.from({ length: 200 }, () => seal(key, 'Ada', binding).toString('hex', 1, 13))
    expect(new Set(nonces).size).toBe(200)
  })

  test('stays shut when any one bit of it was changed', () => {
    const sealed = seal(key, 'Ada', binding)
    for (let index = 0; index < sealed.length; index++)
      for (let bit = 0; bit < 8; bit++)
        expect(() => unseal(key, flipped(sealed, index, bit), binding)).toThrow(NOT_OPENED)
  })

  test('stays shut when cut short or lengthened', () => {
    const sealed = seal(key, 'Ada', binding)
    for (let length = 0; length < sealed.length; length++)
      expect(() => unseal(key, sealed.subarray(0, length), binding)).toThrow(NOT_OPENED)
    expect(() => unseal(key, Buffer.concat([sealed, Buffer.alloc(1)]), binding)).toThrow(NOT_OPENED)
  })

  test.each([
    { ...binding, purpose: 'accounts' },
    { ...binding, partnerId: 'partner-2' },
    { ...binding, serviceId: 'user-2' },
    { purpose: binding.purpose, partnerId: binding.partnerId },
    { purpose: 'prefill', partnerId: 'spartner-1', serviceId: 'user-1' },
    { purpose: 'prefills', partnerId: 'user-1', serviceId: 'partner-1' },
    { purpose: 'prefills', partnerId: 'partner-1user-1', serviceId: '' },
  ])('stays shut under another binding: %j', other => {
    expect(() => unseal(key, seal(key, 'Ada', binding), other)).toThrow(NOT_OPENED)
  })

  test('stays shut under another key, and its error tells nothing of it', () => {
    const sealed = seal(key, 'Ada', binding)
    expect(() => unseal(newKey(), sealed, binding)).toThrow(
      /^A sealed value was not opened: wrong key, wrong binding or changed bytes$/,
    )
    expect(() => seal(key.subarray(1), 'Ada', binding)).toThrow(RangeError)
  })
})

describe('a wrapped key', () => {
  const root = { id: 'root-1', key: newKey() }
  const lookup = (id: string) => (id === root.id ? root.key : undefined)

  test('opens by the id of the key that wraps it, down the whole hierarchy', () => {
    const partnerKey = { id: 'partner-1', key: newKey() }
    const userKey = newKey()
    const wrappedPartnerKey = wrapKey(root, partnerKey.key, {
      purpose: 'partner_keys',
      partnerId: 'partner-1',
    })
    const wrappedUserKey = wrapKey(partnerKey, userKey, { ...binding, purpose: 'user_keys' })
    const sealed = seal(userKey, 'Ada', binding)

    const partner = unwrapKey(lookup, wrappedPartnerKey, { purpose: 'partner_keys', partnerId: 'partner-1' })
    const user = unwrapKey(id => (id === 'partner-1' ? partner : undefined), wrappedUserKey, {
      ...binding,
      purpose: 'user_keys',
    })
    expect(unseal(user, sealed, binding).toString()).toBe('Ada')
  })

  test('shows the id and nothing of the key', () => {
    const userKey = newKey()
    const wrapped = wrapKey(root, userKey, binding)
    expect(wrapped.toString('utf8', 1, 7)).toBe('root-1')
    expect(wrapped.includes(userKey)).toBe(false)
  })

  test('stays shut when any byte of it was changed, when cut short, and under another binding', () => {
    const wrapped = wrapKey(root, newKey(), binding)
    for (let index = 0; index < wrapped.length; index++)
      expect(() => unwrapKey(lookup, flipped(wrapped, index, index % 8), binding)).toThrow(/was not opened/)
    for (let length = 0; length < wrapped.length; length++)
      expect(() => unwrapKey(lookup, wrapped.subarray(0, length), binding)).toThrow(/was not opened/)
    expect(() => unwrapKey(lookup, wrapped, { ...binding, serviceId: 'user-2' })).toThrow(NOT_OPENED)
  })

  test('stays shut where the wrapping key is unknown or another one of the same id', () => {
    const wrapped = wrapKey(root, newKey(), binding)
    expect(() => unwrapKey(() => undefined, wrapped, binding)).toThrow(/is unknown here$/)
    expect(() => unwrapKey(() => newKey(), wrapped, binding)).toThrow(NOT_OPENED)
  })

  test('needs an id of 1 to 255 bytes', () => {
    expect(() => wrapKey({ id: '', key }, newKey(), binding)).toThrow(RangeError)
    expect(() => wrapKey({ id: 'é'.repeat(128), key }, newKey(), binding)).toThrow(RangeError)
    const long = { id: 'x'.repeat(255), key }
    expect(unwrapKey(id => (id === long.id ? key : undefined), wrapKey(long, key, binding), binding)).toEqual(
      key,
    )
  })
})
