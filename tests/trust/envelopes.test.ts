import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Binding, newKey, seal, unseal, unwrapKey, wrapKey } from '../../service/src/vault/seal.ts'
import { timesOf } from '../long.ts'

const times = timesOf(500, 10_000)
const refused = /^A sealed value was not opened/
const root = { id: 'root', key: newKey() }
function rootKey(id: string) {
  return id === root.id ? root.key : undefined
}

const bindings: readonly Binding[] = ['documents.profile', 'documents.prefill'].flatMap(purpose =>
  ['partner-1', 'partner-2'].flatMap(partnerId =>
    ['user-1', 'user-2'].map(serviceId => ({ purpose, partnerId, serviceId })),
  ),
)
function oneOf<T>(items: readonly T[]): T {
  return items[randomInt(items.length)] as T
}

test(`${times} envelopes that were moved to another place, key or user are not opened`, () => {
  for (let count = 0; count < times; count += 1) {
    const [from, key] = [oneOf(bindings), newKey()]
    const to = oneOf(bindings.filter(one => one !== from))
    const sealed = seal(key, 'Adacanary', from)
    expect(() => unseal(key, sealed, to)).toThrow(refused)
    expect(() => unseal(newKey(), sealed, from)).toThrow(refused)
    const wrapped = wrapKey(root, key, from)
    expect(() => unwrapKey(rootKey, wrapped, to)).toThrow()
    expect(unseal(unwrapKey(rootKey, wrapped, from), sealed, from).toString()).toBe('Adacanary')
  }
})

test(`${times} envelopes with a bit changed, cut or grown are not opened`, () => {
  const key = newKey()
  const binding = oneOf(bindings)
  for (let count = 0; count < times; count += 1) {
    const sealed = seal(key, 'Adacanary', binding)
    const flipped = Buffer.from(sealed)
    const at = randomInt(flipped.length)
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << randomInt(8)), at)
    const cut = sealed.subarray(0, randomInt(sealed.length))
    const grown = Buffer.concat([sealed, Buffer.from([randomInt(256)])])
    for (const damaged of [flipped, cut, grown]) expect(() => unseal(key, damaged, binding)).toThrow(refused)
  }
})
