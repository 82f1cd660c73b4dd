import { createHash } from 'node:crypto'
import { OperatorError } from '../operator-error.ts'
import { type NamedKey, newKey } from './seal.ts'

// The form of keyring.json: {"version": 1, "rootkeys": {"current": id, "next": id, "keys": [{"id", "key",
// "replacedat"}]}, "peppers": {the same}}

/** A key of the file; `replacedAt` is when the next key became current in its place. */
type ListedKey = NamedKey & { readonly replacedAt: number | undefined }

/**
 * The keys of one kind: new data is written with `current`, `next` will replace it, and the older keys still open
 * older data.
 */
export type KeyList = {
  readonly current: string
  readonly next: string | undefined
  readonly keys: readonly ListedKey[]
}

/** What `keyring.json` holds. */
export type KeyringFile = { readonly rootKeys: KeyList; readonly peppers: KeyList }

/** The two kinds of keys: root keys wrap the partners' keys, and peppers key the hashes of credentials. */
export type KeyKind = keyof KeyringFile

/**
 * The id of a key, derived from the key itself: the same key has the same id on every machine, and a damaged key no
 * longer matches its id. The id begins with the number of its format.
 */
export function keyId(key: Buffer): string {
  return `1-${createHash('sha256').update('enrolment key id\0').update(key).digest('hex').slice(0, 16)}`
}

/** The 32 bytes whose base64 is exactly `text`, or `undefined`. */
export function decodeKey(text: unknown): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  const key = Buffer.from(text, 'base64')
  return key.length === 32 && key.toString('base64') === text ? key : undefined
}

/** A keyring of new random keys, one of each kind. */
export function newKeyringFile(): KeyringFile {
  const one = (key: Buffer): KeyList => ({ current: keyId(key), next: undefined, keys: [listed(key)] })
  return { rootKeys: one(newKey()), peppers: one(newKey()) }
}

/**
 * The list with `key` as its next key. A list that already has a next key, or already holds this key, is returned
 * unchanged.
 */
export function withNext(list: KeyList, key: Buffer): KeyList {
  if (list.next !== undefined || list.keys.some(one => one.id === keyId(key))) return list
  return { ...list, next: keyId(key), keys: [...list.keys, listed(key)] }
}

/** The list with its next key made current at `at`; `undefined` when `id` is neither its next nor its current key. */
export function withCurrent(list: KeyList, id: string, at: number): KeyList | undefined {
  if (list.current === id) return list
  if (list.next !== id) return undefined
  const keys = list.keys.map(one => (one.id === list.current ? { ...one, replacedAt: at } : one))
  return { current: id, next: undefined, keys }
}

/** The list without an older key; `undefined` when it holds no older key of that id. */
export function withoutOld(list: KeyList, id: string): KeyList | undefined {
  const isOld = id !== list.current && id !== list.next && list.keys.some(one => one.id === id)
  return isOld ? { ...list, keys: list.keys.filter(one => one.id !== id) } : undefined
}

/** The text of a keyring's file. */
export function writeKeyring({ rootKeys, peppers }: KeyringFile): string {
  return `${JSON.stringify({ version: 1, rootkeys: writeList(rootKeys), peppers: writeList(peppers) }, null, 2)}\n`
}

/**
 * Reads what `writeKeyring` wrote. Throws OperatorError for any other text, and never repeats the text, because it
 * may hold keys.
 */
export function readKeyring(text: string, path: string): KeyringFile {
  const file = parseObject(text)
  const rootKeys = readList(file?.['rootkeys'])
  const peppers = readList(file?.['peppers'])
  if (file?.['version'] !== 1 || !rootKeys || !peppers)
    throw new OperatorError(
      `The keyring ${path} is damaged: put it back from a backup. Without it no data can be read.`,
    )
  return { rootKeys, peppers }
}

function listed(key: Buffer): ListedKey {
  return { id: keyId(key), key, replacedAt: undefined }
}

function writeList(list: KeyList) {
  return {
    current: list.current,
    ...(list.next === undefined ? {} : { next: list.next }),
    keys: list.keys.map(({ id, key, replacedAt }) => ({
      id,
      key: key.toString('base64'),
      ...(replacedAt === undefined ? {} : { replacedat: new Date(replacedAt).toISOString() }),
    })),
  }
}

function readList(entry: unknown): KeyList | undefined {
  if (!isObject(entry) || !Array.isArray(entry['keys'])) return undefined
  const keys: ListedKey[] = []
  for (const named of entry['keys']) {
    const one = readKey(named)
    if (!one || keys.some(other => other.id === one.id)) return undefined
    keys.push(one)
  }
  const { current, next } = entry
  const has = (id: unknown): id is string => keys.some(one => one.id === id)
  if (!has(current) || current === next || (next !== undefined && !has(next))) return undefined
  return { current, next, keys }
}

function readKey(named: unknown): ListedKey | undefined {
  const key = isObject(named) ? decodeKey(named['key']) : undefined
  if (!isObject(named) || !key || named['id'] !== keyId(key)) return undefined
  const { replacedat } = named
  if (replacedat === undefined) return listed(key)
  const at = typeof replacedat === 'string' ? Date.parse(replacedat) : Number.NaN
  return Number.isNaN(at) ? undefined : { ...listed(key), replacedAt: at }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // The parser's own message would repeat the text, which may hold keys.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
