import { hkdfSync } from 'node:crypto'
import { join, resolve } from 'node:path'
import { OperatorError } from '../operator-error.ts'
import {
  decodeKey,
  type KeyList,
  type KeyringFile,
  keyId,
  newKeyringFile,
  readKeyring,
  writeKeyring,
} from './keyring-file.ts'
import { createPrivateFile, fileMark, readPrivateFile, replacePrivateFile } from './private-file.ts'
import type { NamedKey } from './seal.ts'

/** Keys of one use: the one that new work is done with, and all that older work may name. */
export type KeySet = { readonly current: NamedKey; readonly byId: ReadonlyMap<string, Buffer> }

/**
 * The keys that everything else hangs on: root keys wrap the partners' keys, peppers key the hashes of credentials. A
 * keyring of a file follows its changes: ask it for a key when one is needed, and keep none.
 */
export type Keyring = {
  readonly rootKeys: KeySet
  readonly peppers: KeySet
  /** The root key of this id, or `undefined`; an id not known yet is looked for in the file at once. */
  readonly rootKey: (id: string) => Buffer | undefined
  /** The same for a pepper. */
  readonly pepper: (id: string) => Buffer | undefined
}

/** Where the keys come from: `rootKey`, the text of ENROLMENT_ROOT_KEY, or the keyring file in `dataDir`. */
export type KeyringSource = {
  readonly dataDir?: string
  readonly rootKey?: string
  /** Hears that a changed file could not be read; the keys known before stay in use. */
  readonly onUnreadable?: (error: unknown) => void
}

/**
 * Loads the keys. `rootKey` (32 bytes in base64, or several such, the current one first) replaces the file; without it
 * the file `keyring.json` of `dataDir` is read, or made at the first start, by exactly one of several processes that
 * start at once. Throws OperatorError when a key or the file is not as it must be, or when neither is given.
 */
export function loadKeyring({ dataDir, rootKey, onUnreadable = () => {} }: KeyringSource): Keyring {
  if (rootKey !== undefined) return deriveKeyring(rootKey)
  if (dataDir === undefined)
    throw new OperatorError('There is no place for the keys: give --data DIR or set ENROLMENT_ROOT_KEY.')
  return followFile(keyringPath(dataDir), onUnreadable)
}

/** The keys that the text of ENROLMENT_ROOT_KEY stands for, the current one first. Throws OperatorError otherwise. */
export function readRootKeys(text: string): readonly [Buffer, ...Buffer[]] {
  const keys = text.split(',').flatMap(part => decodeKey(part) ?? [])
  const [current, ...others] = keys
  const isWhole = keys.length === text.split(',').length && new Set(keys.map(keyId)).size === keys.length
  if (current && isWhole) return [current, ...others]
  throw new OperatorError(
    'ENROLMENT_ROOT_KEY is not a key: it must be 32 random bytes in base64, as `openssl rand -base64 32` prints them; or several such, each another, with nothing but commas between them.',
  )
}

/** What the keyring file of a data directory holds. Throws OperatorError when it is missing or damaged. */
export function readKeyringFile(dataDir: string): KeyringFile {
  const path = keyringPath(dataDir)
  return readKeyring(readPrivateFile(path) ?? '', path)
}

/**
 * Puts another keyring in place of that of a data directory. Who calls it sees to it that nobody else does meanwhile.
 * Throws OperatorError when the file cannot be written; then it is unchanged.
 */
export function replaceKeyringFile(dataDir: string, file: KeyringFile): void {
  replacePrivateFile(keyringPath(dataDir), writeKeyring(file))
}

function keyringPath(dataDir: string): string {
  return join(resolve(dataDir), 'keyring.json')
}

/** How long a process may go on with the keys it knows before it looks whether the file has changed. */
const lookEveryMs = 200

function followFile(path: string, onUnreadable: (error: unknown) => void): Keyring {
  // Taken before the file is read: what changes in between is seen at the next look.
  let mark: string | undefined = fileMark(path) ?? 'not made yet'
  let lookedAt = performance.now()
  const text = readPrivateFile(path) ?? createPrivateFile(path, writeKeyring(newKeyringFile()))
  let keys = setsOf(readKeyring(text, path))
  const look = () => {
    lookedAt = performance.now()
    const seen = fileMark(path)
    if (seen === mark) return
    mark = seen
    try {
      keys = setsOf(readKeyring(readPrivateFile(path) ?? '', path))
    } catch (error) {
      onUnreadable(error)
    }
  }
  const upToDate = () => {
    if (performance.now() - lookedAt >= lookEveryMs) look()
    return keys
  }
  const find = (kind: 'rootKeys' | 'peppers') => (id: string) => {
    const known = upToDate()[kind].byId.get(id)
    if (known) return known
    look()
    return keys[kind].byId.get(id)
  }
  return {
    get rootKeys() {
      return upToDate().rootKeys
    },
    get peppers() {
      return upToDate().peppers
    },
    rootKey: find('rootKeys'),
    pepper: find('peppers'),
  }
}

function setsOf({ rootKeys, peppers }: KeyringFile): { rootKeys: KeySet; peppers: KeySet } {
  return { rootKeys: setOf(rootKeys), peppers: setOf(peppers) }
}

function setOf({ current, keys }: KeyList): KeySet {
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  const key = byId.get(current)
  if (!key) throw new RangeError('A list of keys without its current one')
  return { current: { id: current, key }, byId }
}

function deriveKeyring(text: string): Keyring {
  const secrets = readRootKeys(text)
  const derived = (info: string): KeySet => {
    const keys = secrets.map(secret => Buffer.from(hkdfSync('sha256', secret, '', info, 32)))
    const [current] = keys.map(keyId)
    return setOf({
      current: current ?? '',
      next: undefined,
      keys: keys.map(key => ({ id: keyId(key), key, replacedAt: undefined })),
    })
  }
  const rootKeys = derived('enrolment root key 1')
  const peppers = derived('enrolment pepper 1')
  return { rootKeys, peppers, rootKey: id => rootKeys.byId.get(id), pepper: id => peppers.byId.get(id) }
}
