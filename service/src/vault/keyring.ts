import { createHash, hkdfSync } from 'node:crypto'
import { join, resolve } from 'node:path'
import { OperatorError } from '../operator-error.ts'
import { createPrivateFile, readPrivateFile } from './private-file.ts'
import { type NamedKey, newKey } from './seal.ts'

/** Keys of one use: the one that new work is done with, and all that older work may name. */
export type KeySet = { current: NamedKey; byId: ReadonlyMap<string, Buffer> }

/** The keys that everything else hangs on: root keys wrap the partners' keys, peppers key the hashes. */
export type Keyring = { rootKeys: KeySet; peppers: KeySet }

/** Where the keys come from: `rootKey`, the text of ENROLMENT_ROOT_KEY, or the keyring file in `dataDir`. */
export type KeyringSource = { dataDir?: string; rootKey?: string }

/**
 * Loads the keys. `rootKey` (32 bytes in base64) replaces the file; without it the file `keyring.json` of `dataDir` is
 * read, or made at the first start, by exactly one of several processes that start at once.
 * Throws OperatorError when the key or the file is not as it must be, or when neither is given.
 */
export function loadKeyring({ dataDir, rootKey }: KeyringSource): Keyring {
  if (rootKey !== undefined) return deriveKeyring(rootKey)
  if (dataDir === undefined)
    throw new OperatorError('There is no place for the keys: give --data DIR or set ENROLMENT_ROOT_KEY.')
  const path = join(resolve(dataDir), 'keyring.json')
  const text = readPrivateFile(path) ?? createPrivateFile(path, writeKeyring(newKey(), newKey()))
  return readKeyring(text, path)
}

/** The key that the text of ENROLMENT_ROOT_KEY stands for. Throws OperatorError when it is none. */
export function checkRootKey(rootKey: string): Buffer {
  const secret = decodeKey(rootKey)
  if (secret) return secret
  throw new OperatorError(
    'ENROLMENT_ROOT_KEY is not a key: it must be 32 random bytes in base64, as `openssl rand -base64 32` prints them.',
  )
}

function deriveKeyring(rootKey: string): Keyring {
  const secret = checkRootKey(rootKey)
  const derive = (info: string) => Buffer.from(hkdfSync('sha256', secret, '', info, 32))
  return {
    rootKeys: keySet([derive('enrolment root key 1')]),
    peppers: keySet([derive('enrolment pepper 1')]),
  }
}

function keySet([current, ...older]: [Buffer, ...Buffer[]]): KeySet {
  const byId = new Map([current, ...older].map(key => [keyId(key), key]))
  return { current: { id: keyId(current), key: current }, byId }
}

/** Derived from the key, so that it is the same wherever the key is, and tells a damaged file. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('enrolment key id\0').update(key).digest('hex').slice(0, 16)
}

/** The 32 bytes that `text` names; `undefined` when it is not exactly their base64. */
function decodeKey(text: unknown): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  const key = Buffer.from(text, 'base64')
  return key.length === 32 && key.toString('base64') === text ? key : undefined
}

// The file: {"version": 1, "rootkeys": {"current": id, "keys": [{"id", "key"}]}, "peppers": the same}

function writeKeyring(rootKey: Buffer, pepper: Buffer): string {
  const entry = (key: Buffer) => ({
    current: keyId(key),
    keys: [{ id: keyId(key), key: key.toString('base64') }],
  })
  return `${JSON.stringify({ version: 1, rootkeys: entry(rootKey), peppers: entry(pepper) }, null, 2)}\n`
}

function readKeyring(text: string, path: string): Keyring {
  const file = parseObject(text)
  const rootKeys = readKeySet(file?.['rootkeys'])
  const peppers = readKeySet(file?.['peppers'])
  if (file?.['version'] !== 1 || !rootKeys || !peppers)
    throw new OperatorError(
      `The keyring ${path} is damaged: put it back from a backup. Without it no data can be read.`,
    )
  return { rootKeys, peppers }
}

function readKeySet(entry: unknown): KeySet | undefined {
  if (!isObject(entry) || !Array.isArray(entry['keys'])) return undefined
  const keys: Buffer[] = []
  for (const named of entry['keys']) {
    const key = isObject(named) ? decodeKey(named['key']) : undefined
    if (!key || named['id'] !== keyId(key)) return undefined
    keys.push(key)
  }
  const current = keys.find(key => keyId(key) === entry['current'])
  return current && keySet([current, ...keys.filter(key => key !== current)])
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // The parser's message repeats the text, and the text is keys.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
