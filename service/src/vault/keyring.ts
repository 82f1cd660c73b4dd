/** The keys that wrap all others come from a file that the service creates and follows, or an environment variable. */
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

/**
 * The keys of one kind: new data is written with `current`; `byId` also holds the older keys, which older data
 * names.
 */
export type KeySet = { readonly current: NamedKey; readonly byId: ReadonlyMap<string, Buffer> }

/**
 * Root keys wrap the partners' keys, and peppers key the hashes of credentials. A keyring read
 * from a file follows changes to that file, so ask it each time a key is needed and do not keep the key.
 */
export type Keyring = {
  readonly rootKeys: KeySet
  readonly peppers: KeySet
  /** The root key of this id, or `undefined`. For an id that is not known yet the file is read again at once. */
  readonly rootKey: (id: string) => Buffer | undefined
  /** The pepper of this id, or `undefined`, by the same rule. */
  readonly pepper: (id: string) => Buffer | undefined
}

/** Where the keys come from: `rootKey`, the text of ENROLMENT_ROOT_KEY, or the keyring file in `dataDir`. */
export type KeyringSource = {
  readonly dataDir?: string
  readonly rootKey?: string | undefined
  /** The id of the root key that must exist already: then no file is created. */
  readonly wantedRootKey?: string | undefined
  /** Called when a changed file cannot be read; the keys read before stay in use. */
  readonly onUnreadable?: (error: unknown) => void
}

/**
 * Loads the keys. With `rootKey` (32 bytes in base64, or several such keys separated by commas, the current one
 * first) no file is used. Without it, the file `keyring.json` of `dataDir` is read. At the first start the file is
 * created; of several processes that start at once, exactly one creates it. Throws OperatorError when a key or the
 * file is malformed, when neither is given, or when there is no file and `wantedRootKey` says that there must be one.
 */
export function loadKeyring(source: KeyringSource): Keyring {
  const { dataDir, rootKey, wantedRootKey, onUnreadable = () => {} } = source
  if (rootKey !== undefined) return deriveKeyring(rootKey)
  if (dataDir === undefined)
    throw new OperatorError('There is no place for the keys: give --data DIR or set ENROLMENT_ROOT_KEY.')
  const path = keyringPath(dataDir)
  if (wantedRootKey !== undefined && readPrivateFile(path) === undefined)
    throw new OperatorError(
      `There is no ${path}, and this database belongs to the root key ${wantedRootKey}: restore the keyring.json that has it (none was made), name its directory with --data, or set the ENROLMENT_ROOT_KEY it is kept with.`,
    )
  return followFile(path, onUnreadable)
}

/**
 * The keys in the text of ENROLMENT_ROOT_KEY, the current one first. Throws OperatorError when one is malformed or
 * given twice.
 */
export function readRootKeys(text: string): readonly [Buffer, ...Buffer[]] {
  const keys = text.split(',').flatMap(part => decodeKey(part) ?? [])
  const [current, ...others] = keys
  const isWhole = keys.length === text.split(',').length && new Set(keys.map(keyId)).size === keys.length
  if (current && isWhole) return [current, ...others]
  throw new OperatorError(
    'ENROLMENT_ROOT_KEY is not a key: it must be 32 random bytes in base64, as `openssl rand -base64 32` prints them; or several different ones with nothing but commas between them.',
  )
}

/** What the keyring file of a data directory holds. Throws OperatorError when it is missing or damaged. */
export function readKeyringFile(dataDir: string): KeyringFile {
  const path = keyringPath(dataDir)
  return readKeyring(readPrivateFile(path) ?? '', path)
}

/**
 * Replaces the keyring file of a data directory. The caller makes sure that no other process replaces it at the
 * same time. Throws OperatorError when the new keyring cannot be written durably.
 */
export function replaceKeyringFile(dataDir: string, file: KeyringFile): void {
  replacePrivateFile(keyringPath(dataDir), writeKeyring(file))
}

/** The keyring file of a data directory. */
export function keyringPath(dataDir: string): string {
  return join(resolve(dataDir), 'keyring.json')
}

/** How long a process uses the keys it has read before it checks whether the file has changed. */
const CHECK_EVERY_MS = 200

function followFile(path: string, onUnreadable: (error: unknown) => void): Keyring {
  // The mark is taken before the file is read, so that a change in between is noticed at the next check.
  let mark: string | undefined = fileMark(path) ?? 'not made yet'
  let checkedAt = performance.now()
  const text = readPrivateFile(path) ?? createPrivateFile(path, writeKeyring(newKeyringFile()))
  let keys = setsOf(readKeyring(text, path))
  const check = () => {
    checkedAt = performance.now()
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
    if (performance.now() - checkedAt >= CHECK_EVERY_MS) check()
    return keys
  }
  const find = (kind: 'rootKeys' | 'peppers') => (id: string) => {
    const known = upToDate()[kind].byId.get(id)
    if (known) return known
    check()
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
