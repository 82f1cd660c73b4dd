import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OperatorError } from '../operator-error.ts'
import {
  type KeyKind,
  type KeyList,
  type KeyringFile,
  keyId,
  newKeyringFile,
  readKeyring,
  withCurrent,
  withNext,
  withoutOld,
  writeKeyring,
} from './keyring-file.ts'
import { newKey } from './seal.ts'

type Step = { kind: KeyKind; does: 'add' | 'promote' | 'drop'; which: number }

const step = fc.record<Step>({
  kind: fc.constantFrom('rootKeys', 'peppers'),
  does: fc.constantFrom('add', 'promote', 'drop'),
  which: fc.nat(5),
})

/** What one step of a command makes of a list; one that is refused leaves it. */
function taken(list: KeyList, { does, which }: Step): KeyList {
  if (does === 'add') return withNext(list, newKey())
  const id = list.keys[which % list.keys.length]?.id ?? ''
  return (does === 'promote' ? withCurrent(list, id, 1000 * which) : withoutOld(list, id)) ?? list
}

function grown(steps: readonly Step[]): KeyringFile {
  const file: { -readonly [Kind in KeyKind]: KeyList } = newKeyringFile()
  for (const one of steps) file[one.kind] = taken(file[one.kind], one)
  return file
}

function readSafely(text: string): KeyringFile | undefined {
  try {
    return readKeyring(text, 'keyring.json')
  } catch (error) {
    if (error instanceof OperatorError) return undefined
    throw error
  }
}

test('what is written is read back, after any steps of rotation', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      const file = grown(steps)
      expect(readKeyring(writeKeyring(file), 'keyring.json')).toEqual(file)
    }),
  )
})

test('after any steps one key is current, at most one is next, and none is lost but an old one that was dropped', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      let list = newKeyringFile().rootKeys
      for (const one of steps) {
        const after = taken(list, one)
        const has = (id: string | undefined) => after.keys.filter(key => key.id === id).length
        expect(has(after.current)).toBe(1)
        expect(after.next === undefined || (has(after.next) === 1 && after.next !== after.current)).toBe(true)
        const lost = list.keys.filter(key => has(key.id) === 0)
        expect(lost.length).toBeLessThanOrEqual(one.does === 'drop' ? 1 : 0)
        for (const { id } of lost) expect([list.current, list.next]).not.toContain(id)
        list = after
      }
    }),
  )
})

test('a key becomes current only after it was next, and the one it replaces stays with the time of it', () => {
  const list = newKeyringFile().peppers
  const key = newKey()
  expect(withCurrent(list, keyId(key), 5)).toBeUndefined()
  const added = withNext(list, key)
  expect(added).toMatchObject({ current: list.current, next: keyId(key) })
  const promoted = withCurrent(added, keyId(key), 5)
  expect(promoted).toMatchObject({ current: keyId(key), next: undefined })
  expect(promoted?.keys.map(one => one.replacedAt)).toEqual([5, undefined])
})

test('a second next key is not added: a rotation that was broken off goes on with the first', () => {
  const added = withNext(newKeyringFile().rootKeys, newKey())
  expect(withNext(added, newKey())).toBe(added)
})

test('neither the current key nor the next can be dropped, nor one that is not there', () => {
  const added = withNext(newKeyringFile().rootKeys, newKey())
  for (const id of [added.current, added.next ?? '', 'another']) expect(withoutOld(added, id)).toBeUndefined()
})

test('a file in which any one character was changed, or that was cut, gives the same keys or is refused', () => {
  const keysOf = ({ rootKeys, peppers }: KeyringFile) =>
    [rootKeys, peppers].map(({ keys }) => keys.map(one => one.id))
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 6 }),
      fc.nat(),
      fc.string({ unit: 'binary-ascii', maxLength: 1 }),
      fc.boolean(),
      (steps, at, character, isCut) => {
        const file = grown(steps)
        const text = writeKeyring(file)
        const place = at % text.length
        const rest = isCut ? '' : text.slice(place + 1)
        const read = readSafely(text.slice(0, place) + character + rest)
        if (!read) return
        expect(keysOf(read)).toEqual(keysOf(file))
        expect(read.rootKeys.current).toBe(file.rootKeys.current)
        expect(read.peppers.current).toBe(file.peppers.current)
      },
    ),
    { numRuns: 2000 },
  )
})
