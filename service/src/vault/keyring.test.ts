import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OperatorError } from '../operator-error.ts'
import { type Keyring, loadKeyring, readKeyringFile, replaceKeyringFile } from './keyring.ts'
import { type KeyringFile, withCurrent, withNext, withoutOld } from './keyring-file.ts'
import { newKey } from './seal.ts'

let dataDir = ''
let path = ''
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'keyring-'))
  path = join(dataDir, 'keyring.json')
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

function keysOf({ rootKeys, peppers }: Keyring) {
  return { rootKeys, peppers }
}
function ids({ rootKeys, peppers }: Keyring) {
  return [rootKeys.current.id, peppers.current.id]
}

/** The sentence with which loading is refused. */
function refusal(source: Parameters<typeof loadKeyring>[0]): string {
  try {
    loadKeyring(source)
  } catch (error) {
    if (error instanceof OperatorError) return error.message
    throw error
  }
  throw new Error('The keyring was loaded')
}

describe('the keyring file', () => {
  test('is made at the first start, for its owner only, and gives the same keys ever after', () => {
    const first = loadKeyring({ dataDir })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['keyring.json'])
    expect(first.rootKeys.current.key).toHaveLength(32)
    expect(first.rootKeys.current.key).not.toEqual(first.peppers.current.key)
    expect(first.rootKeys.byId.get(first.rootKeys.current.id)).toEqual(first.rootKeys.current.key)
    expect(keysOf(loadKeyring({ dataDir }))).toEqual(keysOf(first))
  })

  test('is another in another directory, which is made, too, when missing', () => {
    const nested = join(dataDir, 'a', 'b')
    expect(ids(loadKeyring({ dataDir: nested }))).not.toEqual(ids(loadKeyring({ dataDir })))
    expect(statSync(nested).mode & 0o777).toBe(0o700)
  })

  test('may hold older keys beside the current one, each checked against its id', () => {
    const older = loadKeyring({ dataDir })
    const oldFile = JSON.parse(readFileSync(path, 'utf8'))
    rmSync(path)
    const newer = loadKeyring({ dataDir })
    const file = JSON.parse(readFileSync(path, 'utf8'))
    file.rootkeys.keys.unshift(oldFile.rootkeys.keys[0])
    writeFileSync(path, JSON.stringify(file))

    const both = loadKeyring({ dataDir })
    expect(ids(both)).toEqual(ids(newer))
    expect(both.rootKeys.byId.get(older.rootKeys.current.id)).toEqual(older.rootKeys.current.key)
    expect(both.rootKeys.byId.size).toBe(2)
    expect(both.peppers.byId.size).toBe(1)

    file.rootkeys.keys[0].key = Buffer.alloc(32, 7).toString('base64')
    writeFileSync(path, JSON.stringify(file))
    expect(refusal({ dataDir })).toMatch(/is damaged/)
  })

  test.each([0o640, 0o604, 0o660, 0o700, 0o644])('is refused with permissions %o', mode => {
    loadKeyring({ dataDir })
    chmodSync(path, mode)
    expect(refusal({ dataDir })).toBe(`Others than its owner may use the file ${path}: run chmod 600 on it.`)
  })

  test('may be read-only', () => {
    const made = loadKeyring({ dataDir })
    chmodSync(path, 0o400)
    expect(keysOf(loadKeyring({ dataDir }))).toEqual(keysOf(made))
  })

  test('is refused when it cannot be read', () => {
    mkdirSync(path, { mode: 0o600 })
    expect(refusal({ dataDir })).toBe(
      `The file ${path} cannot be read (EISDIR): check the path and its permissions.`,
    )
  })

  test('is refused when it cannot be made', () => {
    const leadsNowhere = join(dataDir, 'link')
    symlinkSync(join(dataDir, 'missing', 'directory'), leadsNowhere)
    expect(refusal({ dataDir: leadsNowhere })).toMatch(
      /^The file .*keyring\.json cannot be created \(E[A-Z]+\): check the path and its permissions\.$/,
    )
  })

  test('is refused when it is damaged, without showing what it holds, and is never overwritten', () => {
    loadKeyring({ dataDir })
    const good = readFileSync(path, 'utf8')
    const key: string = JSON.parse(good).rootkeys.keys[0].key
    const otherKey = Buffer.alloc(32, 7).toString('base64')
    const damaged = [
      '',
      'null',
      good.slice(0, -20),
      `${key}${good}`,
      good.replace('"version": 1', '"version": 2'),
      good.replace(key, key.slice(0, -2)),
      good.replace(key, key.slice(0, -1)),
      good.replace(key, otherKey),
      good.replace('"current": "', '"current": "0'),
      good.replace('"peppers"', '"pepper"'),
      good.replace('"keys": [', '"keys": [null, '),
    ]
    for (const text of damaged) {
      expect(text).not.toBe(good)
      writeFileSync(path, text)
      const message = refusal({ dataDir })
      expect(message).toBe(
        `The keyring ${path} is damaged: put it back from a backup. Without it no data can be read.`,
      )
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  })

  test('is one for several processes that start at once', async () => {
    const built = fileURLToPath(new URL('../../dist/vault/keyring.js', import.meta.url))
    expect(existsSync(built), 'this test runs the built output: npx tsc -b').toBe(true)
    const script = `
      const { loadKeyring } = await import(process.argv[1])
      while (Date.now() < Number(process.argv[3])) {}
      const { rootKeys, peppers } = loadKeyring({ dataDir: process.argv[2] })
      console.log(rootKeys.current.id, peppers.current.id)`
    const at = String(Date.now() + 1_000)
    const starts = Array.from({ length: 4 }, () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, built, dataDir, at]),
    )
    const printed = (await Promise.all(starts)).map(({ stdout }) => stdout.trim())
    expect(new Set(printed)).toEqual(new Set([ids(loadKeyring({ dataDir })).join(' ')]))
    expect(readdirSync(dataDir)).toEqual(['keyring.json'])
  })
})

describe('a keyring in use', () => {
  const change = (make: (list: KeyringFile['rootKeys']) => KeyringFile['rootKeys'] | undefined) => {
    const file = readKeyringFile(dataDir)
    const rootKeys = make(file.rootKeys)
    if (!rootKeys) throw new Error('refused')
    replaceKeyringFile(dataDir, { ...file, rootKeys })
    return rootKeys
  }

  test('finds a key that was added since, at once', () => {
    const keyring = loadKeyring({ dataDir })
    const before = keyring.rootKeys.current
    const key = newKey()
    const { next = '' } = change(list => withNext(list, key))
    expect(keyring.rootKey(next)).toEqual(key)
    expect(keyring.rootKeys.current).toEqual(before)
    expect(keyring.rootKey(before.id)).toEqual(before.key)
  })

  test('works with a key that became current, and still opens what is older', async () => {
    const keyring = loadKeyring({ dataDir })
    const before = keyring.rootKeys.current
    const { next = '' } = change(list => withNext(list, newKey()))
    change(list => withCurrent(list, next, 1))
    await expect.poll(() => keyring.rootKeys.current.id).toBe(next)
    expect(keyring.rootKey(before.id)).toEqual(before.key)
    expect(ids(keyring)[1]).toBe(ids(loadKeyring({ dataDir }))[1])
  })

  test('forgets a key that was retired', async () => {
    const keyring = loadKeyring({ dataDir })
    const { id } = keyring.rootKeys.current
    const { next = '' } = change(list => withNext(list, newKey()))
    change(list => withCurrent(list, next, 1))
    change(list => withoutOld(list, id))
    await expect.poll(() => keyring.rootKey(id)).toBeUndefined()
  })

  test('goes on with the keys it knows while the file is gone or damaged, says so once, and follows it again', async () => {
    let heard = 0
    const keyring = loadKeyring({ dataDir, onUnreadable: () => (heard += 1) })
    const known = keysOf(keyring)
    const good = readFileSync(path, 'utf8')
    for (const spoil of [() => rmSync(path), () => writeFileSync(path, good.slice(1), { mode: 0o600 })]) {
      const before = heard
      spoil()
      expect(keyring.rootKey('unknown')).toBeUndefined()
      expect(keyring.rootKey('unknown')).toBeUndefined()
      expect(heard).toBe(before + 1)
      expect(keysOf(keyring)).toEqual(known)
    }
    writeFileSync(path, good)
    const { next = '' } = change(list => withNext(list, newKey()))
    expect(keyring.rootKey(next)).toHaveLength(32)
  })

  test('is replaced at once, for its owner only, through a link, and leaves no draft', () => {
    const { rootKeys, peppers } = loadKeyring({ dataDir })
    const elsewhere = join(dataDir, 'elsewhere')
    mkdirSync(elsewhere)
    symlinkSync(path, join(elsewhere, 'keyring.json'))
    // What a killed command has left.
    writeFileSync(`${path}.new`, 'half a fi', { mode: 0o600 })
    const file = readKeyringFile(elsewhere)
    replaceKeyringFile(elsewhere, { ...file, rootKeys: withNext(file.rootKeys, newKey()) })
    expect(loadKeyring({ dataDir }).rootKeys.byId.size).toBe(2)
    expect(ids(loadKeyring({ dataDir }))).toEqual([rootKeys.current.id, peppers.current.id])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir).toSorted()).toEqual(['elsewhere', 'keyring.json'])
  })

  test.runIf(process.getuid?.() === 0)('belongs to the owner of its directory when root makes it', () => {
    chownSync(dataDir, 65534, 65534)
    loadKeyring({ dataDir })
    expect(statSync(path)).toMatchObject({ uid: 65534, gid: 65534 })
  })

  test.runIf(process.getuid?.() === 0)('stays the file of its owner when root replaces it', () => {
    loadKeyring({ dataDir })
    chownSync(path, 65534, 65534)
    change(list => withNext(list, newKey()))
    expect(statSync(path)).toMatchObject({ uid: 65534, gid: 65534 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('ENROLMENT_ROOT_KEY', () => {
  const rootKey = Buffer.from(Array.from({ length: 32 }, (_, n) => n)).toString('base64')

  test('gives root key and pepper by HKDF-SHA-256, and replaces the file', () => {
    const { rootKeys, peppers } = loadKeyring({ dataDir, rootKey })
    expect(rootKeys.current.key.toString('hex')).toBe(
      'd8b255308a38c317469aebca08bd61040f3e72234a46c7aca838723d6947da75',
    )
    expect(peppers.current.key.toString('hex')).toBe(
      'ebf1c1a0313ddcbd417ece36dd74ca5373cda3c070c177d065788c9d7d404cc0',
    )
    expect(rootKeys.current.id).toBe('1-76366d90e0fb2e88')
    expect(peppers.current.id).toBe('1-ed7b9d9e09e191ca')
    expect(readdirSync(dataDir)).toEqual([])
    expect(keysOf(loadKeyring({ rootKey }))).toEqual({ rootKeys, peppers })
  })

  test('of several keys has the first in use and opens by all of them', () => {
    const older = randomBytes(32).toString('base64')
    const alone = loadKeyring({ rootKey: older })
    for (const text of [`${rootKey},${older}`, `${older},${rootKey}`]) {
      const keyring = loadKeyring({ rootKey: text })
      expect(ids(keyring)).toEqual(ids(loadKeyring({ rootKey: text.slice(0, 44) })))
      expect(keyring.rootKey(alone.rootKeys.current.id)).toEqual(alone.rootKeys.current.key)
      expect(keyring.pepper(alone.peppers.current.id)).toEqual(alone.peppers.current.key)
    }
  })

  test.each([
    '',
    'secret',
    `${rootKey},`,
    `,${rootKey}`,
    `${rootKey}, ${Buffer.alloc(32).toString('base64')}`,
    `${rootKey},${rootKey}`,
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    Buffer.alloc(32, 255).toString('base64url'),
    rootKey.slice(0, -1),
    `${rootKey}\n`,
    // The same 32 bytes, with bits in the last character that no byte holds.
    rootKey.replace('8=', '9='),
    Buffer.alloc(32).toString('hex'),
  ])('%j is refused and not repeated', wrong => {
    expect(wrong).not.toBe(rootKey)
    const message = refusal({ dataDir, rootKey: wrong })
    expect(message).toMatch(/^ENROLMENT_ROOT_KEY is not a key: it must be 32 random bytes in base64/)
    if (wrong !== '') expect(message).not.toContain(wrong)
  })

  test('or a data directory must be given', () => {
    expect(refusal({})).toMatch(/^There is no place for the keys/)
  })
})
